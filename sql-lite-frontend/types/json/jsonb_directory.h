#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// Positions in the text of an object or array at which parts begin, one per `stride` bytes, so
/// that a search scans only few parts. The first byte is the width of the numbers, which are in
/// native byte order; positions count from the container's first byte.
///
/// | numbers       | what                                                                      |
/// |---------------|---------------------------------------------------------------------------|
/// | (one byte)    | 2 for texts up to 8,192 bytes, else 4                                      |
/// | 3             | number of parts, of entries, of parts with directories themselves         |
/// | entries × 1   | where a part begins: an object's member with its key                      |
/// | entries × 1   | of an array: which element that is                                        |
/// | inner × 3     | where a value begins, where its directory begins in this one, its length  |
/// | (entries × 4) | bytes, of an object: heads of the members' keys                           |
/// | …             | the inner directories                                                     |
///
/// Keys are ordered in the text by length, then bytes. A head is a key's length and its first three
/// bytes: most steps of the binary search compare only heads, without a cache miss on the text. A
/// directory refers to nothing outside of it, so a part's own directory can be copied with the
/// part.
class JsonbDirectory {
 public:
  /// Pre: `whole` has a directory. Throws XX001 if its header is invalid.
  explicit JsonbDirectory(const Jsonb& whole);

  /// Number of parts.
  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] std::uint32_t entries() const noexcept { return entry_count_; }
  /// Returns the position of an entry's part. Throws XX001 if it is outside of the text.
  [[nodiscard]] std::size_t place(std::uint32_t entry) const;
  /// Returns the key of an entry, in quotes. Pre: an object.
  [[nodiscard]] std::string_view key(std::uint32_t entry) const;
  [[nodiscard]] std::uint32_t head(std::uint32_t entry) const noexcept;
  /// Returns the first entry of an object whose head is not less.
  [[nodiscard]] std::uint32_t first_with_head(std::uint32_t head) const noexcept;
  /// Prefetches the keys of the entries into the cache.
  void prefetch(std::uint32_t first, std::uint32_t behind) const noexcept;
  /// Returns the element number of an entry. Pre: an array.
  [[nodiscard]] std::uint32_t number(std::uint32_t entry) const noexcept;
  /// Returns the part with that text, with its own directory if it has one. Pre: `value` is a view
  /// of the text.
  [[nodiscard]] Jsonb part(std::string_view value) const;

 private:
  [[nodiscard]] std::size_t at(std::size_t number) const noexcept;

  Jsonb whole_;
  std::uint32_t width_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t entry_count_ = 0;
  std::uint32_t inner_count_ = 0;
  bool is_object_ = false;
};

/// Returns the head of a key without quotes and escapes. Heads are ordered as keys are.
std::uint32_t jsonb_key_head(std::string_view key) noexcept;

/// First byte of a value with a directory. No JSON text begins with it.
inline constexpr std::byte kJsonbDirectoryMark{1};

struct JsonbDirectoryRules {
  /// Minimum size of a text with a directory. Shorter texts are scanned as fast as a binary search.
  std::size_t least_bytes = 512;
  /// Minimum distance of two entries in bytes.
  std::size_t stride = 256;
};
/// For tests that need directories of short texts.
void set_jsonb_directory_rules(const JsonbDirectoryRules& rules);

/// Returns the directory of a text in jsonb's spelling; empty if it would have no entries.
std::string jsonb_directory(std::string_view text, MemoryAccount* account);

}  // namespace swizzle::sql

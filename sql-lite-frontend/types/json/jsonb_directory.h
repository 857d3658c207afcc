#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

/// Places in the text of an object or array where parts begin, one in every so many bytes, so that
/// a search for a part passes over few others. The first byte gives the width of the numbers, which
/// are in the machine's byte order; places count from the container's first byte.
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
/// Keys stand in the text by length and then by bytes. A head is a key's length and its first three
/// bytes: most steps of the binary search compare heads alone, without touching the text, which is
/// not in the cache yet. Directories refer to nothing outside: a part's own is copied with it.
class JsonbDirectory {
 public:
  /// Pre: `whole` has a directory. Throws XX001 if its head is impossible.
  explicit JsonbDirectory(const Jsonb& whole);

  /// Number of parts.
  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] std::uint32_t entries() const noexcept { return entry_count_; }
  /// Returns the place that an entry refers to. Throws XX001 for places outside the text.
  [[nodiscard]] std::size_t place(std::uint32_t entry) const;
  /// The key there, with its quotes. Pre: an object.
  [[nodiscard]] std::string_view key(std::uint32_t entry) const;
  [[nodiscard]] std::uint32_t head(std::uint32_t entry) const noexcept;
  /// Returns the first entry of an object with a head that is not below this one.
  [[nodiscard]] std::uint32_t first_with_head(std::uint32_t head) const noexcept;
  /// Begins to bring the keys of the entries from the processor's memory.
  void prefetch(std::uint32_t first, std::uint32_t behind) const noexcept;
  /// The number of the element there. Pre: an array.
  [[nodiscard]] std::uint32_t number(std::uint32_t entry) const noexcept;
  /// Returns the part with that value, with its own directory if it has one. Pre: it is in the
  /// text.
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

/// Returns the head of a key without its quotes and escapes: ascending as keys stand.
std::uint32_t jsonb_key_head(std::string_view key) noexcept;

/// First byte of a value whose text follows a directory. No JSON begins so.
inline constexpr std::byte kJsonbDirectoryMark{1};

struct JsonbDirectoryRules {
  /// Least size of a text with a directory. Shorter ones are passed over as fast as a binary search
  /// takes.
  std::size_t least_bytes = 512;
  /// Distance from one entry to the next.
  std::size_t stride = 256;
};
/// For tests that want directories of short texts too.
void set_jsonb_directory_rules(const JsonbDirectoryRules& rules);

/// The directory of a text in jsonb's spelling; empty where it would say nothing.
std::string jsonb_directory(std::string_view text, MemoryAccount* account);

}  // namespace swizzle::sql

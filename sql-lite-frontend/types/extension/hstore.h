#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

/// hstore: pairs of text keys, which are unique, and text values, which may be NULL.
namespace swizzle::sql {

struct HstorePair {
  std::string_view key;
  std::optional<std::string_view> value;  ///< nothing: NULL
};

/// Reads a value: u32 number of pairs | per pair: u32 end of its key, u32 end of its value (top
/// bit: NULL) | keys and values in turn. Pairs are in the order of their keys: by length, then by
/// bytes.
class HstoreView {
 public:
  /// Throws SqlError XX001 on malformed bytes.
  explicit HstoreView(const Value& value);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] HstorePair pair(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const;
  [[nodiscard]] std::vector<HstorePair> pairs() const;

 private:
  friend int compare_hstores(const Value& a, const Value& b);
  [[nodiscard]] std::uint32_t end_of(std::size_t text) const;

  Bytes bytes_;
  std::uint32_t count_ = 0;
  std::string_view texts_;
};

/// True if the first key sorts before the second.
bool hstore_key_before(std::string_view a, std::string_view b) noexcept;
/// Builds an hstore from pairs in any order. Of pairs with equal keys, the first one wins.
Value make_hstore(Arena& arena, std::vector<HstorePair> pairs);
/// Parses a text as hstore's input function does. Throws if it is invalid.
Value read_hstore(Arena& arena, std::string_view text);
int compare_hstores(const Value& a, const Value& b);

}  // namespace swizzle::sql

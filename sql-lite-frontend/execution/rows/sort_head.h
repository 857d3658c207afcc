#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {

/// Abbreviated sort key: eight bytes that order as the first sort key does, as far as they reach,
/// or as the first two keys do if both are short. If two heads differ, the row with the smaller one
/// sorts first.
class SortHead {
 public:
  /// Pre: `keys` is not empty.
  explicit SortHead(std::span<const SortKey> keys);

  [[nodiscard]] bool reads_two() const noexcept { return packs_two_; }
  /// Returns the sort head for the values of a row's first keys; `second` is used only if
  /// reads_two().
  [[nodiscard]] std::uint64_t of(const Value& first, const Value& second) const {
    return packs_two_ ? of_two(first, second) : of_one(first);
  }

 private:
  struct Key {
    SortDirection direction;
    NullsOrder nulls;
  };
  static std::uint64_t placed(Key key, std::uint64_t of_value, std::uint64_t most) noexcept {
    return key.direction == SortDirection::descending ? most - of_value : of_value;
  }
  static std::uint64_t at_end(Key key, std::uint64_t most) noexcept {
    return key.nulls == NullsOrder::first ? 0 : most;
  }
  [[nodiscard]] std::uint64_t of_one(const Value& value) const;
  [[nodiscard]] std::uint64_t of_two(const Value& first, const Value& second) const;
  [[nodiscard]] std::uint64_t of_key(const Value& value) const;

  Key first_;
  Key second_;
  const TypeOrder* order_;     ///< of the first key
  bool has_keys_;              ///< it has a form for indexes
  bool packs_two_ = false;     ///< the first two keys are of 32 bits
  mutable std::string bytes_;  ///< kept for its memory
};

}  // namespace swizzle::sql

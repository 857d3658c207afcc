#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sql-lite-frontend/query/bound/operator.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {

/// Eight bytes that order as rows do by their first sort key, as far as they go, or by the first
/// two where both are short: of two different ones the smaller is of the row that comes first.
class SortHead {
 public:
  /// Pre: there is a key.
  explicit SortHead(std::span<const SortKey> keys);

  [[nodiscard]] bool reads_two() const noexcept { return packs_two_; }
  /// Returns the sort head of a row's values of its first keys; `second` is used if reads_two().
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

#include "sql-lite-frontend/execution/rows/sort_head.h"

#include <algorithm>
#include <limits>

#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/orders.h"

namespace swizzle::sql {
namespace {

bool is_short_integer(TypeId type) noexcept {
  const Shape shape = value_type(type).shape;
  return shape == Shape::boolean || shape == Shape::int16 || shape == Shape::int32;
}

/// Returns the distance of such a value from the least 32-bit integer.
std::uint64_t from_least(const Value& value) noexcept {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  return static_cast<std::uint64_t>(value.as_int8() - kLeast);
}

}  // namespace

SortHead::SortHead(std::span<const SortKey> keys)
    : first_{keys[0].direction, keys[0].nulls},
      second_{keys.back().direction, keys.back().nulls},
      order_(&value_type(keys[0].expr->type()).order),
      has_keys_(is_indexable(keys[0].expr->type())) {
  if (keys.size() == 1) return;
  second_ = {keys[1].direction, keys[1].nulls};
  packs_two_ = is_short_integer(keys[0].expr->type()) && is_short_integer(keys[1].expr->type());
}

/// 33 bits for the first key, of which NULLs have the least or the greatest, and the first 31 bits
/// of the second.
std::uint64_t SortHead::of_two(const Value& first, const Value& second) const {
  constexpr std::uint64_t kFirstMost = (std::uint64_t{1} << 33U) - 1;
  constexpr std::uint64_t kSecondMost = (std::uint64_t{1} << 31U) - 1;
  const std::uint64_t high = first.is_null() ? at_end(first_, kFirstMost)
                                             : placed(first_, from_least(first) + 1, kFirstMost);
  const std::uint64_t low = second.is_null()
                                ? at_end(second_, kSecondMost)
                                : placed(second_, from_least(second) >> 1U, kSecondMost);
  return high << 31U | low;
}

/// NULLs keep to their end; other values lose their last bit to make room for that.
std::uint64_t SortHead::of_one(const Value& value) const {
  if (value.is_null()) return at_end(first_, UINT64_MAX);
  std::uint64_t head = 0;
  if (order_->head != nullptr) {
    head = order_->head(value);
  } else if (has_keys_) {
    head = of_key(value);
  }
  head = std::clamp<std::uint64_t>(head >> 1U, 1, UINT64_MAX >> 1U);
  return placed(first_, head, UINT64_MAX - 1);
}

/// Computes the head from the value's key encoding, as used in indexes.
std::uint64_t SortHead::of_key(const Value& value) const {
  bytes_.clear();
  order_->put_key(bytes_, value);
  return first_bytes(as_bytes(bytes_));
}

}  // namespace swizzle::sql

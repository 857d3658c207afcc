// hash_range(), hash_multirange() and the same with a seed. They return PostgreSQL's numbers,
// because programs may distribute rows by them. Hash joins and grouping use another function
// (range_types.cpp).
#include <bit>

#include "sql-lite-frontend/types/functions/hash_entries.h"
#include "sql-lite-frontend/types/range/range_functions.h"
#include "sql-lite-frontend/types/range/range_operands.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

// Flags that PostgreSQL stores with a range.
constexpr std::int32_t kIsEmpty = 0x01;
constexpr std::int32_t kLowerInclusive = 0x02;
constexpr std::int32_t kUpperInclusive = 0x04;
constexpr std::int32_t kLowerInfinite = 0x08;
constexpr std::int32_t kUpperInfinite = 0x10;

std::int32_t flags_of(const Span& span) {
  std::int32_t flags = 0;
  if (span.lower.inclusive) flags |= kLowerInclusive;
  if (span.upper.inclusive) flags |= kUpperInclusive;
  if (span.lower.infinite()) flags |= kLowerInfinite;
  if (span.upper.infinite()) flags |= kUpperInfinite;
  return flags;
}

/// Hash of a range or multirange: 64 bits with a seed, otherwise 32.
class RangeHash {
 public:
  RangeHash(TypeId range, Arguments arguments)
      : hash_(hash_of_values(range_bound_type(range))), is_long_(arguments.size() > 1) {
    if (is_long_) seed_ = static_cast<std::uint64_t>(arguments[1].as_int8());
  }

  /// Returns the hash of a range; null: of an empty one.
  [[nodiscard]] std::uint64_t of(const Span* span) const {
    const Value flags = Value::from_int(span == nullptr ? kIsEmpty : flags_of(*span));
    std::uint64_t hash = narrowed(hash_of_int4(flags, seed_));
    hash ^= span == nullptr ? 0 : of_bound(span->lower);
    hash = is_long_ ? rotated_halves(hash) : std::rotl(static_cast<std::uint32_t>(hash), 1);
    return hash ^ (span == nullptr ? 0 : of_bound(span->upper));
  }
  [[nodiscard]] Value result(std::uint64_t hash) const {
    return Value::from_int(is_long_ ? static_cast<std::int64_t>(hash)
                                    : static_cast<std::int32_t>(hash));
  }

 private:
  [[nodiscard]] std::uint64_t of_bound(const RangeBound& bound) const {
    return bound.infinite() ? 0 : narrowed(hash_(bound.value, seed_));
  }
  [[nodiscard]] std::uint64_t narrowed(std::uint64_t hash) const {
    return is_long_ ? hash : static_cast<std::uint32_t>(hash);
  }
  /// Rotates each 32-bit half by one bit.
  static std::uint64_t rotated_halves(std::uint64_t hash) {
    const auto low = static_cast<std::uint32_t>(hash);
    const auto high = static_cast<std::uint32_t>(hash >> 32U);
    return std::uint64_t{std::rotl(high, 1)} << 32U | std::rotl(low, 1);
  }

  Hash hash_;
  bool is_long_;
  std::uint64_t seed_ = 0;
};

}  // namespace

Value hash_range_of(FunctionContext&, Arguments a) {
  const RangeView view{a[0]};
  const RangeHash hash{view.type(), a};
  return hash.result(hash.of(view.empty() ? nullptr : &view.span()));
}

Value hash_multirange_of(FunctionContext&, Arguments a) {
  const RangeOperand<RangeForm::multirange> operand{a[0]};
  const RangeHash hash{operand.range_type(), a};
  std::uint64_t total = 1;
  for (const Span& span : operand.spans()) total = (total << 5U) - total + hash.of(&span);
  return hash.result(total);
}

}  // namespace swizzle::sql

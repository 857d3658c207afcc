#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "base/bytes.h"
#include "base/invariant.h"
#include "sql-lite-frontend/types/arena.h"

namespace swizzle::sql {

/// Microseconds, days and months are separate, as in PostgreSQL: a month has no fixed length.
struct Interval {
  std::int64_t microseconds = 0;
  std::int32_t days = 0;
  std::int32_t months = 0;
  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};
static_assert(sizeof(Interval) == 16);

struct TimeTz {
  std::int64_t microseconds = 0;  ///< local time of day
  std::int32_t zone_seconds = 0;  ///< west of Greenwich is positive, as in PostgreSQL
};

/// A value at run time: NULL, a scalar, or a reference to bytes elsewhere (an arena, a page image,
/// a constant). 16 bytes, copied freely. Does not contain its type, which the plan determines.
///
/// | shape                       | kind     | payload                | extra        |
/// |-----------------------------|----------|------------------------|--------------|
/// | boolean, integers, floats   | scalar   | the value              | -            |
/// | numeric, small              | extended | unscaled 64-bit number | its scale    |
/// | timetz                      | extended | microseconds           | zone seconds |
/// | everything else             | bytes    | address                | length       |
///
/// Bytes are self-contained (no pointers inside), so copying a value elsewhere copies one block.
class Value {
 public:
  /// Wide enough to leave no padding: a value is copied as a whole, and a read right after the copy
  /// does not stall on partial stores.
  enum class Kind : std::uint32_t { null, scalar, extended, bytes };

  constexpr Value() noexcept = default;  // NULL

  static constexpr Value null() noexcept { return Value{}; }
  static constexpr Value from_bool(bool value) noexcept { return from_int(value ? 1 : 0); }
  /// For int2, int4, int8, date, time, timestamp, timestamptz, oid (zero-extended), "char".
  static constexpr Value from_int(std::int64_t value) noexcept {
    return Value{static_cast<std::uint64_t>(value), 0, Kind::scalar};
  }
  static constexpr Value from_oid(std::uint32_t value) noexcept {
    return Value{value, 0, Kind::scalar};
  }
  static constexpr Value from_float4(float value) noexcept {
    return Value{std::bit_cast<std::uint32_t>(value), 0, Kind::scalar};
  }
  static constexpr Value from_float8(double value) noexcept {
    return Value{std::bit_cast<std::uint64_t>(value), 0, Kind::scalar};
  }
  /// A numeric of up to 18 decimals whose digits fit 64 bits.
  static constexpr Value from_decimal(std::int64_t unscaled, std::uint32_t scale) noexcept {
    return Value{static_cast<std::uint64_t>(unscaled), scale, Kind::extended};
  }
  static constexpr Value from_timetz(TimeTz value) noexcept {
    return Value{static_cast<std::uint64_t>(value.microseconds),
                 static_cast<std::uint32_t>(value.zone_seconds), Kind::extended};
  }
  /// The bytes must outlive the value.
  static Value from_bytes(Bytes bytes) noexcept {
    return Value{reinterpret_cast<std::uintptr_t>(bytes.data()),
                 static_cast<std::uint32_t>(bytes.size()), Kind::bytes};
  }
  static Value from_text(std::string_view text) noexcept {
    return from_bytes(swizzle::as_bytes(text));
  }

  [[nodiscard]] constexpr Kind kind() const noexcept { return kind_; }
  [[nodiscard]] constexpr bool is_null() const noexcept { return kind_ == Kind::null; }
  /// True if the value refers to memory outside itself.
  [[nodiscard]] constexpr bool is_bytes() const noexcept { return kind_ == Kind::bytes; }

  [[nodiscard]] constexpr bool as_bool() const noexcept { return scalar() != 0; }
  [[nodiscard]] constexpr std::int16_t as_int2() const noexcept {
    return static_cast<std::int16_t>(scalar());
  }
  [[nodiscard]] constexpr std::int32_t as_int4() const noexcept {
    return static_cast<std::int32_t>(scalar());
  }
  [[nodiscard]] constexpr std::int64_t as_int8() const noexcept {
    return static_cast<std::int64_t>(scalar());
  }
  [[nodiscard]] constexpr std::uint32_t as_oid() const noexcept {
    return static_cast<std::uint32_t>(scalar());
  }
  [[nodiscard]] constexpr float as_float4() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(scalar()));
  }
  [[nodiscard]] constexpr double as_float8() const noexcept {
    return std::bit_cast<double>(scalar());
  }

  /// Pre: a numeric of kind extended.
  [[nodiscard]] constexpr std::int64_t decimal_unscaled() const noexcept {
    INVARIANT_SLOW(kind_ == Kind::extended);
    return static_cast<std::int64_t>(payload_);
  }
  [[nodiscard]] constexpr std::uint32_t decimal_scale() const noexcept { return extra_; }

  [[nodiscard]] constexpr TimeTz as_timetz() const noexcept {
    INVARIANT_SLOW(kind_ == Kind::extended);
    return {static_cast<std::int64_t>(payload_), static_cast<std::int32_t>(extra_)};
  }

  [[nodiscard]] Bytes as_bytes() const noexcept {
    INVARIANT_SLOW(kind_ == Kind::bytes);
    return {reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(payload_)), extra_};
  }
  [[nodiscard]] std::string_view as_text() const noexcept { return swizzle::as_text(as_bytes()); }
  [[nodiscard]] Interval as_interval() const noexcept {
    INVARIANT_SLOW(extra_ == sizeof(Interval));
    return load<Interval>(as_bytes().data());
  }

  /// Returns the same value with its bytes copied to `arena`.
  [[nodiscard]] Value copy_to(Arena& arena) const {
    return is_bytes() ? from_bytes(arena.copy(as_bytes())) : *this;
  }

 private:
  constexpr Value(std::uint64_t payload, std::uint32_t extra, Kind kind) noexcept
      : payload_{payload}, extra_{extra}, kind_{kind} {}

  [[nodiscard]] constexpr std::uint64_t scalar() const noexcept {
    INVARIANT_SLOW(kind_ == Kind::scalar);
    return payload_;
  }

  std::uint64_t payload_ = 0;
  std::uint32_t extra_ = 0;
  Kind kind_ = Kind::null;
};
static_assert(sizeof(Value) == 16 && std::is_trivially_copyable_v<Value>);

inline Value make_text(Arena& arena, std::string_view text) {
  return Value::from_text(arena.copy(text));
}
inline Value make_bytes(Arena& arena, Bytes bytes) {
  return Value::from_bytes(arena.copy(bytes));
}
inline Value make_interval(Arena& arena, const Interval& interval) {
  std::byte* at = arena.allocate(sizeof interval);
  store(at, interval);
  return Value::from_bytes({at, sizeof interval});
}

/// PostgreSQL's size limit of one field. Larger results are an error (54000), and are not
/// truncated.
inline constexpr std::size_t kMaxFieldBytes = 0x3fffffff;

}  // namespace swizzle::sql

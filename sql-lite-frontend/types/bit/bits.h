#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

/// bit and bit varying: bytes with the first bit in the highest place, zeros behind the last, then
/// a byte that says how many of those there are.
namespace swizzle::sql {

inline constexpr std::size_t kMostBits = 83886080;  ///< as PostgreSQL has it

class BitView {
 public:
  /// XX001 for malformed bytes.
  explicit BitView(const Value& value);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Bytes of the bits alone.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool at(std::size_t bit) const noexcept {
    return (std::to_integer<unsigned>(bytes_[bit / 8]) >> (7 - bit % 8) & 1U) != 0;
  }

 private:
  Bytes bytes_;
  std::size_t size_;
};

/// Makes a value, all bits zero at first. 54000 for too many.
class BitBuilder {
 public:
  BitBuilder(Arena& arena, std::size_t size);

  void set(std::size_t bit, bool value) noexcept;
  /// Copies `count` bits from `from` on. Pre: both have them.
  void copy(std::size_t to, const BitView& view, std::size_t from, std::size_t count) noexcept;
  [[nodiscard]] MutableBytes bytes() noexcept { return {data_, (size_ + 7) / 8}; }
  /// Clears the bits behind the last one.
  Value finish() noexcept;

 private:
  std::byte* data_;
  std::size_t size_;
};

/// "101", "b101", "x5". 22P02.
Value bits_from_text(Arena& arena, std::string_view text);

}  // namespace swizzle::sql

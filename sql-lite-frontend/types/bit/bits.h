#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"

/// bit and bit varying. Format: bytes whose highest bit comes first, padded with zero bits, then a
/// byte with the number of padding bits.
namespace swizzle::sql {

inline constexpr std::size_t kMostBits = 83886080;  ///< as PostgreSQL has it

class BitView {
 public:
  /// Throws XX001 if the bytes are malformed.
  explicit BitView(const Value& value);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The bytes with the bits, without the last one.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool at(std::size_t bit) const noexcept {
    return (std::to_integer<unsigned>(bytes_[bit / 8]) >> (7 - bit % 8) & 1U) != 0;
  }

 private:
  Bytes bytes_;
  std::size_t size_;
};

/// Builds a value, initially all zeros. Throws 54000 for too many bits.
class BitBuilder {
 public:
  BitBuilder(Arena& arena, std::size_t size);

  void set(std::size_t bit, bool value) noexcept;
  /// Copies `count` bits, starting at `from`. Pre: both have that many.
  void copy(std::size_t to, const BitView& view, std::size_t from, std::size_t count) noexcept;
  [[nodiscard]] MutableBytes bytes() noexcept { return {data_, (size_ + 7) / 8}; }
  /// Clears the padding bits and returns the value.
  Value finish() noexcept;

 private:
  std::byte* data_;
  std::size_t size_;
};

/// Parses "101", "b101" or "x5". Throws 22P02.
Value bits_from_text(Arena& arena, std::string_view text);

}  // namespace swizzle::sql

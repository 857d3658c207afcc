#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace swizzle::server {

/// Parses a payload from front to back. A read past the end, or a malformed field, sets `failed`
/// for good; every later read then yields zeros and empty views. So a decoder reads all its fields
/// and checks finish() once. Views point into the payload.
class MessageReader {
 public:
  explicit MessageReader(Bytes payload) noexcept : rest_(payload) {}

  std::uint8_t take_byte() noexcept { return static_cast<std::uint8_t>(take_integer<1>()); }
  std::int16_t take_int16() noexcept { return static_cast<std::int16_t>(take_integer<2>()); }
  std::uint16_t take_uint16() noexcept { return static_cast<std::uint16_t>(take_integer<2>()); }
  std::int32_t take_int32() noexcept { return static_cast<std::int32_t>(take_integer<4>()); }
  std::uint32_t take_uint32() noexcept { return take_integer<4>(); }

  /// Reads up to the next NUL, which is consumed. Fails if there is none.
  std::string_view take_string() noexcept;
  Bytes take_bytes(std::size_t size) noexcept;
  /// Reads an int32 length, then as many bytes; -1 is NULL, other negative lengths fail.
  std::optional<Bytes> take_nullable() noexcept;
  /// Reads an int16 count of elements of at least `least_bytes_each`. Fails if the payload is too
  /// short for them, so that no memory is sized by a false count.
  std::size_t take_count(std::size_t least_bytes_each) noexcept;
  Bytes take_rest() noexcept { return take_bytes(rest_.size()); }

  void fail() noexcept {
    failed_ = true;
    rest_ = {};
  }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return rest_.size(); }

  /// 08P01 unless all fields were there and no byte is left.
  [[nodiscard]] Result<> finish() const;

 private:
  template <std::size_t kBytes>
  std::uint32_t take_integer() noexcept {
    if (rest_.size() < kBytes) {
      fail();
      return 0;
    }
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < kBytes; ++i) {
      value = (value << 8U) | std::to_integer<std::uint32_t>(rest_[i]);
    }
    rest_ = rest_.subspan(kBytes);
    return value;
  }

  Bytes rest_;
  bool failed_ = false;
};

}  // namespace swizzle::server

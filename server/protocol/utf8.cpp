#include "server/protocol/utf8.h"

namespace swizzle::server {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
constexpr std::uint64_t kLowBits = 0x0101010101010101ULL;

/// True if each of the eight bytes is 1 … 127.
bool all_plain_ascii(std::uint64_t eight) noexcept {
  return ((eight | (eight - kLowBits)) & kHighBits) == 0;
}

bool is_continuation(unsigned byte) noexcept {
  return (byte & 0xC0U) == 0x80U;
}

/// The length of the sequence at `at`, or 0 if there is no valid one.
std::size_t sequence_length(const std::byte* at, std::size_t left) noexcept {
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(at[i]); };
  const unsigned first = byte(0);
  if (first < 0x80U) return first == 0 ? 0 : 1;
  if (first < 0xC2U) return 0;  // a continuation, or an overlong form of one byte
  if (first < 0xE0U) return left >= 2 && is_continuation(byte(1)) ? 2 : 0;
  if (first < 0xF0U) {
    if (left < 3 || !is_continuation(byte(1)) || !is_continuation(byte(2))) return 0;
    if (first == 0xE0U && byte(1) < 0xA0U) return 0;   // overlong
    if (first == 0xEDU && byte(1) >= 0xA0U) return 0;  // surrogate
    return 3;
  }
  if (first > 0xF4U) return 0;
  if (left < 4 || !is_continuation(byte(1)) || !is_continuation(byte(2)) ||
      !is_continuation(byte(3))) {
    return 0;
  }
  if (first == 0xF0U && byte(1) < 0x90U) return 0;   // overlong
  if (first == 0xF4U && byte(1) >= 0x90U) return 0;  // beyond U+10FFFF
  return 4;
}

}  // namespace

bool is_valid_text(Bytes bytes) noexcept {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  while (left > 0) {
    if (left >= 8 && all_plain_ascii(load<std::uint64_t>(at))) {
      at += 8;
      left -= 8;
      continue;
    }
    const std::size_t length = sequence_length(at, left);
    if (length == 0) return false;
    at += length;
    left -= length;
  }
  return true;
}

}  // namespace swizzle::server

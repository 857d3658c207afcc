#include "server/auth/base64.h"

#include <array>

namespace swizzle::server {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> kValues = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}();

}  // namespace

std::string encode_base64(Bytes bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t taken = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = (group << 8U) | (i < taken ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= taken ? kAlphabet[(group >> (18U - 6U * i)) & 0x3FU] : '=');
    }
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const bool is_last = at + 4 == text.size();
    std::size_t padding = 0;
    if (is_last && text[at + 3] == '=') padding = text[at + 2] == '=' ? 2 : 1;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::int8_t value =
          i >= 4 - padding ? std::int8_t{0} : kValues[static_cast<unsigned char>(text[at + i])];
      if (value < 0) return std::nullopt;
      group = (group << 6U) | static_cast<std::uint32_t>(value);
    }
    const std::uint32_t unused_bits = padding == 2 ? 0xFFFFU : (padding == 1 ? 0xFFU : 0U);
    if ((group & unused_bits) != 0) return std::nullopt;
    for (std::size_t i = 0; i < 3 - padding; ++i) {
      bytes.push_back(static_cast<char>((group >> (16U - 8U * i)) & 0xFFU));
    }
  }
  return bytes;
}

}  // namespace swizzle::server

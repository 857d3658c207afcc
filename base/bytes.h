#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace swizzle {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

static_assert(std::endian::native == std::endian::little,
              "pages and log records are little-endian and copied as they are");

/// Loads a trivially copyable value from any address.
template <class T>
  requires std::is_trivially_copyable_v<T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
  requires std::is_trivially_copyable_v<T>
void store(std::byte* to, const T& value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

/// Big-endian forms of unsigned numbers: memcmp orders them as the numbers.
template <std::unsigned_integral T>
T load_big_endian(const std::byte* from) noexcept {
  return std::byteswap(load<T>(from));
}

template <std::unsigned_integral T>
void store_big_endian(std::byte* to, T value) noexcept {
  store(to, std::byteswap(value));
}

inline Bytes as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span{text.data(), text.size()});
}
inline std::string_view as_text(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Compares as memcmp does; of equal prefixes the shorter comes first.
inline int compare(Bytes a, Bytes b) noexcept {
  const std::size_t common = a.size() < b.size() ? a.size() : b.size();
  const int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (order != 0) return order;
  return a.size() == b.size() ? 0 : (a.size() < b.size() ? -1 : 1);
}

}  // namespace swizzle

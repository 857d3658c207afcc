#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

/// Numbers and texts in the form that the protocol's messages have.
namespace swizzle::sql {

template <class T>
void put_number(std::string& out, T value) {
  std::byte bytes[sizeof value];
  store_big_endian(bytes, static_cast<std::make_unsigned_t<T>>(value));
  out += as_text(Bytes{bytes, sizeof bytes});
}

/// Appends the text with the zero byte that ends it.
inline void put_string(std::string& out, std::string_view text) {
  out += text;
  out += '\0';
}

}  // namespace swizzle::sql

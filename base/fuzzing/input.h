#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

/// Entry point of a fuzz target, called by libFuzzer and base/fuzzing/driver.cpp. Returns 0; a
/// finding ends the process.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace swizzle::fuzzing {

inline Bytes as_bytes_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span{data, size});
}
inline std::string_view as_text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace swizzle::fuzzing

// Functions of newer C libraries that the parser library calls, for those that do not have them.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the C library's names
extern "C" {
std::size_t strlcpy(char* to, const char* from, std::size_t size) noexcept;
unsigned long __isoc23_strtoul(const char* text, char** end, int base) noexcept;
}

std::size_t strlcpy(char* to, const char* from, std::size_t size) noexcept {
  const std::size_t length = std::strlen(from);
  if (size != 0) {
    const std::size_t copied = std::min(length, size - 1);
    std::memcpy(to, from, copied);
    to[copied] = '\0';
  }
  return length;
}

/// Of C23: reads binary digits after "0b" as well, with which the scanner calls base 16 only.
unsigned long __isoc23_strtoul(const char* text, char** end, int base) noexcept {
  return std::strtoul(text, end, base);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

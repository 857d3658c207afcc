// Functions of newer C libraries that the parser library calls, for systems with an older one.
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

/// C23's strtoul(), which also reads "0b" for base 2 and 0. The scanner calls it with base 16 only,
/// so the old function does.
unsigned long __isoc23_strtoul(const char* text, char** end, int base) noexcept {
  return std::strtoul(text, end, base);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

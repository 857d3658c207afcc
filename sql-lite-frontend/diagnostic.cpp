#include "sql-lite-frontend/diagnostic.h"

#include <algorithm>

namespace swizzle::sql {

std::string_view severity_name(Severity severity) noexcept {
  switch (severity) {
    case Severity::debug:
      return "DEBUG";
    case Severity::log:
      return "LOG";
    case Severity::info:
      return "INFO";
    case Severity::notice:
      return "NOTICE";
    case Severity::warning:
      return "WARNING";
    case Severity::error:
      return "ERROR";
    case Severity::fatal:
      return "FATAL";
  }
  return "ERROR";
}

SqlError::SqlError(const Error& error) {
  diagnostic_.state = error.state();
  diagnostic_.message = error.message();
  diagnostic_.detail = error.detail();
  diagnostic_.hint = error.hint();
}

std::int32_t character_position(std::string_view text, std::int32_t byte_offset) noexcept {
  if (byte_offset < 0) return 0;
  const std::string_view before =
      text.substr(0, std::min(text.size(), static_cast<std::size_t>(byte_offset)));
  // Every byte that is not a UTF-8 continuation starts a character.
  const auto characters = std::count_if(before.begin(), before.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  });
  return static_cast<std::int32_t>(characters) + 1;
}

}  // namespace swizzle::sql

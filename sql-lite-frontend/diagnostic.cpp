#include "sql-lite-frontend/diagnostic.h"

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"

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

Diagnostic to_diagnostic(const Error& error) {
  Diagnostic diagnostic;
  diagnostic.state = error.state();
  diagnostic.message = error.message();
  diagnostic.detail = error.detail();
  diagnostic.hint = error.hint();
  return diagnostic;
}

Diagnostic to_diagnostic(const SqlError& error, std::string_view text) {
  Diagnostic diagnostic = to_diagnostic(error.error());
  const ErrorFields& fields = error.fields();
  diagnostic.position = character_position(text, fields.position);
  diagnostic.schema = fields.schema;
  diagnostic.table = fields.table;
  diagnostic.column = fields.column;
  diagnostic.datatype = fields.data_type;
  diagnostic.constraint = fields.constraint;
  diagnostic.routine = fields.routine;
  diagnostic.where = fields.where;
  return diagnostic;
}

void throw_storage_error(Error&& error) {
  throw SqlError{std::move(error)};
}

std::int32_t character_position(std::string_view text, std::int32_t byte_position) noexcept {
  if (byte_position <= 0) return 0;
  const std::string_view before =
      text.substr(0, std::min(text.size(), static_cast<std::size_t>(byte_position - 1)));
  // Every byte that is not a UTF-8 continuation starts a character.
  const auto characters = std::count_if(before.begin(), before.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  });
  return static_cast<std::int32_t>(characters) + 1;
}

}  // namespace swizzle::sql

#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/sqlstate.h"

namespace swizzle::sql {

class SqlError;

enum class Severity : std::uint8_t { debug, log, info, notice, warning, error, fatal };

/// "ERROR", "NOTICE" …: field S and V of the wire message.
std::string_view severity_name(Severity severity) noexcept;

/// The fields of an ErrorResponse or NoticeResponse. Empty strings are fields that are not sent.
struct Diagnostic {
  Severity severity = Severity::error;
  SqlState state{"XX000"};
  std::string message;
  std::string detail;
  std::string hint;
  /// Characters, not bytes, from 1; 0 is "no position".
  std::int32_t position = 0;
  std::string schema;
  std::string table;
  std::string column;
  std::string datatype;
  std::string constraint;
  std::string where;
  /// The function in PostgreSQL's source, for the few errors that drivers recognise by it.
  std::string routine;
};

/// Result of a session's request: nothing, or the one error that ended it.
using Outcome = std::expected<void, Diagnostic>;

/// Converts an error at a statement's boundary to its form for the client. Inside a statement
/// positions count bytes (from 1), because only the boundary knows the text that was sent.
Diagnostic to_diagnostic(const SqlError& error, std::string_view text);
Diagnostic to_diagnostic(const Error& error);

/// Ends the statement with an error of storage.
[[noreturn]] void throw_storage_error(Error&& error);

/// Unwraps a Result inside the frontend: the value, or an SqlError.
template <class R>
auto value_of(R&& result) {
  if (!result) throw_storage_error(std::forward<R>(result).error());
  if constexpr (!std::is_void_v<typename std::remove_cvref_t<R>::value_type>) {
    return *std::forward<R>(result);
  }
}

/// The 1-based character position of a 1-based byte position in UTF-8 text; 0 stays 0.
std::int32_t character_position(std::string_view text, std::int32_t byte_position) noexcept;

}  // namespace swizzle::sql

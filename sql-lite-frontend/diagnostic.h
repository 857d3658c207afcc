#pragma once

#include <cstdint>
#include <exception>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/sqlstate.h"

namespace swizzle::sql {

enum class Severity : std::uint8_t { debug, log, info, notice, warning, error, fatal };

/// "ERROR", "NOTICE" …: field S and V of the wire message.
std::string_view severity_name(Severity severity) noexcept;

/// Everything that an ErrorResponse or NoticeResponse can say. Empty strings are fields that are
/// not sent.
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
};

/// What a request of a session gives back: nothing, or the one error that ended it.
using Outcome = std::expected<void, Diagnostic>;

/// Thrown inside the frontend, where a statement is one unit of failure; caught at the statement's
/// boundary, and never seen outside this folder.
class SqlError : public std::exception {
 public:
  explicit SqlError(Diagnostic diagnostic) : diagnostic_(std::move(diagnostic)) {}
  SqlError(SqlState state, std::string message) {
    diagnostic_.state = state;
    diagnostic_.message = std::move(message);
  }
  /// An error of storage or of the types, in the terms of a statement.
  explicit SqlError(const Error& error);

  [[nodiscard]] const char* what() const noexcept override { return diagnostic_.message.c_str(); }
  [[nodiscard]] const Diagnostic& diagnostic() const noexcept { return diagnostic_; }

  SqlError&& detail(std::string text) && {
    diagnostic_.detail = std::move(text);
    return std::move(*this);
  }
  SqlError&& hint(std::string text) && {
    diagnostic_.hint = std::move(text);
    return std::move(*this);
  }
  /// `byte_offset` into the statement's text, negative for none. The statement's boundary turns it
  /// into characters, because only it knows the text.
  SqlError&& at(std::int32_t byte_offset) && {
    byte_offset_ = byte_offset;
    return std::move(*this);
  }
  SqlError&& table(std::string schema, std::string table) && {
    diagnostic_.schema = std::move(schema);
    diagnostic_.table = std::move(table);
    return std::move(*this);
  }
  SqlError&& column(std::string name) && {
    diagnostic_.column = std::move(name);
    return std::move(*this);
  }
  SqlError&& constraint(std::string name) && {
    diagnostic_.constraint = std::move(name);
    return std::move(*this);
  }

  [[nodiscard]] std::int32_t byte_offset() const noexcept { return byte_offset_; }
  /// Gives the error a place if it has none yet.
  void locate(std::int32_t byte_offset) noexcept {
    if (byte_offset_ < 0) byte_offset_ = byte_offset;
  }

 private:
  Diagnostic diagnostic_;
  std::int32_t byte_offset_ = -1;
};

/// Unwraps a Result inside the frontend: the value, or SqlError.
template <class R>
auto value_of(R&& result) {
  if (!result) throw SqlError{result.error()};
  if constexpr (!std::is_void_v<typename std::remove_cvref_t<R>::value_type>) {
    return *std::forward<R>(result);
  }
}

/// The 1-based character position of a byte offset in UTF-8 text; 0 for a negative offset.
std::int32_t character_position(std::string_view text, std::int32_t byte_offset) noexcept;

}  // namespace swizzle::sql

#pragma once

#include <fmt/core.h>

#include <exception>
#include <string>
#include <utility>

#include "base/error.h"
#include "sql-lite-frontend/types/sql_states.h"

namespace swizzle::sql {

/// Error fields of the protocol that swizzle::Error lacks. Empty means absent.
struct ErrorFields {
  int position = 0;  ///< of the character in the statement, from 1; 0 is unknown
  std::string schema;
  std::string table;
  std::string column;
  std::string data_type;
  std::string constraint;
  std::string where;
  std::string routine;
};

/// Ends a statement. Thrown inside sql-lite-frontend only and caught at the statement's boundary,
/// never across a held latch.
class SqlError : public std::exception {
 public:
  explicit SqlError(Error error) noexcept : error_{std::move(error)} {}
  SqlError(SqlState state, std::string message) : error_{state, std::move(message)} {}

  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] Error take_error() && noexcept { return std::move(error_); }
  [[nodiscard]] const ErrorFields& fields() const noexcept { return fields_; }
  [[nodiscard]] ErrorFields& fields() noexcept { return fields_; }
  [[nodiscard]] SqlState state() const noexcept { return error_.state(); }
  [[nodiscard]] const char* what() const noexcept override { return error_.message().c_str(); }

  [[nodiscard]] SqlError&& with_detail(std::string detail) && {
    error_ = std::move(error_).with_detail(std::move(detail));
    return std::move(*this);
  }
  [[nodiscard]] SqlError&& with_hint(std::string hint) && {
    error_ = std::move(error_).with_hint(std::move(hint));
    return std::move(*this);
  }
  [[nodiscard]] SqlError&& at_position(int position) && {
    fields_.position = position;
    return std::move(*this);
  }

 private:
  Error error_;
  ErrorFields fields_;
};

/// False for transient errors, which say nothing about the parsed or bound text: a lost race, a
/// cancel, lack of memory or disk.
[[nodiscard]] bool is_about_definition(SqlState state) noexcept;

/// Shared out-of-line body of the two templates below; keeps each throw site a single call.
SqlError formatted_error(SqlState state, fmt::string_view format, fmt::format_args args);
[[noreturn]] void throw_formatted(SqlState state, fmt::string_view format, fmt::format_args args);

template <class... Args>
SqlError sql_error(SqlState state, fmt::format_string<Args...> format, Args&&... args) {
  return formatted_error(state, format, fmt::make_format_args(args...));
}

template <class... Args>
[[noreturn]] void throw_error(SqlState state, fmt::format_string<Args...> format, Args&&... args) {
  throw_formatted(state, format, fmt::make_format_args(args...));
}

}  // namespace swizzle::sql

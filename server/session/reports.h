#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "sql-lite-frontend/diagnostic.h"

namespace swizzle::server {

[[nodiscard]] inline sql::Diagnostic make_report(sql::Severity severity, SqlState state,
                                                 std::string message) {
  sql::Diagnostic report;
  report.severity = severity;
  report.state = state;
  report.message = std::move(message);
  return report;
}
[[nodiscard]] inline sql::Diagnostic fatal_report(SqlState state, std::string message) {
  return make_report(sql::Severity::fatal, state, std::move(message));
}
[[nodiscard]] inline sql::Diagnostic error_report(SqlState state, std::string message) {
  return make_report(sql::Severity::error, state, std::move(message));
}
/// Returns the client's report of an error of the server itself.
[[nodiscard]] inline sql::Diagnostic report_of(sql::Severity severity, const Error& error) {
  sql::Diagnostic report = make_report(severity, error.state(), error.message());
  report.detail = error.detail();
  report.hint = error.hint();
  return report;
}

}  // namespace swizzle::server

#pragma once

#include <ranges>
#include <string>

#include "sql-lite-frontend/statement/statement_context.h"

/// Position of the session in routines and their statements: CONTEXT of notices. Errors collect
/// theirs as they leave.
namespace swizzle::sql {

class CallPlace {
 public:
  CallPlace() = default;
  CallPlace(const CallPlace&) = delete;
  CallPlace& operator=(const CallPlace&) = delete;
  virtual ~CallPlace() = default;
  /// "PL/pgSQL function f() line 3 at RAISE", "SQL statement "…"".
  [[nodiscard]] virtual std::string call_line() const = 0;
};

/// Makes the place the session's for its lifetime.
class AtPlace {
 public:
  AtPlace(StatementContext& session, const CallPlace& place) : session_(session) {
    session.call_places.push_back(&place);
  }
  AtPlace(const AtPlace&) = delete;
  AtPlace& operator=(const AtPlace&) = delete;
  ~AtPlace() { session_.call_places.pop_back(); }

 private:
  StatementContext& session_;
};

/// Returns the context, innermost first; empty if no routine runs.
inline std::string call_context(const StatementContext& session) {
  std::string lines;
  for (const CallPlace* const place : std::views::reverse(session.call_places)) {
    if (!lines.empty()) lines += "\n";
    lines += place->call_line();
  }
  return lines;
}

}  // namespace swizzle::sql

#include <fmt/format.h>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/network/network.h"
#include "sql-lite-frontend/types/type_io.h"

/// Functions about the session's connection, and those that act on other sessions.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value port_value(const std::optional<Endpoint>& end) {
  return end ? Value::from_int(end->port) : Value::null();
}
Value client_address(Execution& execution, Arguments) {
  return address_value(execution, session_of(execution).options.client);
}
Value client_port(Execution& execution, Arguments) {
  return port_value(session_of(execution).options.client);
}
Value server_address(Execution& execution, Arguments) {
  return address_value(execution, session_of(execution).options.server);
}
Value server_port(Execution& execution, Arguments) {
  return port_value(session_of(execution).options.server);
}

Value system_user(Execution& execution, Arguments) {
  const std::string& name = session_of(execution).options.system_user;
  if (name.empty()) return Value::null();
  return make_text(execution.row_arena, name);
}

/// Action on a session, in the words of refusals.
struct SignalOutcome {
  std::string_view what;
  std::string_view several;
  std::string_view to_own;
  std::string_view this_one;
};
constexpr SignalOutcome kCancel{"cancel query", "cancel queries", "query is being canceled",
                                "cancel this query"};
constexpr SignalOutcome kTerminate{"terminate process", "terminate processes",
                                   "process is being terminated", "terminate this process"};

Diagnostic administrators_command() {
  Diagnostic reason;
  reason.severity = Severity::fatal;
  reason.state = sqlstate::admin_shutdown;
  reason.message = "terminating connection due to administrator command";
  return reason;
}

/// A session is its role's, and that of superusers.
void require_right(StatementContext& session, Oid user, const SignalOutcome& outcome) {
  const RolePtr role = session.catalog.role(user);
  if (session.rights.is_superuser(session.user)) return;
  const auto denied = [&](std::string detail) {
    return sql_error(sqlstate::insufficient_privilege, "permission denied to {}", outcome.what)
        .with_detail(std::move(detail));
  };
  if (role && role->superuser) {
    throw denied(
        fmt::format("Only roles with the SUPERUSER attribute may {} of roles with the "
                    "SUPERUSER attribute.",
                    outcome.several));
  }
  if (session.rights.owns(kSignalBackendRole) || (role && session.rights.owns(role->oid))) return;
  throw denied(
      fmt::format("Only roles with privileges of the role whose {} or with privileges of "
                  "the \"pg_signal_backend\" role may {}.",
                  outcome.to_own, outcome.this_one));
}

Value no_such_session(Session::State& session, std::int32_t pid) {
  session.notice(*session.sink_for_notices, Severity::warning, SqlState{"01000"},
                 fmt::format("PID {} is not a PostgreSQL backend process", pid));
  return Value::from_bool(false);
}

/// Calls `use` with the session of that number while it stays, if there is one.
template <class Use>
bool with_session(Database::Shared& shared, std::int32_t pid, Use use) {
  const std::lock_guard lock{shared.sessions_mutex};
  const auto found = shared.sessions.find(pid);
  if (found == shared.sessions.end()) return false;
  use(*found->second);
  return true;
}

/// Calls `act` for the session with backend number `pid`. Returns false if there is no such
/// session.
template <class Act>
Value do_to_session(Execution& execution, std::int32_t pid, const SignalOutcome& outcome, Act act) {
  Database::Shared& shared = session_of(execution).shared;
  Oid user = kNoOid;
  if (!with_session(shared, pid, [&](Session& other) { user = other.state().login; }))
    return no_such_session(session_of(execution), pid);
  // Looks up roles without the mutex: a pid is not reused so soon.
  require_right(session_of(execution), user, outcome);
  if (!with_session(shared, pid, act)) return no_such_session(session_of(execution), pid);
  return Value::from_bool(true);
}

/// Applies a signal to the own session at once: the statement must not go on and commit.
Value apply_to_own_session(Execution& execution, std::int32_t pid, Value done) {
  if (pid == session_of(execution).options.backend_pid) session_of(execution).check_cancelled();
  return done;
}

Value cancel_backend(Execution& execution, Arguments arguments) {
  const std::int32_t pid = arguments[0].as_int4();
  return apply_to_own_session(
      execution, pid,
      do_to_session(execution, pid, kCancel, [](Session& session) { session.cancel(); }));
}
Value terminate_backend(Execution& execution, Arguments arguments) {
  const Diagnostic reason = administrators_command();
  const std::int32_t pid = arguments[0].as_int4();
  return apply_to_own_session(execution, pid,
                              do_to_session(execution, pid, kTerminate,
                                            [&](Session& session) { session.terminate(reason); }));
}

}  // namespace

void end_other_sessions(Database::Shared& shared, StatementContext& asking, Oid database) {
  std::vector<std::pair<std::int32_t, Oid>> others;
  {
    const std::lock_guard lock{shared.sessions_mutex};
    for (const auto& [pid, session] : shared.sessions) {
      const Session::State& state = session->state();
      if (&state != &asking && state.catalog.of_database().database() == database)
        others.emplace_back(pid, state.login);
    }
  }
  for (const auto& [pid, login] : others) require_right(asking, login, kTerminate);
  const Diagnostic reason = administrators_command();
  for (const auto& [pid, login] : others)
    with_session(shared, pid, [&](Session& session) { session.terminate(reason); });
}

Value address_value(Execution& execution, const std::optional<Endpoint>& end) {
  if (!end) return Value::null();
  return input_text(execution.functions, TypeId::inet, kNoTypmod, end->address);
}

std::span<const SessionEntry> connection_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"inet_client_addr", client_address},
      {"inet_client_port", client_port},
      {"inet_server_addr", server_address},
      {"inet_server_port", server_port},
      {"system_user", system_user},
      {"pg_cancel_backend", cancel_backend},
      {"pg_terminate_backend", terminate_backend},
  };
  return kFunctions;
}

}  // namespace swizzle::sql

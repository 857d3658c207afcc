#include "sql-lite-frontend/session/transactions/sync_commit.h"

#include <optional>
#include <string>

#include "sql-lite-frontend/session/transactions/commit_wait.h"

namespace swizzle::sql {
namespace {

std::optional<LogSenders::Level> asked_level(const std::string& synchronous_commit) {
  if (synchronous_commit == "off" || synchronous_commit == "local") return std::nullopt;
  if (synchronous_commit == "remote_write") return LogSenders::Level::written;
  return synchronous_commit == "on" ? LogSenders::Level::flushed : LogSenders::Level::replayed;
}

}  // namespace

void await_followers(Session::State& session) {
  LogSenders& senders = session.shared.log_senders;
  if (!senders.has_rule()) return;
  const auto level = asked_level(session.settings.text("synchronous_commit"));
  if (!level) return;
  const LogSenders::Waits waits{session.options.backend_pid, session.interruption};
  LogicalLog& log = session.shared.engine.logical_log();
  if (await_durable_there(senders, log, *level, waits) == LogSenders::Waited::confirmed) return;
  if (session.interruption.termination()) return session.check_cancelled();
  // The cancel ends the wait, not the statement: reset it.
  session.interruption.begin_request();
  if (session.sink_for_notices == nullptr) return;
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.state = SqlState{"01000"};
  warning.message = "canceling wait for synchronous replication due to user request";
  warning.detail =
      "The transaction has already committed locally, but might not have been replicated to the "
      "standby.";
  session.send_notice(*session.sink_for_notices, std::move(warning));
}

}  // namespace swizzle::sql

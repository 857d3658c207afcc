#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/providers.h"

/// pg_stat_replication: the sessions to which the log is sent.
namespace swizzle::sql {
namespace {

Value position_value(Lsn lsn) {
  return lsn == Lsn::none ? Value::null() : Value::from_int(static_cast<std::int64_t>(raw(lsn)));
}

void log_sender_rows(Execution& execution, const EmitRow& emit) {
  struct Seen {
    LogSenders::Sender sender;
    Oid user = kNoOid;
    std::string user_name;
    std::optional<Endpoint> client;
    std::int64_t connected_at = 0;
  };
  Session::State& session = session_of(execution);
  std::vector<Seen> all;
  for (const LogSenders::Sender& sender : session.shared.log_senders.list()) {
    const std::lock_guard lock{session.shared.sessions_mutex};
    const auto found = session.shared.sessions.find(sender.pid);
    if (found == session.shared.sessions.end()) continue;
    const Session::State& state = found->second->state();
    all.push_back({sender, state.login, state.options.user, state.options.client,
                   state.activity.connected_at});
  }
  for (const Seen& seen : all) {
    const LogSenders::Sender& sender = seen.sender;
    const Value row[] = {
        Value::from_int(sender.pid),
        Value::from_oid(seen.user),
        text_value(execution, seen.user_name),
        text_value(execution, sender.application),
        address_value(execution, seen.client),
        Value::from_int(seen.client ? seen.client->port : -1),
        Value::from_int(seen.connected_at),
        text_value(execution, sender.state()),
        position_value(sender.sent),
        position_value(sender.written),
        position_value(sender.flushed),
        position_value(sender.replayed),
        number(sender.sync_priority),
        text_value(execution, sender.sync_state),
        sender.replied_at == 0 ? Value::null() : Value::from_int(sender.replied_at)};
    emit(row);
  }
}

}  // namespace

std::span<const RowProvider> log_sender_providers() {
  static const std::vector<RowProvider> kProviders{{kPgCatalogSchema,
                                                    "pg_stat_replication",
                                                    {{"pid"},
                                                     {"usesysid"},
                                                     {"usename"},
                                                     {"application_name"},
                                                     {"client_addr"},
                                                     {"client_port"},
                                                     {"backend_start"},
                                                     {"state"},
                                                     {"sent_lsn"},
                                                     {"write_lsn"},
                                                     {"flush_lsn"},
                                                     {"replay_lsn"},
                                                     {"sync_priority"},
                                                     {"sync_state"},
                                                     {"reply_time"}},
                                                    log_sender_rows}};
  return kProviders;
}

void add_server_views() {
  static const bool is_added = [] {
    for (const auto providers : {activity_providers(), lock_providers(), database_providers(),
                                 server_statistics_providers(), log_sender_providers()}) {
      add_row_providers(providers);
    }
    return true;
  }();
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql

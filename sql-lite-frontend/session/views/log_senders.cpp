#include <unistd.h>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/log_receiver_values.h"
#include "sql-lite-frontend/session/views/providers.h"
#include "sql-lite-frontend/types/datetime/datetime.h"

/// pg_stat_replication: the sessions to which the log is sent; pg_stat_wal_receiver: the primary.
namespace swizzle::sql {
namespace {

Value position_value(Lsn lsn) {
  return lsn == Lsn::none ? Value::null() : Value::from_int(static_cast<std::int64_t>(raw(lsn)));
}

Value lag_value(Execution& execution, std::optional<Duration> lag) {
  if (!lag) return Value::null();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(*lag).count();
  return make_interval(execution.row_arena, Interval{.microseconds = us});
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
        lag_value(execution, sender.write_lag),
        lag_value(execution, sender.flush_lag),
        lag_value(execution, sender.replay_lag),
        number(sender.sync_priority),
        text_value(execution, sender.sync_state),
        sender.replied_at == 0 ? Value::null() : Value::from_int(sender.replied_at)};
    emit(row);
  }
}

Value moment_value(std::int64_t unix_us) {
  return unix_us == 0 ? Value::null() : Value::from_int(unix_us - kUnixEpochDays * kMicrosPerDay);
}

void fill_receiver(Arena& arena, const Database::Shared::Standby::Receiver& now,
                   std::span<Value> row) {
  const auto words = [&arena](const std::string& text) {
    return text.empty() ? Value::null() : make_text(arena, text);
  };
  row[1] = make_text(arena, "streaming");
  row[2] = position_value(now.started_at);
  row[3] = Value::from_int(now.started_timeline);
  row[4] = position_value(now.written);
  row[5] = position_value(now.flushed);
  row[6] = Value::from_int(now.timeline);
  row[7] = moment_value(now.sent_us);
  row[8] = moment_value(now.heard_us);
  row[9] = position_value(now.latest_end);
  row[10] = moment_value(now.latest_end_us);
  row[11] = words(now.slot);
  row[12] = words(now.host);
  if (!now.host.empty()) row[13] = Value::from_int(now.port);
  row[14] = words(now.conninfo);
}

void log_receiver_rows(Execution& execution, const EmitRow& emit) {
  const ReceiverValues row = log_receiver_values(session_of(execution), execution.row_arena);
  if (!row.front().is_null()) emit(row);
}

}  // namespace

ReceiverValues log_receiver_values(const Session::State& session, Arena& arena) {
  ReceiverValues row;
  row.fill(Value::null());
  const auto& ask = session.shared.standby.receiver;
  const auto now = ask ? ask() : std::nullopt;
  if (!now) return row;
  row[0] = Value::from_int(::getpid());
  // As in PostgreSQL, others see that there is one.
  if (session.rights.owns(kReadAllStatsRole)) fill_receiver(arena, *now, row);
  return row;
}

std::span<const RowProvider> log_sender_providers() {
  static const std::vector<RowProvider> kProviders{{kPgCatalogSchema,
                                                    "pg_stat_wal_receiver",
                                                    {{"pid"},
                                                     {"status"},
                                                     {"receive_start_lsn"},
                                                     {"receive_start_tli"},
                                                     {"written_lsn"},
                                                     {"flushed_lsn"},
                                                     {"received_tli"},
                                                     {"last_msg_send_time"},
                                                     {"last_msg_receipt_time"},
                                                     {"latest_end_lsn"},
                                                     {"latest_end_time"},
                                                     {"slot_name"},
                                                     {"sender_host"},
                                                     {"sender_port"},
                                                     {"conninfo"}},
                                                    log_receiver_rows},
                                                   {kPgCatalogSchema,
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
                                                     {"write_lag"},
                                                     {"flush_lag"},
                                                     {"replay_lag"},
                                                     {"sync_priority"},
                                                     {"sync_state"},
                                                     {"reply_time"}},
                                                    log_sender_rows}};
  return kProviders;
}

void add_server_views() {
  static const bool is_added = [] {
    for (const auto providers :
         {activity_providers(), lock_providers(), database_providers(),
          server_statistics_providers(), log_sender_providers(), subscription_providers()}) {
      add_row_providers(providers);
    }
    return true;
  }();
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql

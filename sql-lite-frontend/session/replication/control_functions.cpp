#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sql-lite-frontend/definitions/system_catalog/slot_values.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/replication/slot_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/activity_values.h"
#include "sql-lite-frontend/session/views/log_receiver_values.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/record/record.h"
#include "storage/logical/logical_log.h"

/// SQL functions on the control file and on the files of the log, for monitoring.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// The version numbers of PostgreSQL 18's control file and catalogs, for tools that compare two
/// servers.
constexpr std::int32_t kControlVersion = 1800;
constexpr std::int32_t kCatalogVersion = 202506291;

const LogicalLog& log_of(FunctionContext& context) {
  return session_of(context).shared.engine.logical_log();
}

Value position(Lsn lsn) {
  return Value::from_int(static_cast<std::int64_t>(raw(lsn)));
}

Value moment(std::int64_t unix_us) {
  constexpr std::int64_t kMicroseconds = 1'000'000;
  return unix_us == 0 ? Value::null()
                      : Value::from_int(unix_us - kUnixEpochSeconds * kMicroseconds);
}

struct LogFile {
  std::string name;
  std::uint64_t offset = 0;
};

/// The name that PostgreSQL would give the segment: the timeline, and the number in two parts. A
/// position on a boundary belongs to the segment before it.
LogFile log_file(const LogicalLog& log, std::uint64_t position) {
  const std::uint64_t bytes = log.segment_bytes();
  const std::uint64_t number = (position - 1) / bytes;
  const std::uint64_t in_part = (std::uint64_t{1} << 32U) / bytes;
  return {fmt::format("{:08X}{:08X}{:08X}", log.timeline(),
                      static_cast<std::uint32_t>(number / in_part),
                      static_cast<std::uint32_t>(number % in_part)),
          position % bytes};
}

Value name_of_file(Execution& execution, Arguments arguments) {
  const LogicalLog& log = session_of(execution).shared.engine.logical_log();
  const auto at = static_cast<std::uint64_t>(arguments[0].as_int8());
  return make_text(execution.row_arena, log_file(log, at).name);
}

std::unique_ptr<SetCursor> file_and_offset(FunctionContext& context, Arguments arguments) {
  const LogFile file =
      log_file(log_of(context), static_cast<std::uint64_t>(arguments[0].as_int8()));
  constexpr std::array kTypes{TypeId::text, TypeId::int4};
  const std::array row{make_text(context.arena, file.name),
                       Value::from_int(static_cast<std::int64_t>(file.offset))};
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

std::unique_ptr<SetCursor> control_checkpoint(FunctionContext& context, Arguments) {
  const LogicalLog& log = log_of(context);
  const LogicalLog::LastCheckpoint last = log.last_checkpoint();
  constexpr std::array kTypes{TypeId::pg_lsn, TypeId::pg_lsn,     TypeId::text, TypeId::int4,
                              TypeId::int4,   TypeId::bool_,      TypeId::text, TypeId::oid,
                              TypeId::xid,    TypeId::xid,        TypeId::xid,  TypeId::oid,
                              TypeId::xid,    TypeId::xid,        TypeId::oid,  TypeId::xid,
                              TypeId::xid,    TypeId::timestamptz};
  const std::string file = log_file(log, raw(last.redo_from) + 1).name;
  const std::string next = fmt::format("{}:{}", raw(last.next_txn) >> 32U,
                                       static_cast<std::uint32_t>(raw(last.next_txn)));
  const Value timeline = Value::from_int(log.timeline());
  // There are no multixacts, and transaction numbers are never frozen.
  const std::array row{position(last.begin),
                       position(last.redo_from),
                       make_text(context.arena, file),
                       timeline,
                       timeline,
                       Value::from_bool(true),
                       make_text(context.arena, next),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       Value::null(),
                       moment(last.taken_at_us)};
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

std::unique_ptr<SetCursor> control_system(FunctionContext& context, Arguments) {
  const LogicalLog& log = log_of(context);
  constexpr std::array kTypes{TypeId::int4, TypeId::int4, TypeId::int8, TypeId::timestamptz};
  const std::array row{Value::from_int(kControlVersion), Value::from_int(kCatalogVersion),
                       Value::from_int(static_cast<std::int64_t>(log.log_id())),
                       moment(log.last_checkpoint().taken_at_us)};
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

/// As of a server that is not being recovered: sessions have no other.
std::unique_ptr<SetCursor> control_recovery(FunctionContext& context, Arguments) {
  constexpr std::array kTypes{TypeId::pg_lsn, TypeId::int4, TypeId::pg_lsn, TypeId::pg_lsn,
                              TypeId::bool_};
  const std::array row{position(Lsn::none), Value::from_int(0), position(Lsn::none),
                       position(Lsn::none), Value::from_bool(false)};
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

/// One row without values where nothing is received, as in PostgreSQL.
std::unique_ptr<SetCursor> log_receiver(FunctionContext& context, Arguments) {
  constexpr std::array kTypes{
      TypeId::int4,        TypeId::text, TypeId::pg_lsn,      TypeId::int4,        TypeId::pg_lsn,
      TypeId::pg_lsn,      TypeId::int4, TypeId::timestamptz, TypeId::timestamptz, TypeId::pg_lsn,
      TypeId::timestamptz, TypeId::text, TypeId::text,        TypeId::int4,        TypeId::text};
  const ReceiverValues row = log_receiver_values(session_of(context), context.arena);
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

std::unique_ptr<SetCursor> slots(FunctionContext& context, Arguments) {
  constexpr std::array kTypes{TypeId::name,  TypeId::name,   TypeId::text,   TypeId::oid,
                              TypeId::bool_, TypeId::bool_,  TypeId::int4,   TypeId::xid,
                              TypeId::xid,   TypeId::pg_lsn, TypeId::pg_lsn, TypeId::text,
                              TypeId::int8,  TypeId::bool_,  TypeId::pg_lsn, TypeId::timestamptz,
                              TypeId::bool_, TypeId::text,   TypeId::bool_,  TypeId::bool_};
  Session::State& session = session_of(context);
  std::vector<Value> rows;
  for (const swizzle::Slot& slot : session.shared.engine.logical_log().slots().list()) {
    const SlotValues values = slot_values(session, context.arena, slot);
    rows.push_back(make_record(context.arena, kTypes, values));
  }
  return rows_cursor(std::move(rows));
}

std::unique_ptr<SetCursor> log_senders(FunctionContext& context, Arguments) {
  constexpr std::array kTypes{TypeId::int4,     TypeId::text,     TypeId::pg_lsn,
                              TypeId::pg_lsn,   TypeId::pg_lsn,   TypeId::pg_lsn,
                              TypeId::interval, TypeId::interval, TypeId::interval,
                              TypeId::int4,     TypeId::text,     TypeId::timestamptz};
  const auto known = [](Lsn lsn) { return lsn == Lsn::none ? Value::null() : position(lsn); };
  const auto lag = [&context](std::optional<Duration> time) {
    if (!time) return Value::null();
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(*time).count();
    return make_interval(context.arena, Interval{.microseconds = us});
  };
  std::vector<Value> rows;
  for (const LogSenders::Sender& sender : session_of(context).shared.log_senders.list()) {
    const std::array row{
        Value::from_int(sender.pid),
        make_text(context.arena, sender.state()),
        known(sender.sent),
        known(sender.written),
        known(sender.flushed),
        known(sender.replayed),
        lag(sender.write_lag),
        lag(sender.flush_lag),
        lag(sender.replay_lag),
        Value::from_int(static_cast<std::int64_t>(sender.sync_priority)),
        make_text(context.arena, sender.sync_state),
        sender.replied_at == 0 ? Value::null() : Value::from_int(sender.replied_at)};
    rows.push_back(make_record(context.arena, kTypes, row));
  }
  return rows_cursor(std::move(rows));
}

/// Of one session, or of all where none is named. It has no certificates of clients and no GSSAPI.
std::unique_ptr<SetCursor> session_activity(FunctionContext& context, Arguments arguments) {
  constexpr std::array kTypes{
      TypeId::oid,         TypeId::int4,        TypeId::oid,         TypeId::text,
      TypeId::text,        TypeId::text,        TypeId::text,        TypeId::text,
      TypeId::timestamptz, TypeId::timestamptz, TypeId::timestamptz, TypeId::timestamptz,
      TypeId::inet,        TypeId::text,        TypeId::int4,        TypeId::xid,
      TypeId::xid,         TypeId::text,        TypeId::bool_,       TypeId::text,
      TypeId::text,        TypeId::int4,        TypeId::text,        TypeId::numeric,
      TypeId::text,        TypeId::bool_,       TypeId::text,        TypeId::bool_,
      TypeId::bool_,       TypeId::int4,        TypeId::int8};
  std::optional<std::int32_t> only;
  if (!arguments[0].is_null()) only = arguments[0].as_int4();
  const Value none = Value::null();
  const Value no = Value::from_bool(false);
  std::vector<Value> rows;
  for (const ActivityValues& row : activity_values(context, only)) {
    const std::array values{row.database,
                            row.pid,
                            row.user,
                            row.application,
                            row.state,
                            row.query,
                            row.wait_event_type,
                            row.wait_event,
                            row.transaction_start,
                            row.query_start,
                            row.connected_at,
                            row.state_change,
                            row.client_address,
                            none,
                            row.client_port,
                            row.transaction,
                            row.oldest_unseen,
                            row.kind,
                            row.is_encrypted,
                            row.encryption_version,
                            row.cipher,
                            row.cipher_bits,
                            none,
                            none,
                            none,
                            no,
                            none,
                            no,
                            no,
                            none,
                            none};
    rows.push_back(make_record(context.arena, kTypes, values));
  }
  return rows_cursor(std::move(rows));
}

}  // namespace

std::span<const SessionEntry> control_functions() {
  static constexpr SessionEntry kFunctions[] = {{"pg_walfile_name", name_of_file}};
  return kFunctions;
}

std::span<const SetEntry> control_sets() {
  static constexpr SetEntry kSets[] = {{"pg_walfile_name_offset(pg_lsn)", file_and_offset},
                                       {"pg_control_checkpoint()", control_checkpoint},
                                       {"pg_control_system()", control_system},
                                       {"pg_control_recovery()", control_recovery},
                                       {"pg_stat_get_wal_receiver()", log_receiver},
                                       {"pg_stat_get_wal_senders()", log_senders},
                                       {"pg_stat_get_activity(int4)", session_activity},
                                       {"pg_get_replication_slots()", slots}};
  return kSets;
}

}  // namespace swizzle::sql

// pg_publication and its like, and the positions of replication slots and their readers.
#include <algorithm>

#include "sql-lite-frontend/publish/published_table.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/names/definitions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/system_catalog/objects.h"
#include "sql-lite-frontend/system_catalog/row_values.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

Value position_value(Lsn lsn) {
  return lsn == Lsn::none ? Value::null() : Value::from_int(static_cast<std::int64_t>(raw(lsn)));
}

/// int2vector counts from 0.
Value column_vector(Execution& execution, std::span<const std::int16_t> numbers) {
  if (numbers.empty()) return Value::null();
  std::vector<Value> values;
  for (const std::int16_t number : numbers) values.push_back(Value::from_int(number));
  const ArrayDimension dimension{static_cast<std::int32_t>(values.size()), 0};
  return make_array(execution.row_arena, TypeId::int2, {&dimension, 1}, values);
}

Value filter_value(Execution& execution, const Publication::Member& member) {
  const TablePtr table = execution.session.catalog.table(member.table);
  if (member.filter_sql.empty() || !table) return Value::null();
  return text_value(execution, printed_expression(execution.session, *table, member.filter_sql));
}

/// Room until a slot is lost: how much more can be logged.
struct SlotRoom {
  std::string_view status;
  Value safe_bytes = Value::null();
};
SlotRoom room_of(Session::State& session, const swizzle::Slot& slot) {
  if (slot.is_lost) return {"lost"};
  const std::int64_t most_mb = session.settings.integer("max_slot_wal_keep_size");
  if (most_mb < 0) return {"reserved"};
  const auto tail = static_cast<std::int64_t>(raw(session.shared.engine.logical_log().tail()));
  const std::int64_t kept = tail - static_cast<std::int64_t>(raw(slot.restart));
  const std::int64_t left = (most_mb << 20) - kept;
  return {left < 0 ? "unreserved" : "reserved", Value::from_int(left)};
}

}  // namespace

void publication_rows(Execution& execution, const EmitRow& emit) {
  for (const PublicationPtr& publication : execution.session.catalog.all_made<Publication>()) {
    const Value row[] = {
        Value::from_oid(publication->oid),   text_value(execution, publication->name),
        Value::from_oid(publication->owner), flag(publication->all_tables),
        flag(publication->inserts),          flag(publication->updates),
        flag(publication->deletes),          flag(publication->truncates),
        flag(publication->via_root)};
    emit(row);
  }
}

void publication_member_rows(Execution& execution, const EmitRow& emit) {
  for (const PublicationPtr& publication : execution.session.catalog.all_made<Publication>()) {
    for (const Publication::Member& member : publication->members) {
      const Value row[] = {Value::from_oid(member.oid), Value::from_oid(publication->oid),
                           Value::from_oid(member.table), filter_value(execution, member),
                           column_vector(execution, member.columns)};
      emit(row);
    }
  }
}

void publication_schema_rows(Execution& execution, const EmitRow& emit) {
  for (const PublicationPtr& publication : execution.session.catalog.all_made<Publication>()) {
    for (const Publication::WholeSchema& schema : publication->schemas) {
      const Value row[] = {Value::from_oid(schema.oid), Value::from_oid(publication->oid),
                           Value::from_oid(schema.schema)};
      emit(row);
    }
  }
}

void replication_slot_rows(Execution& execution, const EmitRow& emit) {
  Session::State& session = execution.session;
  for (const swizzle::Slot& slot : session.shared.engine.logical_log().slots().list()) {
    const DatabasePtr database = session.catalog.database(slot.database);
    const SlotRoom room = room_of(session, slot);
    const Value row[] = {text_value(execution, slot.name),
                         text_value(execution, slot.plugin),
                         text_value(execution, "logical"),
                         Value::from_oid(slot.database),
                         database ? text_value(execution, database->name) : Value::null(),
                         flag(slot.lifetime == swizzle::Slot::Lifetime::temporary),
                         flag(slot.holder != 0),
                         slot.holder != 0 ? Value::from_int(slot.holder) : Value::null(),
                         slot.is_lost ? Value::null() : position_value(slot.restart),
                         position_value(slot.confirmed),
                         text_value(execution, room.status),
                         room.safe_bytes,
                         flag(false)};
    emit(row);
  }
}

void log_sender_rows(Execution& execution, const EmitRow& emit) {
  struct Seen {
    LogSenders::Sender sender;
    Oid user = kNoOid;
    std::string user_name;
    std::string application;
    std::optional<Endpoint> client;
    std::int64_t connected_at = 0;
  };
  Session::State& session = execution.session;
  std::vector<Seen> all;
  for (const LogSenders::Sender& sender : session.shared.log_senders.list()) {
    const std::lock_guard lock{session.shared.sessions_mutex};
    const auto found = session.shared.sessions.find(sender.pid);
    if (found == session.shared.sessions.end()) continue;
    const Session::State& state = found->second->state();
    all.push_back({sender, state.login, state.options.user, state.activity.application.load(),
                   state.options.client, state.activity.connected_at});
  }
  for (const Seen& seen : all) {
    const LogSenders::Sender& sender = seen.sender;
    const Value row[] = {
        Value::from_int(sender.pid),
        Value::from_oid(seen.user),
        text_value(execution, seen.user_name),
        text_value(execution, seen.application),
        address_value(execution, seen.client),
        Value::from_int(seen.client ? seen.client->port : -1),
        Value::from_int(seen.connected_at),
        text_value(execution, sender.catches_up ? "catchup" : "streaming"),
        position_value(sender.sent),
        position_value(sender.written),
        position_value(sender.flushed),
        position_value(sender.replayed),
        Value::from_int(0),
        text_value(execution, "async"),
        sender.replied_at == 0 ? Value::null() : Value::from_int(sender.replied_at)};
    emit(row);
  }
}

}  // namespace swizzle::sql

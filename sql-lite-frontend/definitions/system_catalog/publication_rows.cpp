// pg_publication and related catalogs; positions of replication slots and of their readers.
#include <algorithm>

#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/definitions/system_catalog/slot_values.h"
#include "sql-lite-frontend/execution/publish/published_table.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

Value position_value(Lsn lsn) {
  return lsn == Lsn::none ? Value::null() : Value::from_int(static_cast<std::int64_t>(raw(lsn)));
}

/// Returns an int2vector, whose subscripts begin at 0.
Value column_vector(Execution& execution, std::span<const std::int16_t> numbers) {
  if (numbers.empty()) return Value::null();
  std::vector<Value> values;
  for (const std::int16_t number : numbers) values.push_back(Value::from_int(number));
  const ArrayDimension dimension{static_cast<std::int32_t>(values.size()), 0};
  return make_array(execution.row_arena, TypeId::int2, {&dimension, 1}, values);
}

Value filter_value(Execution& execution, const Publication::Member& member) {
  const TablePtr table = context_of(execution).catalog.table(member.table);
  if (member.filter_sql.empty() || !table) return Value::null();
  return text_value(execution,
                    printed_expression(context_of(execution), *table, member.filter_sql));
}

/// wal_status and safe_wal_size: how much can be logged until the slot is lost.
struct SlotRoom {
  std::string_view status;
  Value safe_bytes = Value::null();
};
SlotRoom room_of(StatementContext& session, const swizzle::Slot& slot) {
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
  for (const PublicationPtr& publication : context_of(execution).catalog.all_made<Publication>()) {
    const Value row[] = {
        Value::from_oid(publication->oid),   text_value(execution, publication->name),
        Value::from_oid(publication->owner), flag(publication->all_tables),
        flag(publication->inserts),          flag(publication->updates),
        flag(publication->deletes),          flag(publication->truncates),
        flag(publication->via_root),         letter(publication->stored_generated ? 's' : 'n')};
    emit(row);
  }
}

void publication_member_rows(Execution& execution, const EmitRow& emit) {
  for (const PublicationPtr& publication : context_of(execution).catalog.all_made<Publication>()) {
    for (const Publication::Member& member : publication->members) {
      const Value row[] = {Value::from_oid(member.oid), Value::from_oid(publication->oid),
                           Value::from_oid(member.table), filter_value(execution, member),
                           column_vector(execution, member.columns)};
      emit(row);
    }
  }
}

void publication_schema_rows(Execution& execution, const EmitRow& emit) {
  for (const PublicationPtr& publication : context_of(execution).catalog.all_made<Publication>()) {
    for (const Publication::WholeSchema& schema : publication->schemas) {
      const Value row[] = {Value::from_oid(schema.oid), Value::from_oid(publication->oid),
                           Value::from_oid(schema.schema)};
      emit(row);
    }
  }
}

SlotValues slot_values(StatementContext& session, Arena& arena, const swizzle::Slot& slot) {
  const SlotRoom room = room_of(session, slot);
  const bool is_physical = slot.is_physical();
  const bool keeps_nothing = slot.restart == Lsn::none;
  return {make_text(arena, slot.name),
          is_physical ? Value::null() : make_text(arena, slot.plugin),
          make_text(arena, is_physical ? "physical" : "logical"),
          is_physical ? Value::null() : Value::from_oid(slot.database),
          flag(slot.lifetime == swizzle::Slot::Lifetime::temporary),
          flag(slot.holder != 0),
          slot.holder != 0 ? Value::from_int(slot.holder) : Value::null(),
          Value::null(),
          Value::null(),
          slot.is_lost ? Value::null() : position_value(slot.restart),
          is_physical ? Value::null() : position_value(slot.confirmed),
          keeps_nothing ? Value::null() : make_text(arena, room.status),
          keeps_nothing ? Value::null() : room.safe_bytes,
          flag(slot.two_phase_from != Lsn::none),
          position_value(slot.two_phase_from),
          Value::null(),
          is_physical ? Value::null() : flag(false),
          slot.is_lost ? make_text(arena, "wal_removed") : Value::null(),
          flag(false),
          flag(false)};
}

void replication_slot_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const swizzle::Slot& slot : session.shared.engine.logical_log().slots().list()) {
    const SlotValues values = slot_values(session, execution.row_arena, slot);
    const DatabasePtr database = session.catalog.database(slot.database);
    // Insert the database's name and omit xmin and catalog_xmin.
    constexpr std::ptrdiff_t kName = 4;
    constexpr std::ptrdiff_t kXmins = 7;
    const auto* const all = values.data();
    std::vector<Value> row{all, all + kName};
    row.push_back(database ? text_value(execution, database->name) : Value::null());
    row.insert(row.end(), all + kName, all + kXmins);
    row.insert(row.end(), all + kXmins + 2, all + values.size());
    emit(row);
  }
}

}  // namespace swizzle::sql

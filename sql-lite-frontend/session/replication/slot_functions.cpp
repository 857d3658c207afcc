#include "sql-lite-frontend/session/replication/slot_functions.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "sql-lite-frontend/execution/publish/logged_message.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/replication/physical_stream.h"
#include "sql-lite-frontend/session/replication/slot_stream.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/statement/names/session_names.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

/// SQL functions on replication slots and on the log that they keep.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value position(Lsn lsn) {
  return Value::from_int(static_cast<std::int64_t>(raw(lsn)));
}
Lsn position_of(const Value& value) {
  return Lsn{static_cast<std::uint64_t>(value.as_int8())};
}

/// Creates a slot outside of the transaction, so that a rollback keeps it, as in PostgreSQL.
std::unique_ptr<SetCursor> create_logical_slot(FunctionContext& context, Arguments arguments) {
  Session::State& session = session_of(context);
  require_may_use_slots(session);
  require_logical_decoding(session);
  if (arguments.size() > 4 && arguments[4].as_bool()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "replication slots that a standby keeps are not supported"};
  }
  NewSlot wanted;
  wanted.name = arguments[0].as_text();
  wanted.plugin = arguments[1].as_text();
  wanted.two_phase = arguments.size() > 3 && arguments[3].as_bool();
  if (arguments.size() > 2 && arguments[2].as_bool())
    wanted.lifetime = swizzle::Slot::Lifetime::temporary;
  const MadeSlot made = make_slot(session, wanted);
  constexpr std::array kTypes{TypeId::name, TypeId::pg_lsn};
  const std::array row{make_text(context.arena, wanted.name),
                       Value::from_int(static_cast<std::int64_t>(raw(made.consistent)))};
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

std::unique_ptr<SetCursor> create_physical_slot(FunctionContext& context, Arguments arguments) {
  Session::State& session = session_of(context);
  require_may_use_slots(session);
  require_slots(session);
  NewPhysicalSlot wanted;
  wanted.name = arguments[0].as_text();
  wanted.reserves_log = arguments.size() > 1 && arguments[1].as_bool();
  if (arguments.size() > 2 && arguments[2].as_bool())
    wanted.lifetime = swizzle::Slot::Lifetime::temporary;
  const Lsn kept = make_physical_slot(session, wanted);
  constexpr std::array kTypes{TypeId::name, TypeId::pg_lsn};
  const std::array row{make_text(context.arena, wanted.name),
                       kept == Lsn::none ? Value::null() : position(kept)};
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

/// Returns the options from an array of alternating names and values.
std::vector<std::pair<std::string, std::string>> plugin_options(const Value& list) {
  std::vector<std::pair<std::string, std::string>> options;
  if (list.is_null()) return options;
  const ArrayView array(list);
  if (array.size() == 0) return options;
  if (array.dimension_count() > 1)
    throw SqlError{SqlState{"2202E"}, "array must be one-dimensional"};
  if (array.has_nulls())
    throw SqlError{sqlstate::null_value_not_allowed, "array must not contain nulls"};
  if (array.size() % 2 != 0) {
    throw SqlError{sqlstate::feature_not_supported, "array must have even number of elements"};
  }
  for (std::size_t i = 0; i < array.size(); i += 2) {
    // Named variables: the texts are views of the elements.
    const Value name = array.element(i);
    const Value value = array.element(i + 1);
    options.emplace_back(name.as_text(), value.as_text());
  }
  return options;
}

/// Acquires the slot after checking all arguments.
std::unique_ptr<SlotStream> slot_reader(FunctionContext& context, Arguments arguments, Lsn until) {
  Session::State& session = session_of(context);
  require_may_use_slots(session);
  require_logical_decoding(session);
  if (arguments[0].is_null())
    throw SqlError{sqlstate::null_value_not_allowed, "slot name must not be null"};
  if (arguments[3].is_null())
    throw SqlError{sqlstate::null_value_not_allowed, "options array must not be null"};
  ReplicationCommand command{.kind = ReplicationCommand::Kind::start};
  command.options = plugin_options(arguments[3]);
  const std::string_view name = arguments[0].as_text();
  return std::make_unique<SlotStream>(session, name, SlotStream::Part{.until = until}, command);
}

enum class Reading : std::uint8_t { peeks, takes };

/// Reads whole transactions from the log that is durable now, up to a position or a number of rows.
/// Never waits for more.
std::unique_ptr<SetCursor> slot_changes(FunctionContext& context, Arguments arguments,
                                        Reading reading) {
  Lsn until = session_of(context).shared.engine.logical_log().durable();
  if (!arguments[1].is_null()) until = std::min(until, position_of(arguments[1]));
  const std::int64_t most = arguments[2].is_null() ? 0 : arguments[2].as_int8();
  const auto held = slot_reader(context, arguments, until);
  SlotStream& stream = *held;
  std::vector<Value> rows;
  constexpr std::array kTypes{TypeId::pg_lsn, TypeId::xid, TypeId::bytea};
  while (most <= 0 || !stream.is_between() || rows.size() < static_cast<std::size_t>(most)) {
    const auto message = stream.next();
    if (!message && stream.is_at_end()) break;
    if (!message) continue;
    const std::array row{position(message->lsn),
                         Value::from_oid(static_cast<Oid>(raw(stream.transaction()))),
                         make_bytes(context.arena, as_bytes(message->bytes))};
    rows.push_back(make_record(context.arena, kTypes, row));
  }
  if (reading == Reading::takes) stream.confirm(stream.position());
  return rows_cursor(std::move(rows));
}

std::unique_ptr<SetCursor> take_changes(FunctionContext& context, Arguments arguments) {
  return slot_changes(context, arguments, Reading::takes);
}
std::unique_ptr<SetCursor> peek_changes(FunctionContext& context, Arguments arguments) {
  return slot_changes(context, arguments, Reading::peeks);
}

/// Throws 0A000, because the plugin writes binary output only. Errors of slot and options take
/// precedence, as in PostgreSQL.
[[noreturn]] void refuse_text(FunctionContext& context, Arguments arguments,
                              std::string_view function) {
  const Lsn nothing{1};
  slot_reader(context, arguments, nothing);
  throw_error(sqlstate::feature_not_supported,
              "logical decoding output plugin \"pgoutput\" produces binary output, but function "
              "\"{}(name,pg_lsn,integer,text[])\" expects textual data",
              function);
}
std::unique_ptr<SetCursor> take_text_changes(FunctionContext& context, Arguments arguments) {
  refuse_text(context, arguments, "pg_logical_slot_get_changes");
}
std::unique_ptr<SetCursor> peek_text_changes(FunctionContext& context, Arguments arguments) {
  refuse_text(context, arguments, "pg_logical_slot_peek_changes");
}

std::unique_ptr<SetCursor> advance_by_function(FunctionContext& context, Arguments arguments) {
  Session::State& session = session_of(context);
  require_may_use_slots(session);
  require_slots(session);
  const Lsn upto = position_of(arguments[1]);
  if (upto == Lsn::none) throw SqlError{sqlstate::internal_error, "invalid target WAL LSN"};
  const auto slot = session.shared.engine.logical_log().slots().find(arguments[0].as_text());
  const bool is_physical = slot && slot->is_physical();
  if (!is_physical) require_logical_decoding(session);
  const Lsn reached = is_physical ? advance_physical_slot(session, *slot, upto)
                                  : advance_slot(session, arguments[0].as_text(), upto);
  constexpr std::array kTypes{TypeId::name, TypeId::pg_lsn};
  const std::array row{make_text(context.arena, arguments[0].as_text()), position(reached)};
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

Value drop_replication_slot(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  require_may_use_slots(session);
  drop_slot(session, arguments[0].as_text(), DropWhen::now);
  return make_text(execution.row_arena, "");
}

Value emit_message(Execution& execution, Arguments arguments) {
  auto told = arguments[3].as_bool() ? MessageTold::at_once_durable : MessageTold::at_once;
  if (arguments[0].as_bool()) told = MessageTold::at_commit;
  return position(
      log_message(session_of(execution), told, arguments[1].as_text(), arguments[2].as_bytes()));
}

Value export_snapshot(Execution& execution, Arguments) {
  return make_text(execution.row_arena, session_of(execution).transaction.export_snapshot());
}

}  // namespace

std::span<const SessionEntry> slot_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_drop_replication_slot", drop_replication_slot},
      {"pg_logical_emit_message(bool,text,text,bool)", emit_message},
      {"pg_logical_emit_message(bool,text,bytea,bool)", emit_message},
      {"pg_export_snapshot", export_snapshot},
  };
  return kFunctions;
}

std::span<const SetEntry> slot_sets() {
  static constexpr SetEntry kSets[] = {
      {"pg_create_logical_replication_slot(name,name,bool,bool,bool)", create_logical_slot},
      {"pg_create_physical_replication_slot(name,bool,bool)", create_physical_slot},
      {"pg_logical_slot_get_binary_changes(name,pg_lsn,int4,_text)", take_changes},
      {"pg_logical_slot_peek_binary_changes(name,pg_lsn,int4,_text)", peek_changes},
      {"pg_logical_slot_get_changes(name,pg_lsn,int4,_text)", take_text_changes},
      {"pg_logical_slot_peek_changes(name,pg_lsn,int4,_text)", peek_text_changes},
      {"pg_replication_slot_advance(name,pg_lsn)", advance_by_function}};
  return kSets;
}

}  // namespace swizzle::sql

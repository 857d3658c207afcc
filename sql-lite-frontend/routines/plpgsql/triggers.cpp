#include "sql-lite-frontend/routines/plpgsql/triggers.h"

#include <algorithm>

#include "sql-lite-frontend/routines/plpgsql/frame_pool.h"
#include "sql-lite-frontend/routines/plpgsql/parser.h"
#include "sql-lite-frontend/routines/plpgsql/shapes.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Functions that return `trigger`.
namespace swizzle::sql::plpgsql {
namespace {

std::string_view name_of_time(TriggerTime time) {
  if (time == TriggerTime::before) return "BEFORE";
  return time == TriggerTime::after ? "AFTER" : "INSTEAD OF";
}
std::string_view name_of_event(TriggerEvent event) {
  switch (event) {
    case TriggerEvent::insert:
      return "INSERT";
    case TriggerEvent::update:
      return "UPDATE";
    case TriggerEvent::remove:
      return "DELETE";
    case TriggerEvent::truncate:
      break;
  }
  return "TRUNCATE";
}

class PlpgsqlTrigger final : public TriggerCode {
 public:
  PlpgsqlTrigger(StatementContext& session, const CallablePtr& callable, const TablePtr& table)
      : callable_(callable),
        table_(table),
        program_(read_program(session, {callable->routine, {}, TypeId::trigger, true, table})),
        frames_(*program_) {
    for (std::size_t i = 0; i < program_->variables.size(); ++i) {
      const std::string& name = program_->variables[i].name;
      if (name == "new" && new_ == kNone) new_ = i;
      if (name == "old" && old_ == kNone) old_ = i;
      if (name == "tg_name" && first_ == kNone) first_ = i;
    }
    shape_ = shape_of(*table);
    has_dropped_ = std::ranges::any_of(table->relation.columns, &Column::dropped);
    mentions_call_ = mentions_call(callable->routine->body);
  }

  std::optional<std::span<const Value>> run(StatementContext& session, const TriggerCall& call,
                                            Arena& arena) override {
    check_stack();
    const FramePool::Use use{frames_, session, *callable_->routine};
    Frame& frame = use.frame();
    frame.is_trigger = true;
    try {
      frame.phase = "during function entry";
      tell(frame, call);
      frame.set_found(false);
      frame.phase = {};
      frame.at = program_->body.get();
      const Flow flow = program_->body->run(frame);
      frame.at = nullptr;
      if (flow != Flow::returned) {
        throw SqlError{SqlState{"2F005"},
                       "control reached end of trigger procedure without RETURN"};
      }
      if (!call.for_each_row) return std::nullopt;
      frame.phase = "during function exit";
      return returned_row(frame, call, arena);
    } catch (SqlError& error) {
      frame.add_place(error);
      throw;
    }
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  void set_row(Frame& frame, std::size_t variable, std::span<const Value> row) const {
    const std::size_t record = frame.program.variables[variable].place;
    if (row.empty()) {
      frame.forget_record(record);
      return;
    }
    // The row belongs to the caller, which fires the trigger, until that returns.
    const auto& columns = table_->relation.columns;
    if (!has_dropped_ && row.size() == columns.size()) {
      frame.lend_record(record, shape_, row);
      return;
    }
    std::vector<Value> values;
    for (std::size_t i = 0; i < columns.size() && i < row.size(); ++i) {
      if (!columns[i].dropped) values.push_back(row[i]);
    }
    frame.lend_record(record, shape_, values);
  }

  /// True if the text may name a variable that begins with tg_.
  static bool mentions_call(std::string_view text) {
    for (std::size_t i = 0; i + 3 <= text.size(); ++i) {
      const bool is_prefix =
          (text[i] == 't' || text[i] == 'T') && (text[i + 1] == 'g' || text[i + 1] == 'G');
      // A name may also be written with escapes.
      if ((is_prefix && text[i + 2] == '_') || text.substr(i, 2) == "&\"") return true;
    }
    return false;
  }

  void tell(Frame& frame, const TriggerCall& call) const {
    set_row(frame, new_, call.new_row);
    set_row(frame, old_, call.old_row);
    if (!mentions_call_) return;
    const auto set = [&](std::size_t variable, std::string_view text) {
      frame.set_place(program_->variables[first_ + variable].place, Value::from_text(text));
    };
    const Relation& relation = table_->relation;
    set(0, call.name);
    set(1, relation.name);
    set(2, relation.name);
    set(3, frame.session.names.schema_name(relation.schema));
    set(4, name_of_time(call.time));
    set(5, call.for_each_row ? "ROW" : "STATEMENT");
    set(6, name_of_event(call.event));
    const auto put = [&](std::size_t variable, Value value) {
      frame.set_place(program_->variables[first_ + variable].place, value);
    };
    put(7, Value::from_oid(relation.oid));
    put(8, Value::from_int(static_cast<std::int64_t>(call.arguments.size())));
    if (call.arguments.empty()) return;
    std::vector<Value> texts;
    for (const std::string& argument : call.arguments) texts.push_back(Value::from_text(argument));
    const ArrayDimension from_zero{static_cast<std::int32_t>(texts.size()), 0};
    const RowScope scope{frame.execution};
    put(9, make_array(frame.execution.row_arena, TypeId::text, {&from_zero, 1}, texts));
  }

  std::optional<std::span<const Value>> returned_row(Frame& frame, const TriggerCall& call,
                                                     Arena& arena) const {
    if (!frame.returned_record) {
      if (frame.result.is_null()) return std::nullopt;
      return row_of(frame, call, arena);
    }
    const Record& record = frame.records[*frame.returned_record];
    if (record.is_null) return std::nullopt;
    const bool is_as_table =
        record.shape == shape_ || (record.shape && record.shape->fields == shape_->fields);
    if (is_as_table && !has_dropped_) {
      const std::span<Value> row{arena.allocate_array<Value>(record.values.size()),
                                 record.values.size()};
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = record.values[i].copy_to(arena);
      return row;
    }
    const RowScope scope{frame.execution};
    frame.set_result(frame.record_value(*frame.returned_record), TypeId::record);
    return row_of(frame, call, arena);
  }

  /// Returns a value for each column of the table, including dropped ones.
  std::span<const Value> row_of(Frame& frame, const TriggerCall& call, Arena& arena) const {
    if (sql::shape_of(frame.result_type) != sql::Shape::record) {
      throw SqlError{sqlstate::datatype_mismatch,
                     "cannot return non-composite value from function returning composite type"};
    }
    const RecordView view{frame.result};
    const auto& columns = table_->relation.columns;
    if (view.size() != shape_->fields.size()) {
      throw sql_error(sqlstate::datatype_mismatch,
                      "returned row structure does not match the structure of the triggering table")
          .with_detail("Number of returned columns (" + std::to_string(view.size()) +
                       ") does not match expected column count (" +
                       std::to_string(shape_->fields.size()) + ").");
    }
    const std::span<Value> row{arena.allocate_array<Value>(columns.size()), columns.size()};
    const std::span<const Value> before = call.new_row.empty() ? call.old_row : call.new_row;
    std::size_t field = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].dropped) {
        row[i] = i < before.size() ? before[i].copy_to(arena) : Value::null();
        continue;
      }
      const Shape::Field& to = shape_->fields[field];
      row[i] =
          frame.convert(view.field(field), view.type(field), to.type, to.typmod).copy_to(arena);
      ++field;
    }
    return row;
  }

  CallablePtr callable_;
  TablePtr table_;
  std::unique_ptr<Program> program_;
  FramePool frames_;
  ShapePtr shape_;
  bool has_dropped_ = false;
  bool mentions_call_ = true;
  std::size_t new_ = kNone;
  std::size_t old_ = kNone;
  std::size_t first_ = kNone;
};

class PlpgsqlEventTrigger final : public EventTriggerCode {
 public:
  PlpgsqlEventTrigger(StatementContext& session, const CallablePtr& callable)
      : callable_(callable),
        program_(read_program(session, {callable->routine, {}, TypeId::void_})),
        frames_(*program_) {
    const auto& variables = program_->variables;
    const auto event = std::ranges::find(variables, "tg_event", &Variable::name);
    first_ = static_cast<std::size_t>(event - variables.begin());
  }

  void run(StatementContext& session, std::string_view event, std::string_view tag) override {
    check_stack();
    const FramePool::Use use{frames_, session, *callable_->routine};
    Frame& frame = use.frame();
    try {
      frame.phase = "during function entry";
      frame.set_place(program_->variables[first_].place, Value::from_text(event));
      frame.set_place(program_->variables[first_ + 1].place, Value::from_text(tag));
      frame.set_found(false);
      frame.phase = {};
      frame.at = program_->body.get();
      program_->body->run(frame);
      frame.at = nullptr;
    } catch (SqlError& error) {
      frame.add_place(error);
      throw;
    }
  }

 private:
  CallablePtr callable_;
  std::unique_ptr<Program> program_;
  FramePool frames_;
  std::size_t first_ = 0;
};

}  // namespace

EventTriggerCodePtr make_event_trigger_code(StatementContext& session,
                                            const CallablePtr& callable) {
  return std::make_shared<PlpgsqlEventTrigger>(session, callable);
}

TriggerCodePtr make_trigger_code(StatementContext& session, const CallablePtr& callable,
                                 const TablePtr& table) {
  return std::make_shared<PlpgsqlTrigger>(session, callable, table);
}

}  // namespace swizzle::sql::plpgsql

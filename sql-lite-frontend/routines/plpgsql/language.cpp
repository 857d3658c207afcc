#include "sql-lite-frontend/routines/plpgsql/language.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/routines/plpgsql/context.h"
#include "sql-lite-frontend/routines/plpgsql/frame_pool.h"
#include "sql-lite-frontend/routines/plpgsql/parser.h"
#include "sql-lite-frontend/routines/plpgsql/results.h"
#include "sql-lite-frontend/routines/plpgsql/scanner.h"
#include "sql-lite-frontend/routines/plpgsql/shapes.h"
#include "sql-lite-frontend/routines/plpgsql/triggers.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace plpgsql {
namespace {

class PlpgsqlCode final : public RoutineCode {
 public:
  PlpgsqlCode(StatementContext& session, const RoutineCall& call)
      : call_(call),
        program_(read_program(session, {.routine = call.callable->routine,
                                        .argument_types = call.argument_types,
                                        .result = call.result,
                                        .collation = call.collation})),
        frames_(*program_) {}

  bool is_current(StatementContext& session) override {
    if (program_->row_types.empty() || program_->checked_at == session.catalog.stamp()) return true;
    for (const Program::RowType& known : program_->row_types) {
      const auto row = session.names.row_shape(known.type);
      if (!row || !known.shape || known.shape->fields != shape_of(*row)->fields) return false;
    }
    program_->checked_at = session.catalog.stamp();
    return true;
  }

  void run(StatementContext& session, std::span<const Value> arguments,
           const TakeRow& take) override {
    check_stack();
    const FramePool::Use use{frames_, session, *call_.callable->routine};
    Frame& frame = use.frame();
    frame.call = &call_;
    frame.take = &take;
    try {
      frame.phase = "during function entry";
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        frame.set_place(program_->variables[i].place, arguments[i]);
      }
      frame.set_found(false);
      frame.phase = {};
      finish(frame, run_body(frame));
    } catch (SqlError& error) {
      frame.add_place(error);
      throw;
    }
  }

 private:
  static Flow run_body(Frame& frame) {
    frame.at = frame.program.body.get();
    const Flow flow = frame.program.body->run(frame);
    frame.at = nullptr;
    return flow;
  }

  void finish(Frame& frame, Flow flow) const {
    const Routine& routine = *call_.callable->routine;
    if (routine.returns_set) return;
    if (!program_->outputs.empty()) return give_outputs(frame);
    if (call_.result == TypeId::void_) return give_void(frame, routine);
    if (flow != Flow::returned) {
      throw SqlError{SqlState{"2F005"}, "control reached end of function without RETURN"};
    }
    frame.phase = "while casting return value to function's return type";
    give_value(frame, frame.result, {frame.result_type, frame.result_shape},
               "returned record type does not match expected record type");
    frame.phase = {};
  }

  /// A function that returns void gives a void that is not NULL; one in SQL gives NULL.
  static void give_void(Frame& frame, const Routine& routine) {
    if (routine.kind != RoutineKind::function) return;
    const Value nothing = Value::from_int(0);
    static_cast<void>((*frame.take)({&nothing, 1}));
  }

  RoutineCall call_;
  std::unique_ptr<Program> program_;
  FramePool frames_;
};

/// Returns the type assumed for a polymorphic one when there is no call, as in CREATE FUNCTION.
/// Event triggers' functions return nothing.
TypeId concrete(TypeId type) {
  if (type == TypeId::event_trigger) return TypeId::void_;
  if (!is_polymorphic(type)) return type;
  const bool is_array = type == TypeId::anyarray || type == TypeId::anycompatiblearray;
  return is_array ? array_type(TypeId::int4) : TypeId::int4;
}

class PlpgsqlLanguage final : public RoutineLanguage {
 public:
  void check(StatementContext& session, const CallablePtr& callable) const override {
    const RoutinePtr& routine = callable->routine;
    std::vector<TypeId> types;
    for (const RoutineParameter& parameter : routine->parameters) {
      const bool is_given = parameter.is_input() || routine->kind == RoutineKind::procedure;
      if (is_given) types.push_back(concrete(parameter.type));
    }
    try {
      static_cast<void>(read_program(session, {routine, types, concrete(routine->result),
                                               routine->result == TypeId::trigger}));
    } catch (SqlError& error) {
      note_place(error, *routine);
      throw;
    }
  }

  RoutineCodePtr prepare(StatementContext& session, const RoutineCall& call) const override {
    const RoutinePtr& routine = call.callable->routine;
    try {
      return std::make_shared<PlpgsqlCode>(session, call);
    } catch (SqlError& error) {
      note_place(error, *routine);
      error.fields().position = 0;
      throw;
    }
  }

  TriggerCodePtr prepare_trigger(StatementContext& session, const CallablePtr& callable,
                                 const TablePtr& table) const override {
    return make_trigger_code(session, callable, table);
  }
  EventTriggerCodePtr prepare_event_trigger(StatementContext& session,
                                            const CallablePtr& callable) const override {
    return make_event_trigger_code(session, callable);
  }

 private:
  static void note_place(SqlError& error, const Routine& routine) {
    const auto offset = static_cast<std::size_t>(std::max(error.fields().position, 1) - 1);
    error.fields().where =
        fmt::format("compilation of PL/pgSQL function \"{}\" near line {}", routine.name,
                    line_of(routine.body, std::min(offset, routine.body.size())));
  }
};

}  // namespace
}  // namespace plpgsql

const RoutineLanguage& plpgsql_language() {
  static const plpgsql::PlpgsqlLanguage kLanguage;
  return kLanguage;
}

}  // namespace swizzle::sql

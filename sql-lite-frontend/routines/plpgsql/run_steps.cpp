#include <fmt/format.h>

#include "sql-lite-frontend/routines/plpgsql/context.h"
#include "sql-lite-frontend/routines/plpgsql/frame.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// Runs blocks, assignments, conditionals and loops.
namespace swizzle::sql::plpgsql {
namespace {

/// Scope in which CONTEXT shows this text instead of the step's.
class Phase {
 public:
  Phase(Frame& frame, std::string_view phase, int line) : frame_(frame) {
    frame.phase = phase;
    frame.line = line;
  }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
  void end() const {
    frame_.phase = {};
    frame_.line = 0;
  }
  ~Phase() = default;

 private:
  Frame& frame_;
};

/// Counts the enclosing blocks with EXCEPTION, whose changes an error rolls back, while their steps
/// run.
class Guarded {
 public:
  explicit Guarded(int& blocks) noexcept : blocks_(blocks) { ++blocks_; }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { --blocks_; }

 private:
  int& blocks_;
};

void initialize(Frame& frame, std::size_t index) {
  const Variable& variable = frame.program.variables[index];
  if (variable.kind == Variable::Kind::record) {
    frame.forget_record(variable.place);
  } else {
    frame.values[variable.place] = Value::null();
  }
  // A bound cursor's portal has its name.
  if (variable.cursor) frame.set_place(variable.place, Value::from_text(variable.name));
  if (!variable.initial) {
    // A domain may refuse NULL.
    if (is_domain(variable.type)) frame.assign(index, Value::null(), TypeId::unknown);
    return;
  }
  const RowScope scope{frame.execution};
  const Value value = variable.initial->evaluate(frame);
  frame.assign(index, value, variable.initial->type());
}

/// Handles an error, outside of any catch block, because rolling back may park the fiber.
Flow handle(Frame& frame, const BlockStep& block, const BlockStep::Handler& handler,
            const Caught& caught) {
  const auto set = [&](std::size_t variable, std::string_view text) {
    frame.set_place(frame.program.variables[variable].place, Value::from_text(text));
  };
  set(block.sqlstate, caught.state.code());
  set(block.sqlerrm, caught.message);
  frame.caught.push_back(&caught);
  const std::size_t depth = frame.caught.size();
  const Flow flow = frame.run_steps(handler.steps);
  frame.caught.resize(depth - 1);
  return flow;
}

}  // namespace

Flow BlockStep::run(Frame& frame) {
  check_stack();
  for (const std::size_t index : declared) {
    const Phase phase{frame, "during statement block local variable initialization",
                      frame.program.variables[index].line};
    initialize(frame, index);
    phase.end();
  }
  Flow flow = Flow::next;
  if (handlers.empty()) {
    flow = frame.run_steps(steps);
  } else {
    StatementContext& session = frame.session;
    const StatementTransaction::Savepoint mark = session.transaction.mark();
    const std::size_t depth = frame.caught.size();
    std::optional<Caught> failure;
    try {
      const Guarded guarded{session.transaction.guarded_blocks};
      flow = frame.run_steps(steps);
    } catch (SqlError& error) {
      frame.add_place(error);
      failure.emplace(error);
    } catch (const std::bad_alloc&) {
      SqlError error{sqlstate::out_of_memory, "out of memory"};
      frame.add_place(error);
      failure.emplace(error);
    }
    if (failure) {
      frame.at = this;
      frame.phase = {};
      frame.line = 0;
      frame.caught.resize(depth);
      const Handler* chosen = nullptr;
      for (const Handler& each : handlers) {
        for (const Condition& condition : each.conditions) {
          if (chosen == nullptr && condition.matches(failure->state)) chosen = &each;
        }
      }
      if (chosen == nullptr) {
        frame.context_told = true;
        throw failure->as_error();
      }
      session.inner.note_failure(failure->state, failure->message);
      session.transaction.roll_back_to(mark);
      flow = handle(frame, *this, *chosen, *failure);
    }
  }
  if (flow == Flow::exit_loop && !frame.label.empty() && frame.label == label) {
    frame.label.clear();
    return Flow::next;
  }
  return flow;
}

Flow AssignStep::run(Frame& frame) {
  const RowScope scope{frame.execution};
  const Value assigned = value->evaluate(frame);
  const Variable& variable = frame.program.variables[target.variable];
  if (target.field.empty() && variable.takes_at_once(value->type()) && !assigned.is_null())
      [[likely]] {
    frame.set_place(variable.place, assigned);
    return Flow::next;
  }
  try {
    frame.assign(target, assigned, value->type());
  } catch (SqlError& error) {
    // Errors that PostgreSQL finds before the expression runs have it as context: a missing field,
    // and a constant that cannot be converted.
    const bool is_field = error.state() == sqlstate::undefined_column && !target.field.empty();
    const bool is_value = error.state().code().starts_with("22") &&
                          error.state() != sqlstate::null_value_not_allowed && value->is_folded();
    if (is_field || is_value) add_sql_context(error, value->context());
    throw;
  }
  return Flow::next;
}

Flow IfStep::run(Frame& frame) {
  for (const Branch& branch : branches) {
    if (frame.is_true(*branch.condition)) return frame.run_steps(branch.steps);
  }
  return frame.run_steps(otherwise);
}

Flow CaseStep::run(Frame& frame) {
  if (subject) {
    const RowScope scope{frame.execution};
    const Value value = subject->evaluate(frame);
    Variable& variable_of = frame.program.variables[variable];
    variable_of.type = subject->type();
    frame.assign(variable, value, subject->type());
  }
  for (const IfStep::Branch& branch : branches) {
    if (!frame.is_true(*branch.condition)) continue;
    if (subject) frame.values[frame.program.variables[variable].place] = Value::null();
    return frame.run_steps(branch.steps);
  }
  if (has_else) return frame.run_steps(otherwise);
  throw SqlError{SqlState{"20000"}, "case not found"}.with_hint(
      "CASE statement is missing ELSE part.");
}

namespace {

/// Result of a loop's body: next iteration, end of the loop, or end of an outer step too.
enum class Turn : std::uint8_t { again, done, leave };
Turn turn_after(Frame& frame, const LoopStep& loop, Flow& flow) {
  if (flow == Flow::next) return Turn::again;
  const bool is_meant = frame.label.empty() || frame.label == loop.label;
  if (flow == Flow::returned || !is_meant) return Turn::leave;
  frame.label.clear();
  const bool goes_on = flow == Flow::continue_loop;
  flow = Flow::next;
  return goes_on ? Turn::again : Turn::done;
}

}  // namespace

Flow PlainLoopStep::run(Frame& frame) {
  for (;;) {
    frame.execution.tick();
    Flow flow = frame.run_steps(steps);
    if (turn_after(frame, *this, flow) != Turn::again) return flow;
  }
}

Flow WhileStep::run(Frame& frame) {
  while (frame.is_true(*condition)) {
    frame.execution.tick();
    Flow flow = frame.run_steps(steps);
    if (turn_after(frame, *this, flow) != Turn::again) return flow;
  }
  return Flow::next;
}

namespace {

std::int32_t bound_of(Frame& frame, Expression& expression, std::string_view what) {
  const RowScope scope{frame.execution};
  const Value value = expression.evaluate(frame);
  const Value number = frame.convert(value, expression.type(), TypeId::int4, kNoTypmod);
  if (number.is_null()) {
    throw_error(sqlstate::null_value_not_allowed, "{} of FOR loop cannot be null", what);
  }
  return number.as_int4();
}

}  // namespace

Flow ForIntegerStep::run(Frame& frame) {
  std::int64_t at = bound_of(frame, *lower, "lower bound");
  const std::int64_t end = bound_of(frame, *upper, "upper bound");
  std::int64_t step_size = 1;
  if (by) {
    step_size = bound_of(frame, *by, "BY value");
    if (step_size <= 0) {
      throw SqlError{sqlstate::invalid_parameter_value,
                     "BY value of FOR loop must be greater than zero"};
    }
  }
  const std::size_t place = frame.program.variables[variable].place;
  bool found = false;
  Flow flow = Flow::next;
  while (is_reverse ? at >= end : at <= end) {
    found = true;
    frame.values[place] = Value::from_int(at);
    frame.execution.tick();
    flow = frame.run_steps(steps);
    if (flow != Flow::next && turn_after(frame, *this, flow) != Turn::again) break;
    flow = Flow::next;
    at += is_reverse ? -step_size : step_size;
    if (at > INT32_MAX || at < INT32_MIN) break;
  }
  frame.set_found(found);
  return flow;
}

namespace {

/// Assigns each field of a row to one of several variables.
void assign_spread(Frame& frame, const Targets& targets, const Value& row, TypeId type) {
  if (sql::shape_of(base_type(type)) != sql::Shape::record) {
    throw SqlError{sqlstate::datatype_mismatch,
                   "cannot assign non-composite value to a row variable"};
  }
  auto shape = std::make_shared<Shape>();
  std::vector<Value> fields;
  if (!row.is_null()) {
    const RecordView view{row};
    for (std::size_t i = 0; i < view.size(); ++i) {
      shape->fields.push_back({"", view.type(i), kNoTypmod});
      fields.push_back(view.field(i));
    }
  }
  frame.assign_row(targets, shape, fields);
}

}  // namespace

Flow ForeachStep::run(Frame& frame) {
  Arena kept{256};
  kept.count_in(frame.execution.memory);
  Value whole;
  {
    const RowScope scope{frame.execution};
    whole = array->evaluate(frame).copy_to(kept);
  }
  if (whole.is_null()) {
    throw SqlError{sqlstate::null_value_not_allowed, "FOREACH expression must not be null"};
  }
  const TypeId element = element_type(array->type());
  if (element == TypeId::none) {
    throw_error(sqlstate::datatype_mismatch, "FOREACH expression must yield an array, not type {}",
                format_type(array->type()));
  }
  const ArrayView view{whole};
  std::vector<ArrayDimension> dimensions;
  for (std::size_t i = 0; i < view.dimension_count(); ++i) dimensions.push_back(view.dimension(i));
  if (slice < 0 || (slice > static_cast<int>(dimensions.size()) && !dimensions.empty())) {
    throw_error(sqlstate::array_subscript_error,
                "slice dimension ({}) is out of the valid range 0..{}", slice, dimensions.size());
  }
  const Variable& first = frame.program.variables[targets[0].variable];
  const bool is_array_target =
      first.kind == Variable::Kind::scalar && element_type(first.type) != TypeId::none;
  if (slice > 0 && !is_array_target) {
    throw SqlError{sqlstate::datatype_mismatch,
                   "FOREACH ... SLICE loop variable must be of an array type"};
  }
  if (slice == 0 && is_array_target && element_type(element) == TypeId::none) {
    throw SqlError{sqlstate::datatype_mismatch,
                   "FOREACH loop variable must not be of an array type"};
  }
  const std::size_t kept_dimensions = dimensions.empty() ? 0 : static_cast<std::size_t>(slice);
  const std::span<const ArrayDimension> of_part = std::span{dimensions}.last(kept_dimensions);
  std::size_t per_turn = 1;
  for (const ArrayDimension& each : of_part) per_turn *= static_cast<std::size_t>(each.length);
  std::vector<Value> elements;
  for (std::size_t i = 0; i < view.size(); ++i) elements.push_back(view.element(i));
  bool found = false;
  Flow flow = Flow::next;
  for (std::size_t at = 0; at + per_turn <= elements.size(); at += per_turn) {
    found = true;
    frame.execution.tick();
    {
      const RowScope scope{frame.execution};
      if (slice == 0) {
        if (targets.size() == 1) {
          frame.assign(targets[0], elements[at], element);
        } else {
          assign_spread(frame, targets, elements[at], element);
        }
      } else {
        const std::span<const Value> part{&elements[at], per_turn};
        frame.assign(targets[0], make_array(frame.execution.row_arena, element, of_part, part),
                     array->type());
      }
    }
    flow = frame.run_steps(steps);
    if (turn_after(frame, *this, flow) != Turn::again) break;
    flow = Flow::next;
  }
  frame.set_found(found);
  return flow;
}

Flow ExitStep::run(Frame& frame) {
  if (when && !frame.is_true(*when)) return Flow::next;
  frame.label = label;
  return is_exit ? Flow::exit_loop : Flow::continue_loop;
}

}  // namespace swizzle::sql::plpgsql

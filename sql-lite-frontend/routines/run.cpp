#include "sql-lite-frontend/routines/run.h"

#include "sql-lite-frontend/execution/rows/row_store.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/statement/transactions/inner_transactions.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/record/record.h"

/// Calls of routines in any language.
namespace swizzle::sql {

struct RoutineCallState final : ExpressionState {
  /// Weak, because a recursive routine's code has plans whose runs refer to it.
  std::weak_ptr<RoutineCode> code;
  Oid user = kNoOid;
};

RoutineFrame::RoutineFrame(StatementContext& session, const Routine& routine)
    : session_(session),
      user_(session.user),
      has_settings_(!routine.settings.empty()),
      tables_before_(session.trigger_tables) {
  if (routine.security_definer) {
    acting_.emplace(session, routine.owner, ActingUser::As::definer);
  }
  if (has_settings_) apply_settings(routine);
  // Transition tables are visible to the trigger's own function only.
  session.trigger_tables = nullptr;
}

void RoutineFrame::apply_settings(const Routine& routine) {
  mark_ = session_.settings.mark();
  settings_version_ = session_.variables.version();
  try {
    for (const std::string& setting : routine.settings) {
      const std::size_t equals = setting.find('=');
      const std::string name = setting.substr(0, equals);
      require_may_set(session_, name);
      value_of(session_.settings.set(name, setting.substr(equals + 1),
                                     SessionSettings::Lifetime::transaction));
      ++own_settings_;
    }
    session_.variables.changed(nullptr);
  } catch (...) {
    session_.settings.roll_back_to(mark_);
    throw;
  }
  session_.variables.begin_inner();
}

RoutineFrame::~RoutineFrame() {
  session_.trigger_tables = tables_before_;
  if (!has_settings_) return;
  if (std::uncaught_exceptions() > failures_) {
    session_.settings.roll_back_to(mark_);
  } else {
    session_.settings.end_own(mark_, own_settings_);
  }
  session_.variables.changed(nullptr);
  session_.variables.end_inner(settings_version_);
  // Settings made by the routine itself stay.
  if (session_.settings.mark() != mark_) session_.variables.invalidate();
  acting_.reset();
  ActingUser::change(session_, user_);
}

RoutineCodePtr RoutineCodes::find(StatementContext& session, const RoutineCall& call) {
  const RoutinePtr& routine = call.callable->routine;
  Key key{routine->oid,      session.user,        call.argument_types,
          call.column_types, call.column_typmods, call.collation};
  if (codes_.size() >= kMost && !codes_.contains(key)) codes_.clear();
  Known& known = codes_[std::move(key)];
  if (known.routine != routine || !known.code || !known.code->is_current(session)) {
    known.code = nullptr;
    known.code = require_language(routine->language).prepare(session, call);
    known.routine = routine;
  }
  return known.code;
}

RoutineCodes& routine_codes_of(StatementContext& session) {
  if (!session.routine_codes) session.routine_codes = std::make_shared<RoutineCodes>();
  return *session.routine_codes;
}

void run_routine(StatementContext& session, const RoutineCall& call,
                 std::span<const Value> arguments, const TakeRow& take) {
  check_stack();
  session.check_cancelled();
  const Routine& routine = *call.callable->routine;
  const RoutineFrame frame{session, routine};
  const RoutineCodePtr code = routine_codes_of(session).find(session, call);
  // A role or setting for the call alone would not survive the end of a transaction.
  const bool may_end = routine.kind == RoutineKind::procedure && !routine.security_definer &&
                       routine.settings.empty();
  const TransactionControl control{session.transaction, may_end && session.transaction.may_end};
  code->run(session, arguments, take);
}

namespace {

/// Returns a row of the result as one value for the caller: the value, or a record of several.
Value as_one_value(const RoutineCall& call, std::span<const Value> row, Arena& arena) {
  if (call.column_types.empty()) return row.empty() ? Value::null() : row[0].copy_to(arena);
  return make_record(arena, call.column_types, row);
}

}  // namespace

Value call_routine(Execution& caller, const RoutineCall& call, StatePlace place,
                   std::span<const Value> arguments) {
  check_stack();
  StatementContext& session = context_of(caller);
  caller.tick();
  session.check_cancelled();
  Value result = Value::null();
  const auto take = [&](std::span<const Value> row) {
    result = as_one_value(call, row, caller.row_arena);
    return false;
  };
  const RoutineFrame frame{session, *call.callable->routine};
  auto& state = caller.state_of<RoutineCallState>(place);
  RoutineCodePtr code = state.user == session.user ? state.code.lock() : nullptr;
  if (!code || !code->is_current(session)) {
    code = routine_codes_of(session).find(session, call);
    state.code = code;
    state.user = session.user;
  }
  const TransactionControl control{session.transaction, false};
  code->run(session, arguments, take);
  return result;
}

namespace {

/// Rows of a call that has run to its end: others may run before they have all been read.
class KeptRows final : public SetCursor {
 public:
  explicit KeptRows(MemoryAccount* account) : account_(account) {}

  void keep(const RoutineCall& call, std::span<const Value> row) {
    rows_.push_back(as_one_value(call, row, arena_));
    share_.set(account_, arena_.reserved_bytes() + rows_.capacity() * sizeof(Value));
  }
  std::optional<Value> next(FunctionContext&) override {
    if (at_ == rows_.size()) return std::nullopt;
    return rows_[at_++];
  }

 private:
  MemoryAccount* account_;
  MemoryShare share_;
  Arena arena_;
  std::vector<Value> rows_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<SetCursor> open_routine(Execution& caller, const RoutineCall& call,
                                        std::span<const Value> arguments) {
  StatementContext& session = context_of(caller);
  const bool returns_set = call.callable->routine->returns_set;
  auto rows = std::make_unique<KeptRows>(caller.memory);
  std::size_t count = 0;
  run_routine(session, call, arguments, [&](std::span<const Value> row) {
    rows->keep(call, row);
    ++count;
    return returns_set;
  });
  if (count == 0 && !returns_set) {
    const Value nothing = Value::null();
    if (call.column_types.empty()) {
      rows->keep(call, {&nothing, 1});
    } else {
      const std::vector<Value> nulls(call.column_types.size());
      rows->keep(call, nulls);
    }
  }
  return rows;
}

}  // namespace swizzle::sql

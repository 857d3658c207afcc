#include "sql-lite-frontend/routines/triggers/fire.h"

#include <algorithm>

#include "sql-lite-frontend/execution/write/foreign_keys.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/routines/triggers/builtin_triggers.h"
#include "sql-lite-frontend/routines/triggers/trigger_codes.h"
#include "sql-lite-frontend/statement/transactions/inner_transactions.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

TriggerCodes::Found TriggerCodes::find(StatementContext& session, const CallablePtr& callable,
                                       const TablePtr& table, const Trigger& trigger) {
  const RoutinePtr& routine = callable->routine;
  const std::tuple key{session.user, routine->oid, table->relation.oid,
                       names_transition_tables(trigger) ? trigger.oid : kNoOid};
  if (codes_.size() >= kMost && !codes_.contains(key)) codes_.clear();
  Known& known = codes_[key];
  const bool fits = known.routine == routine && known.table == table &&
                    known.old_name == trigger.old_table && known.new_name == trigger.new_table;
  if (!fits) {
    known.found = {require_language(routine->language).prepare_trigger(session, callable, table),
                   transition_tables_of(trigger, *table)};
    known.routine = routine;
    known.table = table;
    known.old_name = trigger.old_table;
    known.new_name = trigger.new_table;
  }
  return known.found;
}

TriggerCodes::Latest TriggerCodes::latest(const RoleStamp& now, const TablePtr& table,
                                          const Trigger& trigger) const {
  const bool is_it =
      latest_trigger_ == trigger.oid && latest_table_ == table && latest_stamp_ == now;
  return is_it ? latest_ : Latest{};
}

void TriggerCodes::note_latest(const RoleStamp& now, const TablePtr& table, const Trigger& trigger,
                               Latest latest) {
  if (names_transition_tables(trigger)) return;
  latest_ = std::move(latest);
  latest_trigger_ = trigger.oid;
  latest_table_ = table;
  latest_stamp_ = now;
}

bool may_fire(StatementContext& session, const Trigger& trigger) {
  if (session.transaction.clears_temporaries()) return false;
  if (trigger.enabled == 'A') return true;
  return trigger.enabled == (session.acts_as_replica() ? 'R' : 'O');
}

namespace {

class Depth {
 public:
  explicit Depth(std::int32_t& depth) noexcept : depth_(depth) { ++depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() { --depth_; }

 private:
  std::int32_t& depth_;
};

}  // namespace

std::optional<std::span<const Value>> fire_trigger(Execution& execution, const Trigger& trigger,
                                                   const TablePtr& table, TriggerEvent event,
                                                   const FiredRows& rows) {
  check_stack();
  StatementContext& session = context_of(execution);
  execution.tick();
  session.check_cancelled();
  if (const auto* const builtin = find_builtin_trigger_function(trigger.function)) {
    return builtin->run(execution, trigger, table, event, rows);
  }
  if (!session.trigger_codes) session.trigger_codes = std::make_shared<TriggerCodes>();
  TriggerCodes& codes = *session.trigger_codes;
  // Read before SECURITY DEFINER changes the role.
  const RoleStamp now = session.role_stamp();
  auto [callable, code] = codes.latest(now, table, trigger);
  if (!callable) callable = session.names.routine(trigger.function);
  if (!callable) {
    throw_error(SqlState{"XX000"}, "cache lookup failed for function {}", trigger.function);
  }
  const RoutineFrame frame{session, *callable->routine};
  TriggerCodes::Found found{code, {}};
  if (!code) {
    found = codes.find(session, callable, table, trigger);
    codes.note_latest(now, table, trigger, {callable, found.code});
  }
  if (names_transition_tables(trigger)) {
    found.tables.rows = rows.changed;
    session.trigger_tables = &found.tables;
  }
  // A trigger runs inside a statement, so it cannot end the transaction.
  const TransactionControl control{session.transaction, false};
  const Depth depth{session.trigger_depth};
  const ReferenceQueue::Aside aside{session.transaction.references()};
  TriggerCall call;
  call.name = trigger.name;
  call.time = trigger.time;
  call.event = event;
  call.for_each_row = trigger.for_each_row;
  call.table = table;
  call.arguments = trigger.arguments;
  call.old_row = rows.old_row;
  call.new_row = rows.new_row;
  return found.code->run(session, call, execution.row_arena);
}

void fire_deferred_trigger(StatementContext& session, const TablePtr& table,
                           const DeferredCheck& check) {
  const auto& triggers = table->relation.triggers;
  const auto trigger = std::ranges::find(triggers, check.constraint, &Trigger::constraint);
  if (trigger == triggers.end()) return;
  using Kind = DeferredCheck::Kind;
  const std::size_t columns = table->relation.columns.size();
  FiredRows rows;
  TriggerEvent event = TriggerEvent::insert;
  if (check.kind != Kind::after_insert) rows.old_row = check.values.first(columns);
  if (check.kind != Kind::after_delete) rows.new_row = check.values.last(columns);
  if (check.kind == Kind::after_update) event = TriggerEvent::update;
  if (check.kind == Kind::after_delete) event = TriggerEvent::remove;
  const std::unique_ptr<Scratch> scratch = session.new_scratch();
  scratch->execution.transaction = session.transaction.get();
  fire_trigger(scratch->execution, *trigger, table, event, rows);
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/triggers/fire.h"

#include "sql-lite-frontend/execute/foreign_keys.h"
#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

TriggerCodePtr TriggerCodes::find(Session::State& session, const CallablePtr& callable,
                                  const TablePtr& table) {
  const RoutinePtr& routine = callable->routine;
  const std::pair key{routine->oid, table->relation.oid};
  if (codes_.size() >= kMost && !codes_.contains(key)) codes_.clear();
  Known& known = codes_[key];
  if (known.routine != routine || known.table != table) {
    known.code = require_language(routine->language).prepare_trigger(session, callable, table);
    known.routine = routine;
    known.table = table;
  }
  return known.code;
}

bool may_fire(const Session::State& /*session*/, const Trigger& trigger) {
  return trigger.enabled == 'O' || trigger.enabled == 'A';
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

std::optional<std::span<const Value>> fire(Execution& execution, const Trigger& trigger,
                                           const TablePtr& table, TriggerEvent event,
                                           const FiredRows& rows) {
  check_stack();
  Session::State& session = execution.session;
  execution.tick();
  check_cancelled(session);
  const CallablePtr callable = session.routine(trigger.function);
  if (!callable) {
    throw_error(SqlState{"XX000"}, "cache lookup failed for function {}", trigger.function);
  }
  if (!session.trigger_codes) session.trigger_codes = std::make_shared<TriggerCodes>();
  const RoutineFrame frame{session, *callable->routine};
  const TriggerCodePtr code = session.trigger_codes->find(session, callable, table);
  const Depth depth{session.trigger_depth};
  const ReferenceQueue::Aside aside{session.references};
  TriggerCall call;
  call.name = trigger.name;
  call.time = trigger.time;
  call.event = event;
  call.for_each_row = trigger.for_each_row;
  call.table = table;
  call.arguments = trigger.arguments;
  call.old_row = rows.old_row;
  call.new_row = rows.new_row;
  return code->run(session, call, execution.row_arena);
}

}  // namespace swizzle::sql

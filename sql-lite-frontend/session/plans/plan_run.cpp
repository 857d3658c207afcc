#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {
PlanRun& SessionPlans::run_of(Portal& portal) {
  if (portal.run) return *portal.run;
  PlanUse& use = *portal.use;
  portal.run = IdleRuns::take(use);
  if (portal.run) [[likely]]
    return *portal.run;
  portal.run = use.own ? std::make_unique<PlanRun>(session_, use.own)
                       : std::make_unique<PlanRun>(session_, use.plan);
  return *portal.run;
}

PlanRun& SessionPlans::begin_run(Portal& portal) {
  PlanRun& run = run_of(portal);
  Execution& execution = run.execution;
  execution.row_arena.reset();
  execution.parameters = portal.parameters;
  execution.transaction = session_.transaction.get();
  execution.run = session_.new_run();
  portal.state = Portal::State::running;
  run.use_tables(session_.tables_in_use);
  return run;
}

void SessionPlans::give_back_run(Portal& portal) {
  if (!portal.run || portal.use->own) return;
  idle_runs_.put(*portal.use, std::move(portal.run));
}

}  // namespace swizzle::sql

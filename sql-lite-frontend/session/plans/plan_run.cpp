#include "sql-lite-frontend/execute/steps/step_copies.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {
namespace {

/// Most runs' rows take less, and a session keeps many runs.
constexpr std::size_t kFirstRowBytes = 1024;

}  // namespace

PlanRun::PlanRun(Session::State& session, std::shared_ptr<const Plan> of)
    : plan(std::move(of)), execution(session, session.session_context) {
  execution.row_arena = Arena{kFirstRowBytes};
  execution.row_arena.count_in(execution.memory);
  execution.names = &session.names;
  execution.slots.resize(plan->slot_count);
  StepCopies copies{execution};
  copy = copies.copy(plan->root);
  root = copy.get();
  write = copies.copy_of(plan->write);
}

PlanRun::PlanRun(Session::State& session, const std::shared_ptr<Plan>& own)
    : plan(own),
      execution(session, session.session_context),
      root(own->root.get()),
      write(own->write) {
  execution.slots.resize(plan->slot_count);
}

PlanUse::~PlanUse() {
  if (keeper != nullptr) keeper->forget(*this);
}

void IdleRuns::put(PlanUse& use, std::unique_ptr<PlanRun> run) {
  use.idle = std::move(run);
  use.was_used = true;
  if (use.keeper != nullptr) return;
  use.keeper = this;
  if (places_.size() < kRuns) {
    use.place = places_.size();
    places_.push_back(&use);
    return;
  }
  // Second-chance eviction.
  for (;; hand_ = (hand_ + 1) % kRuns) {
    PlanUse* const victim = places_[hand_];
    if (victim == nullptr) break;
    if (std::exchange(victim->was_used, false)) continue;
    victim->idle.reset();
    victim->keeper = nullptr;
    break;
  }
  use.place = hand_;
  places_[hand_] = &use;
  hand_ = (hand_ + 1) % kRuns;
}

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
  execution.run = next_run_++;
  portal.state = Portal::State::running;
  run.use_tables(in_use);
  return run;
}

void SessionPlans::give_back_run(Portal& portal) {
  if (!portal.run || portal.use->own) return;
  idle_runs_.put(*portal.use, std::move(portal.run));
}

}  // namespace swizzle::sql

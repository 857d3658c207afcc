// StatementServices and InnerStatements, as the session implements them.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/parse/long_identifiers.h"
#include "sql-lite-frontend/routines/run.h"
#include "sql-lite-frontend/routines/triggers/fire.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/transactions/row_identities.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {

std::uint64_t Session::State::run_internal(const std::string& sql, std::span<const TypeId> types,
                                           std::span<const Value> parameters, ReadView::Sees sees,
                                           const RowVisitor& visit) {
  check_stack();
  const PortalPtr portal = portals.make(plans.internal(sql, types), parameters);
  portals.lock_tables(*portal, SessionPortals::Columns::open);
  const InnerStatement within{*transaction, sees};
  PlanRun& run = plans.begin_run(*portal);
  std::uint64_t rows = 0;
  try {
    run.open();
    RowScope scope{run.execution};
    std::vector<Value> row(visit ? run.plan->outputs.size() : 0);
    while (run.root->next(run.execution)) {
      ++rows;
      if (visit) {
        std::ranges::transform(run.plan->outputs, row.begin(),
                               [&](Slot slot) { return run.execution.slots[slot]; });
        visit(row);
      }
      scope.rewind();
    }
    if (run.write != nullptr) rows = run.write->written();
    portals.finish(*portal);
  } catch (...) {
    if (portal->run) run.end();
    throw;
  }
  return rows;
}

void Session::State::defer_check(const DeferredCheck& check) {
  transaction.defer(check);
}

bool Session::State::acts_as_replica() {
  return transaction.defaults().is_replica;
}

Value Session::State::call_routine(Execution& caller, const RoutineCall& call, StatePlace place,
                                   std::span<const Value> arguments) {
  return sql::call_routine(caller, call, place, arguments);
}

std::unique_ptr<SetCursor> Session::State::open_routine(Execution& caller, const RoutineCall& call,
                                                        std::span<const Value> arguments) {
  return sql::open_routine(caller, call, arguments);
}

bool Session::State::may_fire(const Trigger& trigger) {
  return sql::may_fire(*this, trigger);
}

std::optional<std::span<const Value>> Session::State::fire(Execution& execution,
                                                           const Trigger& trigger,
                                                           const TablePtr& table,
                                                           TriggerEvent event,
                                                           const FiredRows& rows) {
  return fire_trigger(execution, trigger, table, event, rows);
}

void Session::State::fire_deferred(const TablePtr& table, const DeferredCheck& check) {
  fire_deferred_trigger(*this, table, check);
}

StatementPtr Session::State::parse(const std::string& text) {
  return plans.parse(text, {});
}

void Session::State::analyze(Statement& statement) {
  plans.analyze(statement);
}

PlanUsePtr Session::State::plan_for(Statement& statement) {
  return plans.plan_for(statement, {});
}

PlanUsePtr Session::State::make_plan(Statement& statement) {
  return plans.make(statement);
}

bool Session::State::is_current(const PlanUsePtr& use) {
  return plans.is_current(use);
}

void Session::State::forget_role() noexcept {
  plans.forget_role();
}

PortalPtr Session::State::make_portal(StatementPtr statement, std::span<const Value> parameters) {
  return portals.make(std::move(statement), parameters);
}

PortalPtr Session::State::make_empty_portal() {
  return portals.make_empty();
}

void Session::State::recycle(PortalPtr portal) noexcept {
  portals.recycle(std::move(portal));
}

void Session::State::prepare_inner(Portal& portal, bool may_write) {
  portals.prepare_inner(portal, may_write);
}

PlanRun& Session::State::open_inner(Portal& portal, Reads reads) {
  return portals.open_inner(portal, reads);
}

void Session::State::start(Portal& portal) {
  portals.start(portal);
}

void Session::State::finish(Portal& portal) {
  portals.finish(portal);
}

PortalPtr Session::State::find_portal(std::string_view name) const {
  return portals.find(name);
}

std::uint64_t Session::State::last_portal_number() const noexcept {
  return portals.last_number();
}

void Session::State::fetch(const ast::FetchStmt& statement, ResultSink& sink) {
  portals.fetch(statement, sink);
}

void Session::State::close_portal(std::string_view name) {
  portals.close(name);
}

void Session::State::end_transaction(TransactionEnd end, NextTransaction next) {
  constexpr SqlState kInvalidTermination{"2D000"};
  const bool commits = end == TransactionEnd::commit;
  if (!transaction.may_end) {
    throw SqlError{kInvalidTermination, "invalid transaction termination"};
  }
  if (transaction.guarded_blocks > 0) {
    throw_error(kInvalidTermination, "cannot {} while a subtransaction is active",
                commits ? "commit" : "roll back");
  }
  for (PinnedRows* const rows : transaction.pinned_rows) rows->hold();
  portals.hold_pinned();
  const TransactionModes modes = transaction.modes();
  if (commits) {
    transaction.commit();
  } else {
    transaction.rollback();
  }
  transaction.begin(SessionTransaction::Block::implicit);
  // The statement goes on in a new transaction, which has a new timestamp.
  session_context.transaction_timestamp = SessionContext::system_clock_now();
  if (next == NextTransaction::same_modes) transaction.act_as(modes);
}

bool Session::State::tell_of_long_names(std::string_view text, ResultSink& sink) {
  const auto names_cut = for_bytes(text.size(), [&] { return long_identifiers(text); });
  for (const std::string& name : names_cut) {
    notice(
        sink, Severity::notice, SqlState{"42622"},
        fmt::format("identifier \"{}\" will be truncated to \"{}\"", name, cut_identifier(name)));
  }
  return !names_cut.empty();
}

const RowIdentityFunctions& Session::State::row_identity_functions() {
  return sql::row_identity_functions();
}

const Function& Session::State::identity_numbers() {
  return sql::identity_numbers();
}

}  // namespace swizzle::sql

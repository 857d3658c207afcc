#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/runtime/long_work.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/session/results/execute_sink.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInFailedBlock{"25P02"};

}  // namespace

void Session::State::check_not_failed(const ast::Node* node) {
  if (!transaction.is_failed()) return;
  if (const auto* end = ast::try_as<ast::TransactionStmt>(node)) {
    using Kind = ast::TransactionStmtKind;
    if (end->kind == Kind::commit || end->kind == Kind::prepare || end->kind == Kind::rollback ||
        end->kind == Kind::rollback_to) {
      return;
    }
  }
  throw SqlError{kInFailedBlock,
                 "current transaction is aborted, commands ignored until end of transaction block"};
}

namespace {

constexpr std::size_t kWorkOfStatement = 20'000;

}  // namespace

void Session::State::run_script(std::string_view text, ResultSink& sink) {
  MemoryShare text_share;
  if (text.size() > kLongestKeptText) text_share.set(&memory, text.size());
  const auto shared_script =
      for_bytes(text.size(), [&] { return std::make_shared<const std::string>(text); });
  const std::string& script = *shared_script;
  // A text that came before, as one plannable statement, needs no parsing.
  const StatementPtr known = script.size() <= kLongestKeptText ? plans.known_text(script) : nullptr;
  if (known) {
    check_not_failed(known->node);
    const bool alone = !transaction;
    if (alone) transaction.begin(SessionTransaction::Block::implicit);
    const PortalPtr portal = portals.make(known, {});
    portals.run_at_once(*portal, sink,
                        alone ? SessionPortals::AtEnd::commit : SessionPortals::AtEnd::stay);
    return;
  }
  const bool may_be_kept = !transaction.is_failed() && script.size() <= kLongestKeptText;
  if (may_be_kept && plans.shares_plans() && shared.plans.find_text(script)) {
    return run_kept_text(script, sink);
  }
  Arena arena;
  arena.count_in(&memory);
  const auto parsed = parse_script(arena, script);
  if (parsed.empty()) {
    sink.empty_query();
    return;
  }
  if (may_be_kept && parsed.size() == 1 && is_plannable(parsed[0]->stmt)) {
    return run_kept_text(script, sink);
  }
  struct Several {
    Session::State& state;
    ~Several() { state.transaction.in_script = false; }
  } const several{*this};
  transaction.in_script = parsed.size() > 1;
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    // Before each statement, so that other fibers run.
    yield_point(kWorkOfStatement);
    check_not_failed(parsed[i]->stmt);
    // Statements of one message are one transaction, unless they say otherwise.
    const bool is_last = i + 1 == parsed.size();
    run_statement(*parsed[i], shared_script, sink,
                  is_last ? SessionPortals::AtEnd::commit : SessionPortals::AtEnd::stay);
    if (is_last && transaction.is_implicit()) transaction.commit();
  }
}

/// A text that is one statement with a plan: its next run needs neither parser nor planner.
void Session::State::run_kept_text(const std::string& text, ResultSink& sink) {
  const StatementPtr statement = plans.parse(text, {});
  statement->takes_parameters = false;
  const bool alone = !transaction;
  if (alone) transaction.begin(SessionTransaction::Block::implicit);
  const PortalPtr portal = portals.make(statement, {});
  portals.run_at_once(*portal, sink,
                      alone ? SessionPortals::AtEnd::commit : SessionPortals::AtEnd::stay);
  if (statement->plan && !statement->plan->plan->single_use) plans.keep_text(text, statement);
}

void Session::State::run_statement(const ast::RawStmt& raw,
                                   const std::shared_ptr<const std::string>& script,
                                   ResultSink& sink, SessionPortals::AtEnd at_end) {
  auto statement = std::make_shared<Statement>();
  statement->script = script;
  statement->node = raw.stmt;
  statement->location = raw.stmt_location;
  statement->length = raw.stmt_len;
  statement->takes_parameters = false;
  if (const auto* control = ast::try_as<ast::TransactionStmt>(raw.stmt)) {
    transaction.run(*control, sink);
    return;
  }
  if (!transaction) transaction.begin(SessionTransaction::Block::implicit);
  if (is_plannable(raw.stmt)) {
    const PortalPtr portal = portals.make(statement, {});
    portals.run_at_once(*portal, sink,
                        transaction.is_implicit() ? at_end : SessionPortals::AtEnd::stay);
    return;
  }
  if (at_end == SessionPortals::AtEnd::stay || !transaction.is_implicit()) {
    return run_utility(raw.stmt, *statement, {}, sink);
  }
  HeldTag held{sink};
  run_utility(raw.stmt, *statement, {}, held);
  transaction.commit();
  held.tell();
}

void Session::State::note_query(std::string_view text) {
  if (text.size() < kLongBytes) [[likely]] {
    current_query = text;
  } else {
    current_query = for_bytes(text.size(), [&] { return std::string{text}; });
  }
  activity.begin(text, session_context.statement_timestamp);
}

void Session::State::note_failure(SqlState failure, std::string_view message) noexcept {
  // Counts only deadlocks of ours: RAISE can produce this SQLSTATE too.
  if (failure == sqlstate::deadlock_detected && message == "deadlock detected")
    usage.add(Used::deadlocks);
}

void Session::State::note_rest() noexcept {
  Activity::State rest = Activity::State::idle;
  if (transaction && transaction.in_explicit_block()) {
    rest = transaction.is_failed() ? Activity::State::idle_in_failed
                                   : Activity::State::idle_in_transaction;
  }
  activity.change(rest, session_context.statement_timestamp);
}

}  // namespace swizzle::sql

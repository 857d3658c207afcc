#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/long_work.h"
#include "base/runtime.h"
#include "sql-lite-frontend/parse/literal_lifter.h"
#include "sql-lite-frontend/session/execute_sink.h"
#include "sql-lite-frontend/session/row_view.h"
#include "sql-lite-frontend/session/session_state.h"
#include "sql-lite-frontend/session/utility.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInFailedBlock{"25P02"};
constexpr std::size_t kCachedInternals = 1024;

}  // namespace

void Session::State::check_not_failed(const ast::Node* node) {
  if (!failed) return;
  if (const auto* end = ast::try_as<ast::TransactionStmt>(node)) {
    using Kind = ast::TransactionStmtKind;
    if (end->kind == Kind::commit || end->kind == Kind::rollback ||
        end->kind == Kind::rollback_to) {
      return;
    }
  }
  throw SqlError{kInFailedBlock,
                 "current transaction is aborted, commands ignored until end of transaction block"};
}

/// A message that differs from an earlier one only in its literals runs that one's plan. False: it
/// is not of that kind, or something about it is wrong, which the plain way says best.
bool Session::State::run_shape(std::string_view text, ResultSink& sink) {
  if (failed || text.size() > kLongestKeptText) return false;
  const auto lifted = lift_literals(text);
  if (!lifted) return false;
  std::string key = lifted->shape;
  for (const LiftedText::Literal& literal : lifted->literals) {
    key += literal.type == TypeId::int4 ? 'i' : (literal.type == TypeId::int8 ? 'l' : 's');
  }
  StatementPtr statement = shapes.find(key);
  PortalPtr portal;
  try {
    if (statement && statement->node == nullptr) return false;
    if (statement && !is_current(*statement->plan)) statement.reset();
    if (!statement) {
      StatementPtr fresh = parse_one(lifted->shape, {});
      for (const LiftedText::Literal& literal : lifted->literals) {
        fresh->declared_types.push_back(literal.type);
      }
      fresh->has_lifted_literals = true;
      analyze(*fresh);
      statement = std::move(fresh);
      shapes.put(key, statement);
    }
    portal = new_portal();
    portal->statement = statement;
    FunctionContext context{portal->arena, session_context, {}};
    for (std::size_t i = 0; i < lifted->literals.size(); ++i) {
      portal->parameters.push_back(
          input_text(context, statement->parameter_types[i], kNoTypmod, lifted->literals[i].text)
              .copy_to(portal->arena));
    }
    portal->use = plan_for(*statement, portal->parameters);
    if (!portal->plan().computed_from_literals.empty()) {
      Execution& execution = run_of(*portal).execution;
      execution.parameters = portal->parameters;
      for (const ExprPtr& part : portal->plan().computed_from_literals) {
        static_cast<void>(part->eval(execution));
      }
    }
  } catch (const SqlError&) {
    // Remembered as a shape that does not work, so that nobody tries again.
    if (!statement) shapes.put(key, std::make_shared<Statement>());
    return false;
  }
  const bool alone = !transaction;
  if (alone) begin_transaction(Block::implicit);
  run_at_once(*portal, sink, alone ? AtEnd::commit : AtEnd::stay);
  put_away(std::move(portal));
  return true;
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
  const StatementPtr known = script.size() <= kLongestKeptText ? text_cache.find(script) : nullptr;
  if (known && !is_current(*known->plan)) {
    // What it returns may have changed; nobody was promised that it would not.
    text_cache.erase(script);
  } else if (known) {
    check_not_failed(known->node);
    const bool alone = !transaction;
    if (alone) begin_transaction(Block::implicit);
    const PortalPtr portal = make_portal(known, {});
    run_at_once(*portal, sink, alone ? AtEnd::commit : AtEnd::stay);
    return;
  }
  const bool may_be_kept = !failed && script.size() <= kLongestKeptText;
  if (may_be_kept && shares_plans() && shared.plans.find_text(script)) {
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
    ~Several() { state.in_script = false; }
  } const several{*this};
  in_script = parsed.size() > 1;
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    // Before each: others have waited long enough.
    count_work(kWorkOfStatement);
    check_not_failed(parsed[i]->stmt);
    // Statements of one message are one transaction, unless they say otherwise.
    const bool is_last = i + 1 == parsed.size();
    run_statement(*parsed[i], shared_script, sink, is_last ? AtEnd::commit : AtEnd::stay);
    if (is_last && block == Block::implicit) commit_transaction();
  }
}

/// A text that is one statement with a plan: its next run needs neither parser nor planner.
void Session::State::run_kept_text(const std::string& text, ResultSink& sink) {
  const StatementPtr statement = parse_one(text, {});
  statement->takes_parameters = false;
  const bool alone = !transaction;
  if (alone) begin_transaction(Block::implicit);
  const PortalPtr portal = make_portal(statement, {});
  run_at_once(*portal, sink, alone ? AtEnd::commit : AtEnd::stay);
  if (statement->plan && !statement->plan->plan->single_use) text_cache.put(text, statement);
}

void Session::State::run_statement(const ast::RawStmt& raw,
                                   const std::shared_ptr<const std::string>& script,
                                   ResultSink& sink, AtEnd at_end) {
  auto statement = std::make_shared<Statement>();
  statement->script = script;
  statement->node = raw.stmt;
  statement->location = raw.stmt_location;
  statement->takes_parameters = false;
  if (const auto* control = ast::try_as<ast::TransactionStmt>(raw.stmt)) {
    transaction_statement(*control, sink);
    return;
  }
  if (!transaction) begin_transaction(Block::implicit);
  if (is_plannable(raw.stmt)) {
    const PortalPtr portal = make_portal(statement, {});
    run_at_once(*portal, sink, block == Block::implicit ? at_end : AtEnd::stay);
    return;
  }
  if (at_end == AtEnd::stay || block != Block::implicit) {
    return run_utility(*this, raw.stmt, *statement, {}, sink);
  }
  HeldTag held{sink};
  run_utility(*this, raw.stmt, *statement, {}, held);
  commit_transaction();
  held.tell();
}

PortalPtr Session::State::new_portal() {
  if (spare_portal && spare_portal.use_count() == 1) return std::move(spare_portal);
  auto portal = std::make_shared<Portal>();
  portal->arena.count_in(&memory);
  return portal;
}

void Session::State::put_away(PortalPtr portal) noexcept {
  if (!portal || portal.use_count() != 1) return;
  portal->reset();
  spare_portal = std::move(portal);
}

PortalPtr Session::State::make_portal(StatementPtr statement, std::span<const Value> parameters) {
  if (!is_plannable(statement->node)) {
    throw_error(sqlstate::feature_not_supported, "{} is not supported here",
                statement->node == nullptr ? "an empty query" : statement_name(statement->node));
  }
  PortalPtr portal = new_portal();
  portal->statement = std::move(statement);
  for (const Value& value : parameters) portal->parameters.push_back(value.copy_to(portal->arena));
  portal->use = plan_for(*portal->statement, portal->parameters);
  // Whoever makes a portal of a part of a statement may have none to give.
  if (portal->statement->parameter_types.size() > portal->parameters.size()) {
    throw sql_error(sqlstate::undefined_parameter, "there is no parameter ${}",
                    portal->parameters.size() + 1);
  }
  return portal;
}

void Session::State::describe_columns(const Portal& portal, ResultSink& sink) {
  if (!portal.statement->returns_rows) return;
  sink.row_description(output_columns(portal.statement->columns(), portal.formats));
}

/// What the plan reads and writes is neither changed in its definition nor dropped until the
/// transaction ends. A plan that was overtaken while it waited is made anew.
void Session::State::lock_tables(Portal& portal, Columns columns) {
  for (int attempt = 0;; ++attempt) {
    for (const Plan::Lock& lock : portal.plan().locks) {
      if (lock.mode == lock::RelationMode::access_share &&
          transaction->try_share_relation(lock.relation)) [[likely]] {
        continue;
      }
      value_of(transaction->lock_relation(lock.relation, lock.mode));
    }
    if (is_current(*portal.use)) [[likely]] {
      rights.check_accesses(*portal.use);
      return;
    }
    if (columns == Columns::open) {
      portal.statement->plan.reset();
      portal.statement->result.reset();
    }
    portal.run.reset();
    portal.use = plan_for(*portal.statement, portal.parameters);
    if (attempt > 10) {
      throw SqlError{sqlstate::serialization_failure,
                     "could not serialize access due to concurrent changes of definitions"};
    }
  }
}

void Session::State::require_runnable(const Plan& plan) {
  if (!plan.failure) [[likely]] {
    return;
  }
  throw SqlError{plan.failure->state, plan.failure->message}
      .with_detail(plan.failure->detail)
      .with_hint(plan.failure->hint);
}

/// The simple protocol's way. Locks come first: what the columns are is settled then.
void Session::State::run_at_once(Portal& portal, ResultSink& sink, AtEnd at_end) {
  lock_tables(portal, Columns::open);
  require_runnable(portal.plan());
  describe_columns(portal, sink);
  run_portal(portal, 0, sink, at_end);
}

bool writes_what_others_see(const Plan& plan) {
  return std::ranges::any_of(plan.accesses, [](const RelationAccess& access) {
    return (access.wants & ~privilege::kSelect) != 0 &&
           access.table->relation.persistence != Persistence::temporary;
  });
}

void Session::State::start_portal(Portal& portal, Reads reads) {
  if (read_only && writes_what_others_see(portal.plan())) {
    require_read_write(statement_name(portal.statement->node));
  }
  lock_tables(portal, Columns::told);
  begin_statement();
  check_cancelled(*this);
  PlanRun& run = begin_run(portal);
  if (reads == Reads::in_parts) portal.view = HeldView{*transaction};
  run.open();
}

void Session::State::finish_portal(Portal& portal) {
  if (portal.run && portal.state == Portal::State::running) portal.run->end();
  portal.view.reset();
  portal.state = Portal::State::finished;
  // A cursor's rows stand in its slots.
  if (!portal.rows) give_back_run(portal);
}

std::uint64_t Session::State::send_rows(Portal& portal, std::uint64_t max_rows, ResultSink& sink) {
  PlanRun& run = *portal.run;
  Execution& execution = run.execution;
  if (run.columns.empty() || run.column_formats != portal.formats) {
    run.columns = output_columns(run.plan->columns, portal.formats);
    run.column_formats = portal.formats;
  }
  const RowView view{run, run.columns};
  std::uint64_t sent = 0;
  const HeldView::Reading reading{portal.view};
  RowScope scope{execution};
  while (max_rows == 0 || sent < max_rows) {
    if (portal.rows != nullptr) {
      // FETCH and MOVE have read ahead, or stand in the middle.
      const auto at = static_cast<std::size_t>(portal.position);
      if (at >= portal.rows->size() && !read_cursor_row(portal)) break;
      portal.rows->restore(execution, at);
      ++portal.position;
    } else if (!run.root->next(execution)) {
      portal.exhausted = true;
      break;
    }
    if (portal.statement->returns_rows) sink.data_row(view);
    ++sent;
    scope.rewind();
  }
  return sent;
}

namespace {

std::string tag_of(const Portal& portal) {
  std::string_view word = "SELECT ";
  std::uint64_t rows = portal.rows_sent;
  if (const WriteOperator* write = portal.plan().write; write != nullptr) {
    constexpr std::string_view kWords[] = {"INSERT 0 ", "UPDATE ", "DELETE "};
    word = kWords[std::to_underlying(write->statement().kind)];
    rows = portal.rows_written;
  }
  char digits[std::numeric_limits<std::uint64_t>::digits10 + 1];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), rows).ptr;
  std::string tag{word};
  tag.append(std::begin(digits), end);
  return tag;
}

}  // namespace

/// For pg_stat_statements.
void Session::State::count_run(const Portal& portal) {
  Statement& statement = *portal.statement;
  if (!statement.counters) {
    if (statement.text().empty()) return;
    statement.counters = shared.statements.of(catalog.shared().database(), statement.text());
    if (!statement.counters) return;
  }
  const Duration took = Runtime::current().now() - portal.started_at;
  auto& counters = statement.counters->counters;
  counters.add(StatementCounted::calls);
  counters.add(StatementCounted::rows,
               portal.plan().write != nullptr ? portal.rows_written : portal.rows_sent);
  counters.add(StatementCounted::nanoseconds, static_cast<std::uint64_t>(took.count()));
}

void Session::State::run_portal(Portal& portal, std::uint64_t max_rows, ResultSink& sink,
                                AtEnd at_end) {
  if (portal.state == Portal::State::finished) {
    // A portal that has been read to its end gives no more rows, and counts none.
    sink.command_complete(portal.plan().write == nullptr ? "SELECT 0" : tag_of(portal));
    return;
  }
  try {
    if (portal.state == Portal::State::ready) {
      portal.started_at = Runtime::current().now();
      start_portal(portal, max_rows == 0 ? Reads::at_once : Reads::in_parts);
    }
    const std::uint64_t sent = send_rows(portal, max_rows, sink);
    // What has been read ahead may not have been sent yet.
    const bool is_through =
        portal.exhausted &&
        (!portal.rows || portal.position >= static_cast<std::int64_t>(portal.rows->size()));
    const bool cut_short = max_rows != 0 && sent == max_rows && !is_through;
    if (cut_short) {
      portal.rows_sent += sent;
      sink.portal_suspended();
      return;
    }
    portal.rows_sent = sent;
    if (portal.run->write != nullptr) portal.rows_written = portal.run->write->written();
    const std::string tag = tag_of(portal);
    finish_portal(portal);
    count_run(portal);
    // A client that is told the tag may rely on it.
    if (at_end == AtEnd::commit) commit_transaction();
    sink.command_complete(tag);
  } catch (...) {
    // The plan's cursors go before the transaction's changes do; nothing here waits.
    if (portal.run && portal.state == Portal::State::running) portal.run->end();
    // Steps below the one that failed may still keep what they had.
    portal.run.reset();
    portal.view.reset();
    portal.state = Portal::State::failed;
    throw;
  }
}

std::uint64_t run_internal(Session::State& session, const std::string& sql,
                           std::span<const TypeId> types, std::span<const Value> parameters,
                           ReadView::Sees sees, const RowVisitor& visit) {
  check_stack();
  if (session.internal_cache.size() > kCachedInternals) session.internal_cache.clear();
  StatementPtr& statement = session.internal_cache[sql];
  // The text says neither what its parameters are nor what its columns have become.
  const bool fits = statement && std::ranges::equal(statement->declared_types, types) &&
                    (!statement->plan || session.is_current(*statement->plan));
  if (!fits) {
    statement = session.parse_one(sql, {});
    statement->declared_types.assign(types.begin(), types.end());
    statement->trusted = true;
  }
  const StatementPtr running = statement;
  const PortalPtr portal = session.make_portal(running, parameters);
  session.lock_tables(*portal, Session::State::Columns::open);
  const InnerStatement inner{*session.transaction, sees};
  PlanRun& run = session.begin_run(*portal);
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
    session.finish_portal(*portal);
  } catch (...) {
    if (portal->run) run.end();
    throw;
  }
  return rows;
}

void Execution::check_interrupts() {
  rows_until_check = kRowsPerCheck;
  check_cancelled(session);
  Runtime::current().yield();
}

WorkMemory& work_memory(Session::State& session) noexcept {
  return session.memory;
}

void Session::State::drop_portals() {
  for (auto at = portals.begin(); at != portals.end();) {
    // One that is held already, by a commit, has no plan running any more.
    if (at->second->holds && at->second->state == Portal::State::finished) {
      ++at;
      continue;
    }
    finish_portal(*at->second);
    at = portals.erase(at);
  }
}

}  // namespace swizzle::sql

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/types/check_stack.h"

/// Running of portals, for all of their callers.
namespace swizzle::sql {

PortalPtr SessionPortals::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

void SessionPortals::open(const PortalPtr& portal) {
  portal->number = ++opened_;
  const auto old = by_name_.find(portal->name);
  if (old != by_name_.end()) {
    finish(*old->second);
    recycle(std::exchange(old->second, portal));
  } else if (spare_entry_) {
    spare_entry_.key() = portal->name;
    spare_entry_.mapped() = portal;
    by_name_.insert(std::move(spare_entry_));
  } else {
    by_name_.emplace(portal->name, portal);
  }
}

void SessionPortals::close(std::string_view name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) close_entry(found);
}

void SessionPortals::close_entry(ByName::iterator entry) {
  finish(*entry->second);
  recycle(std::move(entry->second));
  if (entry->first.capacity() > Portal::kKeptNameBytes) {
    by_name_.erase(entry);
    return;
  }
  spare_entry_ = by_name_.extract(entry);
  spare_entry_.mapped().reset();
}

void SessionPortals::close_all() {
  close_where([](const Portal&) { return true; });
}

void SessionPortals::close_since(std::uint64_t number) {
  // Finish portals opened since then, before the objects that they read are removed.
  std::erase_if(by_name_, [&](const auto& entry) {
    Portal& portal = *entry.second;
    if (portal.number <= number) return false;
    portal.view.reset();
    if (portal.run && portal.state == Portal::State::running) portal.run->end();
    return true;
  });
}

void SessionPortals::drop_unheld() {
  // A cursor held at an earlier commit has no running plan any more.
  close_where([](const Portal& portal) {
    return !portal.holds || portal.state != Portal::State::finished;
  });
}

PortalPtr SessionPortals::make_empty() {
  if (spare_ && spare_.use_count() == 1) return std::move(spare_);
  auto portal = std::make_shared<Portal>();
  portal->arena.count_in(&session_.memory);
  return portal;
}

void SessionPortals::recycle(PortalPtr portal) noexcept {
  if (!portal || portal.use_count() != 1) return;
  portal->reset();
  spare_ = std::move(portal);
}

PortalPtr SessionPortals::make(StatementPtr statement, std::span<const Value> parameters) {
  if (!is_plannable(statement->node)) {
    throw_error(sqlstate::feature_not_supported, "{} is not supported here",
                statement->node == nullptr ? "an empty query" : statement_name(statement->node));
  }
  PortalPtr portal = make_empty();
  portal->statement = std::move(statement);
  for (const Value& value : parameters) portal->parameters.push_back(value.copy_to(portal->arena));
  portal->use = session_.plans.plan_for(*portal->statement, portal->parameters);
  require_parameters(*portal);
  return portal;
}

void SessionPortals::describe_columns(const Portal& portal, ResultSink& sink) {
  if (!portal.statement->returns_rows) return;
  tell_columns(portal.statement->columns(), portal.formats, sink);
}

void SessionPortals::tell_columns(std::span<const OutputTarget> columns,
                                  std::span<const Format> formats, ResultSink& sink) {
  put_output_columns(told_columns_, columns, formats);
  sink.row_description(told_columns_);
  // Names of columns are the statement's.
  told_columns_.clear();
}

/// Locks the relations of the plan, so that they are neither changed in their definition nor
/// dropped until the transaction ends. If a definition changed during the wait, the plan is made
/// again.
void SessionPortals::lock_tables(Portal& portal, Columns columns) {
  for (int attempt = 0;; ++attempt) {
    for (const Plan::Lock& lock : portal.plan().locks) {
      if (lock.mode == lock::RelationMode::access_share &&
          session_.transaction->try_share_relation(lock.relation)) [[likely]] {
        continue;
      }
      value_of(session_.transaction->lock_relation(lock.relation, lock.mode));
    }
    if (session_.plans.is_current(portal.use)) [[likely]] {
      session_.rights.check_accesses(*portal.use);
      if (session_.names.temp_schema != kNoOid) [[unlikely]]
        session_.transaction.note_temporaries(portal.plan().tables);
      return;
    }
    if (columns == Columns::open) {
      portal.statement->plan.reset();
      portal.statement->result.reset();
    }
    portal.run.reset();
    portal.use = session_.plans.plan_for(*portal.statement, portal.parameters);
    // Others would have to change definitions as fast as a statement is planned, for long.
    constexpr int kMostAttempts = 1000;
    if (attempt > kMostAttempts) {
      throw SqlError{sqlstate::serialization_failure,
                     "could not serialize access due to concurrent changes of definitions"};
    }
  }
}

/// The simple protocol's way. Locks come first, because they determine the columns.
void SessionPortals::run_at_once(Portal& portal, ResultSink& sink, AtEnd at_end) {
  lock_tables(portal, Columns::open);
  require_runnable(portal.plan());
  describe_columns(portal, sink);
  run(portal, 0, sink, at_end);
}

void SessionPortals::require_writable(const Portal& portal) const {
  if (session_.transaction.modes().read_only && writes_what_others_see(portal.plan())) {
    session_.transaction.require_read_write(statement_name(portal.statement->node));
  }
}

void SessionPortals::start(Portal& portal, Reads reads) {
  require_writable(portal);
  lock_tables(portal, Columns::told);
  session_.transaction.begin_statement();
  session_.check_cancelled();
  PlanRun& run = session_.plans.begin_run(portal);
  if (reads == Reads::in_parts) portal.view = HeldView{*session_.transaction};
  run.open();
}

void SessionPortals::finish(Portal& portal) {
  if (portal.run && portal.state == Portal::State::running) portal.run->end();
  portal.view.reset();
  portal.state = Portal::State::finished;
  // A cursor's present row is in the run's slots.
  if (!portal.rows) session_.plans.give_back_run(portal);
}

std::uint64_t SessionPortals::send_rows(Portal& portal, std::uint64_t max_rows, ResultSink& sink) {
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
      // FETCH and MOVE may have read ahead.
      const auto at = static_cast<std::size_t>(portal.position);
      if (at >= portal.rows->size() && !read_row(portal)) break;
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
    constexpr std::string_view kWords[] = {"INSERT 0 ", "UPDATE ", "DELETE ", "MERGE "};
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

/// Counts the run in pg_stat_statements.
void SessionPortals::count_run(const Portal& portal) {
  Statement& statement = *portal.statement;
  if (!statement.counters) {
    if (statement.text().empty()) return;
    statement.counters =
        session_.shared.statements.of(session_.catalog.of_database().database(), statement.text());
  }
  const Duration took = Runtime::current().now() - portal.started_at;
  auto& counters = statement.counters->counters;
  counters.add(StatementCounted::calls);
  counters.add(StatementCounted::rows,
               portal.plan().write != nullptr ? portal.rows_written : portal.rows_sent);
  counters.add(StatementCounted::nanoseconds, static_cast<std::uint64_t>(took.count()));
}

void SessionPortals::run(Portal& portal, std::uint64_t max_rows, ResultSink& sink, AtEnd at_end) {
  if (portal.state == Portal::State::finished) {
    // A portal that is at its end returns no more rows, and counts none.
    sink.command_complete(portal.plan().write == nullptr ? "SELECT 0" : tag_of(portal));
    return;
  }
  try {
    if (portal.state == Portal::State::ready) {
      portal.started_at = Runtime::current().now();
      start(portal, max_rows == 0 ? Reads::at_once : Reads::in_parts);
    }
    const std::uint64_t sent = send_rows(portal, max_rows, sink);
    // Rows that have been read ahead may not have been sent yet.
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
    finish(portal);
    count_run(portal);
    // The client may rely on the tag, so commit first.
    if (at_end == AtEnd::commit) session_.transaction.commit();
    sink.command_complete(tag);
  } catch (...) {
    // The plan's cursors end before the transaction's changes are undone; nothing here waits.
    if (portal.run && portal.state == Portal::State::running) portal.run->end();
    // Steps below the one that failed may still hold resources.
    portal.run.reset();
    portal.view.reset();
    portal.state = Portal::State::failed;
    throw;
  }
}

void SessionPortals::prepare_inner(Portal& portal, bool may_write) {
  portal.use = session_.plans.plan_for(*portal.statement, portal.parameters);
  require_parameters(portal);
  lock_tables(portal, Columns::open);
  require_runnable(portal.plan());
  require_allowed(*portal.statement, portal.plan(), may_write);
  require_writable(portal);
}

PlanRun& SessionPortals::open_inner(Portal& portal, Reads reads) {
  PlanRun& run = session_.plans.begin_run(portal);
  try {
    if (reads == Reads::in_parts) portal.view = HeldView{*session_.transaction};
    run.open();
  } catch (...) {
    run.end();
    portal.view.reset();
    portal.state = Portal::State::failed;
    throw;
  }
  return run;
}

}  // namespace swizzle::sql

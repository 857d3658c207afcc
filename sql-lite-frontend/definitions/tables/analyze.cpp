#include "sql-lite-frontend/definitions/tables/analyze.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/statistics/sample.h"
#include "sql-lite-frontend/statement/command_progress.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {
namespace {

/// Same values as PostgreSQL's autovacuum_analyze_threshold and autovacuum_analyze_scale_factor.
constexpr double kFewestChanges = 50;
constexpr double kChangedShare = 0.1;

}  // namespace

void analyze_table(StatementContext& session, const TablePtr& table) {
  Transaction& transaction = *session.transaction;
  const TablePtr locked = session.catalog.lock_for_change(
      transaction, table, lock::RelationMode::share_update_exclusive);
  session.transaction.begin_statement();
  TableRuntime& runtime = *locked->runtime;
  const std::uint64_t changes = runtime.counters.changes();
  const std::int64_t delta = runtime.row_delta();
  RowSample sample{Runtime::current().random()};
  const auto pages_of = [&](TreeId tree) {
    return static_cast<std::int64_t>(value_of(session.shared.engine.size_of(tree)).pages);
  };
  CommandProgress progress{session, CommandProgress::Command::analyze, locked->relation.oid};
  constexpr std::uint64_t kSampling = 1;
  constexpr std::uint64_t kComputing = 3;
  progress.set(CommandProgress::analyze_phase, kSampling);
  progress.set(CommandProgress::analyze_pages,
               static_cast<std::uint64_t>(pages_of(locked->relation.tree)));
  {
    const Tree tree = *locked->tree;
    Cursor cursor = value_of(tree.scan(transaction, {}, Direction::forward, ReadMode::snapshot,
                                       WaitPolicy::wait, ScanHint::large));
    while (value_of(cursor.next())) {
      sample.add(cursor.value());
      if (sample.rows_seen() % Execution::kRowsPerCheck != 0) continue;
      session.check_cancelled();
      progress.set(CommandProgress::analyze_pages_done, cursor.leaf_requests());
    }
    runtime.counters.add(Counted::leaves, cursor.leaf_requests());
  }
  progress.set(CommandProgress::analyze_phase, kComputing);
  sample.sort();
  const TableStatistics statistics = summarize(sample, *locked);
  session.shared.statistics->write(transaction, locked->relation.oid, statistics);
  runtime.analyzed_changes.store(changes, std::memory_order_relaxed);
  runtime.analyzed_delta.store(delta, std::memory_order_relaxed);
  TableRuntime::Analyses& analyses =
      session.options.is_maintenance ? runtime.analyzed_by_server : runtime.analyzed_by_users;
  analyses.last.store(session.session_context.clock(), std::memory_order_relaxed);
  analyses.count.fetch_add(1, std::memory_order_relaxed);
  Relation relation = locked->relation;
  relation.estimated_rows = statistics.rows;
  relation.estimated_pages = pages_of(relation.tree);
  for (Index& index : relation.indexes) {
    index.estimated_pages = index.orders_rows() ? 0 : pages_of(index.tree);
  }
  session.catalog.replace(transaction, *locked, std::move(relation));
}

bool wants_analyze(const Table& table) {
  if (!keeps_rows(table.relation.kind) || table.computed != nullptr ||
      table.relation.persistence == Persistence::temporary) {
    return false;
  }
  const std::uint64_t known = table.runtime->analyzed_changes.load(std::memory_order_relaxed);
  const auto changes = static_cast<double>(table.runtime->counters.changes() - known);
  return changes > kFewestChanges + kChangedShare * std::max(0.0, table.relation.estimated_rows);
}

}  // namespace swizzle::sql

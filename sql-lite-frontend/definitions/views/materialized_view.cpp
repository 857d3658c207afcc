#include "sql-lite-frontend/definitions/views/materialized_view.h"

#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/execution/write/row_writer.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

std::uint64_t fill_table(StatementContext& session, const TablePtr& table, Portal& source) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < table->relation.columns.size(); ++i) columns.push_back(i);
  const std::unique_ptr<Scratch> writing = session.new_scratch();
  Binder binder{session.names, writing->arena};
  std::vector<Slot> slots;
  const auto write = binder.bind_row_source(table, columns, slots);
  writing->execution.slots.resize(binder.slot_count());
  writing->execution.transaction = session.transaction.get();
  RowWriter writer{*write};
  writer.begin_changes();
  writer.begin_load(writing->execution);
  session.inner.start(source);
  std::uint64_t rows = 0;
  try {
    PlanRun& run = *source.run;
    std::vector<Value> row(columns.size());
    RowScope scope{run.execution};
    while (run.root->next(run.execution)) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = run.execution.slots[run.plan->outputs[i]];
      }
      writer.insert(writing->execution, row, RowWriter::OnConflict::fail);
      ++rows;
      scope.rewind();
    }
    writer.end_changes(writing->execution);
  } catch (...) {
    source.run->end();
    throw;
  }
  session.inner.finish(source);
  return rows;
}

namespace {

TablePtr set_populated(StatementContext& session, const TablePtr& view, bool populated) {
  if (view->relation.populated == populated) return view;
  Relation relation = view->relation;
  relation.populated = populated;
  return session.catalog.replace(*session.transaction, *view, std::move(relation));
}

}  // namespace

/// Runs the view's query into a table that has its columns: itself, or another.
std::uint64_t fill_from_query(StatementContext& session, const TablePtr& view,
                              const TablePtr& into) {
  struct Expansion {
    Oid& view;
    ~Expansion() { view = kNoOid; }
  } const expansion{session.names.expanded_view};
  session.names.expanded_view = view->relation.oid;
  const AsOwner as_owner{session, view->relation.owner};
  const PortalPtr source = session.inner.make_portal(
      session.inner.parse("SELECT * FROM " + session.names.qualified_name(*view)), {});
  return fill_table(session, into, *source);
}

/// Replaces the view's rows by the current result of its query.
void refresh_view(StatementContext& session, const ast::RefreshMatViewStmt& statement) {
  Arena arena;
  Binder binder{session.names, arena};
  const TablePtr view = binder.require_relation(*statement.relation);
  if (view->relation.kind != RelationKind::materialized) {
    throw_error(sqlstate::feature_not_supported, "\"{}\" is not a materialized view",
                view->relation.name);
  }
  session.rights.require(view, privilege::kMaintain);
  if (statement.concurrent && statement.skip_data) {
    throw SqlError{sqlstate::syntax_error,
                   "CONCURRENTLY and WITH NO DATA options cannot be used together"};
  }
  if (statement.concurrent) {
    refresh_concurrently(session, view);
  } else {
    const TablePtr empty =
        set_populated(session, empty_relation(session, view), !statement.skip_data);
    if (!statement.skip_data) fill_from_query(session, empty, empty);
  }
}

}  // namespace swizzle::sql

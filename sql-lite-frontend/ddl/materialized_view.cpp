#include "sql-lite-frontend/ddl/table_builder.h"
#include "sql-lite-frontend/execute/row_writer.h"
#include "sql-lite-frontend/session/session_state.h"

namespace swizzle::sql {

std::uint64_t fill_table(Session::State& session, const TablePtr& table, Portal& source) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < table->relation.columns.size(); ++i) columns.push_back(i);
  const std::shared_ptr<Plan> writing = session.new_plan();
  Binder binder{session, writing->arena};
  std::vector<Slot> slots;
  const auto write = binder.bind_row_source(table, columns, slots);
  writing->execution.slots.resize(binder.slot_count());
  writing->execution.transaction = session.transaction.get();
  RowWriter writer{*write};
  writer.begin_changes();
  writer.begin_load(writing->execution);
  session.start_portal(source);
  std::uint64_t rows = 0;
  try {
    Plan& plan = *source.plan;
    std::vector<Value> row(columns.size());
    RowScope scope{plan.execution};
    while (plan.root->next(plan.execution)) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = plan.execution.slots[plan.outputs[i]];
      }
      writer.insert(writing->execution, row, RowWriter::OnConflict::fail);
      ++rows;
      scope.rewind();
    }
    writer.end_changes(writing->execution);
  } catch (...) {
    source.plan->end_run();
    throw;
  }
  session.finish_portal(source);
  return rows;
}

/// Its rows go, and those that its query gives now come.
void Session::State::refresh(const ast::RefreshMatViewStmt& statement, ResultSink& sink) {
  if (statement.concurrent || statement.skip_data) {
    throw_error(sqlstate::feature_not_supported, "REFRESH MATERIALIZED VIEW {} is not supported",
                statement.concurrent ? "CONCURRENTLY" : "... WITH NO DATA");
  }
  Arena arena;
  Binder binder{*this, arena};
  const TablePtr view = binder.require_relation(*statement.relation);
  if (view->relation.kind != RelationKind::materialized) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is not a materialized view",
                view->relation.name);
  }
  require_owner(*view);
  struct Expansion {
    Oid& view;
    ~Expansion() { view = kNoOid; }
  } const expansion{expanded_view};
  // As long as the rows are read: the plan is made anew when the view has got its new trees.
  expanded_view = view->relation.oid;
  const PortalPtr source = make_portal(parse_one("SELECT * FROM " + qualified_name(*view), {}), {});
  fill_table(*this, empty_relation(view), *source);
  sink.command_complete("REFRESH MATERIALIZED VIEW");
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/definitions/system_catalog/query_rows.h"

#include <string>
#include <vector>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidCursorDefinition{"42P11"};
constexpr SqlState kDataException{"22000"};

/// Adds the query as context to an error, unless the error has a position.
template <class Body>
auto told_within(std::string_view text, const Body& body) {
  try {
    return body();
  } catch (SqlError& error) {
    std::string& where = error.fields().where;
    if (error.fields().position == 0) {
      if (!where.empty()) where += "\n";
      where += "SQL statement \"" + std::string{text} + "\"";
    }
    error.fields().position = 0;
    throw;
  }
}

void require_one(std::size_t statements, RefusedQuery refused) {
  if (statements == 1) return;
  if (refused == RefusedQuery::as_data) throw SqlError{kDataException, "invalid query"};
  throw SqlError{kInvalidCursorDefinition, "cannot open multi-query plan as cursor"};
}

void require_rows(const Statement& statement, RefusedQuery refused) {
  if (is_plannable(statement.node)) return;
  if (refused == RefusedQuery::as_data) throw SqlError{kDataException, "invalid query"};
  throw_error(kInvalidCursorDefinition, "cannot open {} query as cursor",
              statement_name(statement.node));
}

}  // namespace

void for_each_row_of(StatementContext& session, std::string_view text, RefusedQuery refused,
                     const std::function<void(std::span<const OutputTarget>)>& check,
                     const std::function<void(std::span<const Value>)>& visit) {
  check_stack();
  PortalPtr portal = session.inner.make_empty_portal();
  const std::string query{text};
  Arena tree;
  tree.count_in(&session.memory);
  require_one(told_within(text, [&] { return parse_script(tree, query).size(); }), refused);
  told_within(text, [&] {
    portal->statement = session.inner.parse(query);
    portal->statement->takes_parameters = false;
    require_rows(*portal->statement, refused);
    session.inner.prepare_inner(*portal, false);
  });
  check(portal->plan().columns);
  told_within(text, [&] {
    session.transaction.begin_inner_statement();
    PlanRun& run = session.inner.open_inner(*portal, InnerStatements::Reads::at_once);
    try {
      RowScope scope{run.execution};
      std::vector<Value> row(portal->plan().columns.size());
      while (run.root->next(run.execution)) {
        for (std::size_t i = 0; i < row.size(); ++i)
          row[i] = run.execution.slots[portal->plan().outputs[i]];
        visit(row);
        scope.rewind();
      }
    } catch (...) {
      run.end();
      portal->state = Portal::State::failed;
      throw;
    }
    session.inner.finish(*portal);
  });
  session.inner.recycle(std::move(portal));
}

}  // namespace swizzle::sql

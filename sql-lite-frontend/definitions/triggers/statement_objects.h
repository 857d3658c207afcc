#pragma once

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/statement/event_trigger_context.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Begin of a statement: of its changes of the catalog, and of its objects' numbers.
struct StatementBegin {
  std::size_t mark = 0;
  Oid first = kNoOid;
};

/// Returns the objects that a statement has defined and dropped, from its changes of the catalog.
EventTriggerContext objects_of_statement(StatementContext& session, const ast::Node& statement,
                                         std::string_view tag, const StatementBegin& begin);

}  // namespace swizzle::sql

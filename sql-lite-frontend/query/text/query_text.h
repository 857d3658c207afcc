#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/binding_notes.h"

namespace swizzle::sql {

/// Layout of a printed query.
struct QueryLayout {
  /// Parentheses only where precedence needs them.
  bool is_pretty = false;
  /// Items of a list begin a new line if they would end after this column; negative: never.
  int wrap_column = 0;
};

/// Returns the query as SQL in PostgreSQL's layout: stars expanded, columns qualified unless there
/// is one relation, casts shown. `binder` has bound it with `notes`. `names` are the names of the
/// result's columns; empty: the query's own. Throws SqlError 0A000 for a query that cannot be
/// printed.
std::string query_text(const Query& query, const BindingNotes& notes, Binder& binder,
                       std::vector<std::string> names, QueryLayout layout);
/// Returns a condition over the columns of a table as SQL. Its row is in slots from `first_slot`
/// on. Only subqueries name the table before a column.
std::string condition_text(const Expr& condition, const Table& table, Slot first_slot,
                           const BindingNotes& notes, Binder& binder, QueryLayout layout);

}  // namespace swizzle::sql

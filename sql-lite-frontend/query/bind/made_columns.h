#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/arena.h"

namespace swizzle::sql {

/// The columns that SEARCH and CYCLE add to a recursive WITH query: a query around each of its two
/// parts computes them, as PostgreSQL's rewriter does. The sequence of a depth-first search and the
/// path of CYCLE are arrays of rows; the sequence of a breadth-first search is a row that begins
/// with the depth.
class MadeColumns {
 public:
  /// Throws 42601 or 42701 if a clause names no column of the query, or names one twice.
  MadeColumns(const ast::CommonTableExpr& cte, std::vector<std::string> columns);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// Returns the parts of the UNION with the added columns behind their own; their nodes lie in the
  /// arena. Throws 0A000 if a part is no plain SELECT.
  const ast::SelectStmt* first_part(Arena& arena, const ast::SelectStmt& select) const;
  const ast::SelectStmt* second_part(Arena& arena, const ast::SelectStmt& select) const;

 private:
  [[nodiscard]] std::string_view reference_in(const ast::SelectStmt& select) const;
  [[nodiscard]] std::string mark_text(std::string_view condition) const;
  [[nodiscard]] std::string column_list(bool with_made) const;
  const ast::SelectStmt* filled(Arena& arena, const std::string& text,
                                const ast::SelectStmt& query) const;

  const ast::CommonTableExpr& cte_;
  const ast::CTESearchClause* search_;
  const ast::CTECycleClause* cycle_;
  std::vector<std::string> columns_;
  std::vector<std::string> names_;
};

}  // namespace swizzle::sql

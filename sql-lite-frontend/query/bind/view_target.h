#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/types/arena.h"

namespace swizzle::sql {

/// The name of a column of the table below, as a written view, or a relation that it reads, has it.
/// Without a position the column is computed and cannot be written.
struct ViewTargetColumn {
  std::string name;
  std::optional<std::size_t> position;
};

/// A view that is written, with the views below it down to the one table.
struct ViewTarget {
  TablePtr view;
  TablePtr table;
  bool only = false;  ///< FROM ONLY: for a partitioned table, which then has no rows
  std::vector<ViewTargetColumn> columns;

  /// One view between target and table: its query, and the items of its FROM clause.
  struct Level {
    TablePtr view;
    std::shared_ptr<Arena> arena;  ///< keeps the query
    const ast::SelectStmt* query = nullptr;
    std::string alias;
    std::vector<ViewTargetColumn> from;
  };
  std::vector<Level> levels;  ///< from the table upwards
};

}  // namespace swizzle::sql

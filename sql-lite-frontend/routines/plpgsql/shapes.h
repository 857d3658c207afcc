#pragma once

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/routines/plpgsql/variables.h"
#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql::plpgsql {

/// Returns the shape of a table's rows, without dropped columns.
inline ShapePtr shape_of(const Table& table) {
  auto shape = std::make_shared<Shape>();
  for (const Column& column : table.relation.columns) {
    if (!column.dropped) shape->fields.push_back({column.name, column.type, column.typmod});
  }
  return shape;
}

/// Returns the shape of a composite type's values.
inline ShapePtr shape_of(const RowShape& row) {
  auto shape = std::make_shared<Shape>();
  for (std::size_t i = 0; i < row.names.size(); ++i) {
    shape->fields.push_back({row.names[i], row.types[i], row.typmods[i]});
  }
  return shape;
}

}  // namespace swizzle::sql::plpgsql

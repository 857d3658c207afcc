#pragma once

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/plpgsql/variables.h"

namespace swizzle::sql::plpgsql {

/// A row of the table, without its dropped columns.
inline ShapePtr shape_of(const Table& table) {
  auto shape = std::make_shared<Shape>();
  for (const Column& column : table.relation.columns) {
    if (!column.dropped) shape->fields.push_back({column.name, column.type, column.typmod});
  }
  return shape;
}

}  // namespace swizzle::sql::plpgsql

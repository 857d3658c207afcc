#pragma once

#include <cstddef>
#include <vector>

#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {

/// What a statement does with a relation: what its privileges are checked for.
struct RelationAccess {
  TablePtr table;
  /// The relations of a view are read as the view's owner; kNoOid: as whoever runs the statement.
  Oid as_role = kNoOid;
  Privileges wants = 0;
  // Columns by position: rights to them are enough where those to the whole are missing; of none,
  // the right to any column is.
  std::vector<std::size_t> read;
  std::vector<std::size_t> inserted;
  std::vector<std::size_t> updated;
  /// It reads ctid or tableoid, to which no right is given: only one to the whole table is enough.
  bool reads_system_column = false;
  /// No right to columns is enough.
  bool is_whole = false;
};

}  // namespace swizzle::sql

#pragma once

#include <cstddef>
#include <vector>

#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/catalog/table.h"

namespace swizzle::sql {

/// A statement's use of a relation, for the check of privileges.
struct RelationAccess {
  TablePtr table;
  /// Role whose rights are checked: a view's owner for the relations of the view; kNoOid: the user
  /// that runs the statement.
  Oid as_role = kNoOid;
  Privileges wants = 0;
  // Columns by position. Rights to these columns suffice without a right to the table. If none is
  // listed, a right to any column suffices.
  std::vector<std::size_t> read;
  std::vector<std::size_t> inserted;
  std::vector<std::size_t> updated;
  /// True if it reads ctid or tableoid, for which there is no column right: a right to the whole
  /// table is needed.
  bool reads_system_column = false;
  /// True if a right to the whole table is needed.
  bool is_whole = false;
};

}  // namespace swizzle::sql

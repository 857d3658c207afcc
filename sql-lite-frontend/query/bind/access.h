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
  // Columns by position: rights to them are enough where those to the whole are missing; of none,
  // the right to any column is.
  std::vector<std::size_t> read;
  std::vector<std::size_t> inserted;
  std::vector<std::size_t> updated;
  /// True if it reads ctid or tableoid, for which no column right exists: only one to the whole
  /// table is enough.
  bool reads_system_column = false;
  /// No right to columns is enough.
  bool is_whole = false;
};

}  // namespace swizzle::sql

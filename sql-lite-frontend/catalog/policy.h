#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/view_names.h"

namespace swizzle::sql {

/// Condition of a policy on rows. It may have subqueries, so it is kept as a view's query is:
/// "SELECT condition FROM table", and the meanings of its names.
struct PolicyCondition {
  std::string sql;  ///< empty: none
  std::vector<ViewName> names;
  std::vector<ViewType> types;
  std::vector<ViewRoutine> routines;

  [[nodiscard]] bool is_given() const noexcept { return !sql.empty(); }
};

/// CREATE POLICY: which rows of a table whose row security is on the roles see, or may write.
struct Policy {
  Oid oid = kNoOid;
  std::string name;
  /// pg_policy's letters: SELECT, INSERT, UPDATE, DELETE, or all of them.
  char command = '*';
  bool permissive = true;  ///< one of these lets a row through; of the others, all must
  std::vector<Oid> roles;  ///< 0 is PUBLIC, and alone then
  PolicyCondition using_rows;
  PolicyCondition check;  ///< of rows that are written; none: `using_rows`
  std::string comment;
};

}  // namespace swizzle::sql

#pragma once

#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/view_names.h"

namespace swizzle::sql {

/// Condition of a policy on rows. It may have subqueries, so it is stored as a view's query is:
/// "SELECT condition FROM table" and the resolved names.
struct PolicyCondition {
  std::string sql;  ///< empty: none
  std::vector<ViewName> names;
  std::vector<ViewType> types;
  std::vector<ViewRoutine> routines;

  [[nodiscard]] bool is_given() const noexcept { return !sql.empty(); }
};

/// Row security policy (CREATE POLICY): rows of the table that the roles may see or write.
struct Policy {
  Oid oid = kNoOid;
  std::string name;
  /// Letters of pg_policy.polcmd: SELECT, INSERT, UPDATE, DELETE, or '*' for all.
  char command = '*';
  bool permissive = true;  ///< one permissive policy must allow a row, and every restrictive one
  std::vector<Oid> roles;  ///< 0 is PUBLIC, then the only entry
  PolicyCondition using_rows;
  PolicyCondition check;  ///< of written rows; none: `using_rows` applies
  std::string comment;
};

}  // namespace swizzle::sql

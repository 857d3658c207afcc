#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sql-lite-frontend/definitions/dependents/dependents.h"

namespace swizzle::sql {

/// Dependents of an object that is named by a constant: 'orders_seq'::regclass.
class ConstantDependents {
 public:
  /// `type`: regclass or another reg… type; `on`: the object's name in messages.
  ConstantDependents(StatementContext& session, TypeId type, Oid oid, std::string on);

  /// Adds the dependents of the relation.
  void of_relation(const TablePtr& table, std::vector<Dependent>& list);
  /// Adds all dependents that are not in the list yet, and their own dependents.
  void collect(std::vector<Dependent>& list);

 private:
  [[nodiscard]] bool names_it(std::string_view sql) const { return sql.contains(stored_); }
  void of_table(const TablePtr& table, std::vector<Dependent>& list);
  void of_domains(std::vector<Dependent>& list);
  void of_routines(std::vector<Dependent>& list);

  StatementContext& session_;
  Oid oid_;
  std::string stored_;  ///< as stored expressions have it
  std::string on_;
  std::vector<std::pair<TablePtr, std::size_t>> columns_;  ///< generated from it
};

/// Returns the constant's text in stored expressions.
std::string stored_constant(TypeId type, Oid oid);
/// True if a view or a body with this record names the object.
bool is_named_in(const std::vector<ViewRoutine>& named, Oid oid);

}  // namespace swizzle::sql

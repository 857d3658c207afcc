#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Throws 42804 if the types of the two columns do not allow a foreign key from the one to the
/// other: the referenced table's index has to find the referencing table's values.
void require_may_refer(std::string_view constraint, const Column& referencing,
                       const Column& referenced);

/// One foreign key between two tables, and its questions to them in SQL. The columns of the two
/// sides may differ in their types: values are always those of one side, in that side's types, and
/// are compared as the referenced key's index compares. Pre: `constraint` is one of `referencing`.
class ForeignKey {
 public:
  ForeignKey(TablePtr referencing, TablePtr referenced, const Constraint& constraint);

  [[nodiscard]] const Constraint& constraint() const noexcept { return *constraint_; }
  [[nodiscard]] const TablePtr& referencing() const noexcept { return referencing_; }
  [[nodiscard]] const TablePtr& referenced() const noexcept { return referenced_; }
  [[nodiscard]] const std::vector<TypeId>& referencing_types() const noexcept {
    return referencing_types_;
  }
  [[nodiscard]] const std::vector<TypeId>& referenced_types() const noexcept {
    return referenced_types_;
  }

  // Of the referencing side's values, $1 and on.

  /// The row that they refer to, kept from going away.
  [[nodiscard]] std::string lock_referenced_sql(NameSource& names) const;
  /// Finds a row that refers with them.
  [[nodiscard]] std::string still_refers_sql(NameSource& names) const;

  // Of the referenced side's values.

  [[nodiscard]] std::string still_there_sql(NameSource& names) const;
  /// Returns a query that finds and locks a referencing row. It waits for transactions that are
  /// about to remove such a row.
  [[nodiscard]] std::string any_reference_sql(NameSource& names) const;
  [[nodiscard]] std::string delete_references_sql(NameSource& names) const;
  /// The new values follow the old ones.
  [[nodiscard]] std::string update_references_sql(NameSource& names) const;
  /// Returns the statement that sets them to NULL, or with SET DEFAULT to the columns' defaults.
  [[nodiscard]] std::string clear_references_sql(NameSource& names,
                                                 std::span<const std::int16_t> columns,
                                                 ReferentialAction action) const;

  /// The referencing columns of a row that violates the key.
  [[nodiscard]] std::string violations_sql(NameSource& names) const;

  /// Errors. Values as above; a NULL among them violates MATCH FULL.
  [[nodiscard]] Diagnostic missing(StatementServices& services, FunctionContext& functions,
                                   std::span<const Value> referencing_values) const;
  [[nodiscard]] Diagnostic still_referenced(StatementServices& services, FunctionContext& functions,
                                            std::span<const Value> referenced_values) const;

 private:
  [[nodiscard]] std::string by_referencing_values() const;
  [[nodiscard]] std::string refers_to_values() const;

  TablePtr referencing_;
  TablePtr referenced_;
  const Constraint* constraint_;
  std::vector<TypeId> referencing_types_;
  std::vector<TypeId> referenced_types_;
};

}  // namespace swizzle::sql

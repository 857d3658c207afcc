#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Throws 42804 if the types of the two columns do not allow a foreign key: the index of the
/// referenced table must be able to find the referencing table's values.
void require_may_refer(NameSource& names, std::string_view constraint, const Column& referencing,
                       const Column& referenced);

/// One foreign key between two tables, and the internal SQL statements that check and enforce it.
/// The columns of the two sides may have different types: values are of one side, in that side's
/// types, and are compared as the index of the referenced key compares. Pre: `constraint` is one of
/// `referencing`.
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

  // Statements with the values of the referencing side as $1 and so on.

  /// Finds the referenced row and locks it FOR KEY SHARE. With PERIOD: locks the rows whose ranges
  /// overlap the value, and returns a row if together they cover it.
  [[nodiscard]] std::string lock_referenced_sql(NameSource& names) const;
  /// Finds a referencing row with the values.
  [[nodiscard]] std::string still_refers_sql(NameSource& names) const;

  // Statements with the values of the referenced side.

  [[nodiscard]] std::string still_there_sql(NameSource& names) const;
  /// Finds and locks a referencing row. Waits for transactions that are deleting such a row. With
  /// PERIOD: one that needs the range, because the rows that are there now do not cover it.
  [[nodiscard]] std::string any_reference_sql(NameSource& names) const;
  [[nodiscard]] std::string delete_references_sql(NameSource& names) const;
  /// ON UPDATE CASCADE; its parameters are the old values, then the new ones.
  [[nodiscard]] std::string update_references_sql(NameSource& names) const;
  /// SET NULL, or SET DEFAULT.
  [[nodiscard]] std::string clear_references_sql(NameSource& names,
                                                 std::span<const std::int16_t> columns,
                                                 ReferentialAction action) const;

  /// Finds rows that violate the key; returns their referencing columns.
  [[nodiscard]] std::string violations_sql(NameSource& names) const;

  /// Errors. Values as above; with a NULL among them, the violation is of MATCH FULL.
  [[nodiscard]] Diagnostic missing(StatementServices& services, FunctionContext& functions,
                                   std::span<const Value> referencing_values) const;
  /// `action`: the one that refuses, NO ACTION or RESTRICT.
  [[nodiscard]] Diagnostic still_referenced(StatementServices& services, FunctionContext& functions,
                                            std::span<const Value> referenced_values,
                                            ReferentialAction action) const;

 private:
  /// Returns the operator by which a pair of columns, counted from 0, is compared.
  [[nodiscard]] std::string_view comparison(std::size_t column) const noexcept;
  [[nodiscard]] std::string by_referencing_values() const;
  [[nodiscard]] std::string by_referenced_values() const;
  [[nodiscard]] std::string covered_sql(NameSource& names, std::string_view condition) const;
  [[nodiscard]] std::string refers_to_values() const;

  TablePtr referencing_;
  TablePtr referenced_;
  const Constraint* constraint_;
  std::vector<TypeId> referencing_types_;
  std::vector<TypeId> referenced_types_;
};

}  // namespace swizzle::sql

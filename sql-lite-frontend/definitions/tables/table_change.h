#pragma once

#include <string_view>
#include <utility>

#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Applies the commands of one ALTER TABLE in order; each sees the results of the previous ones.
class TableChange {
 public:
  TableChange(StatementContext& session, TablePtr table, ResultSink& sink)
      : session_(session), table_(std::move(table)), sink_(sink) {}

  void apply(const ast::AlterTableCmd& command);
  /// Adds a column that was added to the table's parent, with its constraint, which may be null.
  void inherit_column(const Column& given, const Constraint* not_null);
  [[nodiscard]] const TablePtr& table() const noexcept { return table_; }
  /// Reads the table's definition again after another function has changed it.
  void look_again() { table_ = session_.names.table(table_->relation.oid); }

 private:
  std::size_t require_column(std::string_view name) const {
    const auto position = table_->column_position(name);
    if (!position) {
      refuse_to_change_system_column("alter", name);
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  name, table_->relation.name);
    }
    return *position;
  }
  void replace(Relation relation) {
    table_ = session_.catalog.replace(*session_.transaction, *table_, std::move(relation));
  }
  void rewrite(Relation relation, const RowChange& change) {
    // A partitioned table has no rows of its own.
    if (relation.is_partitioned()) return replace(std::move(relation));
    table_ = rewrite_table(session_, table_, std::move(relation), change);
  }
  void add_column(const ast::AlterTableCmd& command);
  void drop_column(const ast::AlterTableCmd& command);
  void add_constraint(const ast::Constraint& constraint);
  void drop_constraint(const ast::AlterTableCmd& command);
  void alter_type(const ast::AlterTableCmd& command);
  void set_default(const ast::AlterTableCmd& command);
  void add_not_null(const ast::Constraint& constraint);
  void set_not_null(const ast::AlterTableCmd& command);
  void drop_not_null(const ast::AlterTableCmd& command);
  void require_may_be_null(std::size_t position, SqlState of_identity) const;
  void add_identity(const ast::AlterTableCmd& command);
  void change_identity(const ast::AlterTableCmd& command);
  void drop_identity(const ast::AlterTableCmd& command);
  void drop_expression(const ast::AlterTableCmd& command);
  void set_expression(const ast::AlterTableCmd& command);
  void change_options(const ast::AlterTableCmd& command);
  void set_hint(const ast::AlterTableCmd& command);
  void set_replica_identity(const ast::ReplicaIdentityStmt& statement);
  void set_logged(bool logged);
  void change_owner(const ast::RoleSpec& named);
  void check_type_may_change(std::size_t position) const;
  void recheck_foreign_keys(std::size_t position);
  bool index_reads(const Index& index, std::size_t position) const;
  /// Returns the sequence of an identity column; throws 55000 if it is not an identity column.
  TablePtr identity_sequence(std::size_t position) const;
  /// Throws "column … is not …", or sends it as a notice with IF EXISTS.
  void not_such_column(const ast::AlterTableCmd& command, std::string_view what);
  void fill_column(TableBuilder& builder, Relation relation, std::size_t indexes,
                   std::size_t constraints);
  void finish_builder(TableBuilder& builder, Relation relation, std::size_t old_indexes,
                      std::size_t old_constraints);

  StatementContext& session_;
  TablePtr table_;
  ResultSink& sink_;
  bool persistence_changes_ = false;  ///< by SET LOGGED or SET UNLOGGED, which may come once
};

}  // namespace swizzle::sql

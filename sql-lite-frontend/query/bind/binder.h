#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bound/field_assignment.h"

namespace swizzle::sql {

/// Binds one statement, a query or one that writes: finds the meanings of its names and the types
/// of its expressions.
class Binder final : public QueryBinder {
 public:
  using QueryBinder::QueryBinder;

  /// Binds the key of `partitioned` over a row of `table`, which has columns of the same names.
  std::vector<ExprPtr> bind_partition_key(const Table& partitioned, const Table& table, Slot row);
  /// Returns for each node of the tree the key over a row of the root.
  std::vector<std::vector<ExprPtr>> bind_partition_keys(const PartitionTree& tree, Slot row);

  std::unique_ptr<WriteStatement> bind_insert(const ast::InsertStmt& insert, Scope* parent);
  std::unique_ptr<WriteStatement> bind_update(const ast::UpdateStmt& update, Scope* parent);
  std::unique_ptr<WriteStatement> bind_delete(const ast::DeleteStmt& statement, Scope* parent);
  std::unique_ptr<WriteStatement> bind_merge(const ast::MergeStmt& merge, Scope* parent);
  /// Binds a statement that writes whole rows without an INSERT: COPY FROM. Column i of `columns`
  /// comes from the i-th of `source_slots`.
  std::unique_ptr<WriteStatement> bind_row_source(const TablePtr& table,
                                                  std::span<const std::size_t> columns,
                                                  std::vector<Slot>& source_slots);
  /// Returns the columns' defaults, for COPY FROM with DEFAULT; null for a column that has none.
  std::vector<ExprPtr> bind_column_defaults(const TablePtr& table,
                                            std::span<const std::size_t> columns);
  /// Binds the condition of COPY FROM … WHERE, which rows must satisfy to be written.
  void bind_row_filter(WriteStatement& write, const ast::Node* where);

  /// Returns for each column of a table or view whether UPDATE may set it; empty if the rows cannot
  /// be written at all.
  std::vector<bool> updatable_columns(const TablePtr& relation);

  /// Returns `whole` with the part that the target names set to `value`, as in UPDATE. Unlike
  /// there, a value without a cast is converted through its text, as for variables.
  ExprPtr with_part(ExprPtr whole, ExprPtr value, const ast::ResTarget& target);

  /// Returns the default of a column that has none of its own: its domain's, else NULL.
  ExprPtr type_default(const Column& column);
  /// Returns the reason why a view over the query cannot be written: "containing DISTINCT"; empty
  /// if it can.
  static std::string_view view_hindrance(const ast::SelectStmt& query);

 private:
  // bind_view_write.cpp
  ViewTarget open_view(const TablePtr& view, const WriteStatement& write);
  Scope view_scope(const TablePtr& table, std::string_view alias,
                   std::span<const ViewTargetColumn> columns, Slot first_slot);
  ExprPtr view_condition(const ViewTarget& target, const ViewTarget::Level& level, Slot first_slot);
  void add_view_checks(WriteStatement& write, Slot row);
  [[noreturn]] static void refuse_computed_target(const WriteStatement& write,
                                                  std::string_view column);
  /// Returns the scope of the written relation, with its own names, over the row at `first_slot`.
  Scope write_scope(const WriteStatement& write, Slot first_slot);
  std::optional<std::size_t> target_position(const WriteStatement& write, std::string_view name);
  void restrict_to_view_rows(WriteStatement& write);

  // bind_write.cpp
  void bind_write_target(WriteStatement& write, const ast::RangeVar& range);
  void bind_view_target(WriteStatement& write);
  void bind_row_rules(WriteStatement& write, Slot row);
  /// Binds the rules and checks for rows that UPDATE or MERGE changes, in the table and its
  /// partitions.
  void bind_changed_rows(WriteStatement& write);
  void bind_index_expressions(WriteStatement& write);
  static void note_key_columns(WriteStatement& write);
  void bind_triggers(WriteStatement& write);

  // bind_partitions.cpp
  void bind_bounds(WriteStatement& write, Slot row);
  void bind_partition_writes(WriteStatement& write);
  WriteStatement leaf_statement(const WriteStatement& write, const PartitionTree::Leaf& leaf);
  WriteStatement bind_leaf_insert(const WriteStatement& write, const PartitionTree::Leaf& leaf,
                                  Slot row);
  WriteStatement bind_leaf_change(const WriteStatement& write, const PartitionTree::Leaf& leaf);
  void bind_leaf_triggers(WriteStatement& one);

  std::vector<std::size_t> insert_columns(const WriteStatement& write, ast::NodeList names);
  /// Column list of INSERT, and its OVERRIDING clause.
  struct InsertedColumns {
    ast::NodeList list;
    ast::OverridingKind overriding = {};
  };
  std::vector<ExprPtr> bind_given(ast::NodeList values, Scope& scope);
  static void fit_columns(WriteStatement& write, std::span<const ExprPtr> given,
                          ast::NodeList columns);
  std::vector<ExprPtr> place_given(const WriteStatement& write, std::vector<ExprPtr> given,
                                   std::span<const std::size_t> columns,
                                   const InsertedColumns& named, Scope& scope);
  std::vector<Assignment> bind_merged_insert(WriteStatement& write, ast::NodeList values,
                                             const InsertedColumns& named, Scope& scope);
  void bind_insert_values(WriteStatement& write, const ast::InsertStmt& insert, Scope& scope);
  void bind_insert_select(WriteStatement& write, const ast::InsertStmt& insert, Scope& scope);
  void bind_insert_sets(WriteStatement& write, const ast::InsertStmt& insert, Scope& scope);
  void bind_insert_defaults(WriteStatement& write);
  void check_given_column(const WriteStatement& write, std::size_t position,
                          ast::OverridingKind overriding);
  void bind_conflict(WriteStatement& write, const ast::OnConflictClause& clause, Scope& with_scope);
  /// Binds the value for one column of (a, b) = ROW(t.*, …).
  ExprPtr bind_expanded_field(const ast::MultiAssignRef& multi, const ast::RowExpr& row,
                              Scope& scope);
  const Index* infer_index(const WriteStatement& write, const ast::InferClause& infer);
  bool answers_inference(const WriteStatement& write, const Index& index, Slot first,
                         std::span<const ExprPtr> wanted, const Expr* where);
  std::vector<ExprPtr> bind_assigned(ast::NodeList targets, Scope& scope);
  std::vector<Assignment> bind_assignments(const WriteStatement& write, ast::NodeList targets,
                                           Scope& scope);
  /// Binds the value for one column of (a, b) = (SELECT …) or ROW(…). The subquery itself is bound
  /// with the first column; the others read its result.
  ExprPtr bind_multi_assignment(const ast::MultiAssignRef& multi, Scope& scope,
                                std::vector<ScopeColumn>& further);
  ExprPtr old_value(const Scope& scope, Slot slot);
  ExprPtr default_of(const Table& table, std::size_t position);
  ExprPtr default_of(const WriteStatement& write, std::size_t position);
  static const Column* view_default_of(const WriteStatement& write, std::size_t position);
  std::optional<std::size_t> cursor_variable(std::string_view name);
  void bind_write_condition(WriteStatement& write, const ast::Node* where, Scope& scope);

  // bind_returning.cpp
  /// First slots of the rows that RETURNING can name: the target under its own name, OLD and NEW. A
  /// row without a slot does not exist.
  struct ReturnedRows {
    Slot row;
    std::optional<Slot> old_row;
    std::optional<Slot> new_row;
  };
  void bind_returning(WriteStatement& write, const ast::ReturningClause* returning, Scope& scope,
                      ReturnedRows rows);
  void add_versions(const WriteStatement& write, const ast::ReturningClause& returning,
                    Scope& scope, ReturnedRows& rows);

  // bind_merge.cpp
  void bind_merge_source(WriteStatement& write, const ast::MergeStmt& merge, Scope& source,
                         Scope& with_scope);
  void bind_merge_action(WriteStatement& write, const ast::MergeWhenClause& when, Scope& scope,
                         MergeAction& action);
  void finish_merge_columns(WriteStatement& write);
  FromPtr marked_rows(FromPtr rows, const Scope& scope, Slot marker);

  // bind_part_assignment.cpp
  [[noreturn]] static void refuse_second_assignment(std::string_view column);
  static void refuse_second_names(const WriteStatement& write);
  static ExprPtr take_earlier_parts(std::vector<Assignment>& assignments, std::size_t position,
                                    const ast::ResTarget& target);
  static void refuse_default_part(const ast::ResTarget& target);
  /// Returns the type of the value that is assigned to the target: the column's, or that of its
  /// elements.
  TypeId part_type(const ast::ResTarget& target, const Column& column);
  /// Converts `value` to the type of the part to which it is assigned.
  ExprPtr coerce_part(ExprPtr value, TypeId type, std::int32_t typmod);
  /// Binds a step by subscripts and adds these to `indices`. Returns the type of the part that the
  /// step reaches.
  TypeId subscript_part(PartAssignment::Step& step, ast::NodeList path, TypeId type,
                        const ast::ResTarget& target, Scope& scope, std::vector<ExprPtr>& indices);
  /// Returns `whole` with the part at the end of `path` set to `value`. The path may lead through
  /// elements and fields in any order.
  ExprPtr assign_within(ExprPtr whole, ast::NodeList path, ExprPtr value,
                        const ast::ResTarget& target, const Column& column, Scope& scope);
  /// Returns `array` with the target's element or slice set to `value`.
  ExprPtr part_assignment(ExprPtr array, ExprPtr value, const ast::ResTarget& target,
                          const Column& column, Scope& scope);
  ExprPtr hstore_pair_assignment(ExprPtr whole, ExprPtr value, const ast::ResTarget& target,
                                 const Column& column, Scope& scope);
  ExprPtr json_part_assignment(ExprPtr whole, ExprPtr value, const ast::ResTarget& target,
                               const Column& column, Scope& scope);
  ExprPtr slice_assignment(ExprPtr array, ExprPtr value, const ast::ResTarget& target,
                           const Column& column, Scope& scope);
  /// Returns the value that an INSERT gives the column: `value` as it is, or put into the array
  /// that earlier parts of the same list made (`earlier`, null without any).
  ExprPtr inserted_value(ExprPtr earlier, ExprPtr value, const ast::ResTarget* target,
                         const Column& column, Scope& scope);

  // row_security.cpp
  enum class PolicyPart : std::uint8_t { check, using_rows };
  void add_policy_checks(const TablePtr& table, Slot first_slot, char command, PolicyPart part,
                         std::vector<WriteCheck>& checks);
  void secure_write(WriteStatement& write);
  void secure_merge(WriteStatement& write, bool reads);

  // access.cpp
  void note_reads(const WriteStatement& write, Expr& expr, Slot first_slot);
  void note_inserted(const WriteStatement& write);
  static std::vector<std::size_t> in_view(const WriteStatement& write,
                                          std::span<const std::size_t> positions);
  void note_columns(const WriteStatement& write, std::span<const Assignment> assignments);

  // bind_with.cpp
  void bind_writing_cte(BoundCte& cte, const ast::CommonTableExpr& node, Scope& scope) override;

  bool parts_are_of_variables_ = false;  ///< true if the parts are of variables and not of columns
};

}  // namespace swizzle::sql

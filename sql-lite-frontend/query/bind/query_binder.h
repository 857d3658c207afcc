#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bind/expression_binder.h"

namespace swizzle::sql {

/// Binds queries: FROM, the select list, grouping, order and WITH.
class QueryBinder : public ExpressionBinder {
 public:
  using ExpressionBinder::ExpressionBinder;

  std::unique_ptr<Query> bind_select(const ast::SelectStmt& select, Scope* parent,
                                     OutputTypes output = OutputTypes::final) override;
  /// Binds the query of a stored view. Its names keep the meaning that they had when the view was
  /// made.
  std::unique_ptr<Query> bind_view_query(const Table& view);
  /// The same with `select`, the parsed text of the view.
  std::unique_ptr<Query> bind_view_query(const Table& view, const ast::SelectStmt& select);
  /// Binds the view's query only for relations_read(), which are the view's own then. Views that it
  /// reads are not expanded, so their depth does not matter.
  void read_view(const Table& view);
  std::unique_ptr<Query> read_view(const Table& view, const ast::SelectStmt& select);
  /// From here on policies decide which rows of tables the statement sees and may write. Not called
  /// for a statement that is only inspected, nor for statements of the system itself.
  void apply_policies() noexcept { applies_policies_ = true; }
  /// Returns true if the statement uses a table whose row security is on, so that its plan is valid
  /// for this role only.
  [[nodiscard]] bool met_policies() const noexcept { return met_policies_; }
  /// Marks the columns that policies read; the user needs no right to them. Call after accesses()
  /// and after unused targets are removed, before anything is planned.
  void mark_policy_reads();
  /// Returns the condition of a policy of the table, whose row is in slots from `first_slot` on.
  ExprPtr bind_policy(const PolicyCondition& condition, const TablePtr& table, Slot first_slot);
  /// Binds the condition only for relations_read(), which are those of its subqueries then.
  void read_policy(const PolicyCondition& condition, const TablePtr& table, Slot first_slot);
  /// Returns the table. Throws 42P01 with PostgreSQL's message when there is none.
  TablePtr require_table(const ast::RangeVar& range);
  /// The same for definitions and utility commands, for which the error has no position.
  TablePtr require_relation(const ast::RangeVar& range);
  TablePtr find_table(const ast::RangeVar& range);

 protected:
  // bind_from.cpp, bind_from_function.cpp, bind_join.cpp, bind_with.cpp
  void note_name(const ast::RangeVar& range, const Table& table);
  void refuse_no_table(const ast::RangeVar& range);
  [[noreturn]] void throw_missing_relation(const ast::RangeVar& range, const Scope& scope);
  FromPtr bind_from_item(const ast::Node* node, Scope& scope);
  FromPtr bind_from_node(const ast::Node* node, Scope& scope);
  FromPtr bind_range_var(const ast::RangeVar& range, Scope& scope);
  FromPtr bind_view(const TablePtr& view, const ast::RangeVar& range, Scope& scope);
  /// Returns the partitions, or the heirs, for which the name stands; null for a table without
  /// either. With ONLY that is just the partitioned table itself, which has no rows, or null.
  PartitionTreePtr partitions_of(const TablePtr& table, bool only);
  PartitionTreePtr whole_tree(const TablePtr& table);
  FromPtr bind_sequence(const TablePtr& sequence, const ast::RangeVar& range, Scope& scope);
  const ViewName* view_name(const ast::RangeVar& range) const;
  static void restrict_to_view(ScopeItem& item, const ViewName& known);
  FromPtr bind_range_subselect(const ast::RangeSubselect& node, Scope& scope);
  FromPtr bind_range_function(const ast::RangeFunction& node, Scope& scope);
  /// The numbers that the fields of a row have among its type's attributes, in which dropped ones
  /// count.
  struct RowFields {
    std::size_t count;  ///< number of the attributes
    std::vector<std::int16_t> numbers;
    TypePtr type;  ///< null if the row has no type: the fields are numbered on their own
  };
  RowFields fields_of(TypeId row, std::size_t count);
  void keep_known_fields(ScopeItem& item, std::size_t before, TypeId row, const RowFields& fields,
                         Slot first);
  FromCall bind_from_call(const ast::Node* node, ast::NodeList definitions, Scope& scope,
                          ScopeItem& item, std::string_view alias);
  FromPtr bind_xml_table(const ast::RangeTableFunc& node, Scope& scope);
  void bind_xml_columns(const ast::RangeTableFunc& node, Scope& scope, FromCall& call,
                        ScopeItem& item);
  // bind_json_table.cpp
  struct JsonTableRows;
  struct JsonTableScope;
  FromPtr bind_json_table(const ast::JsonTable& node, Scope& scope);
  void bind_json_table_level(ast::NodeList columns, std::size_t level, JsonTableScope& table);
  void add_json_column(const ast::JsonTableColumn& node, std::size_t level, JsonTableScope& table);
  void add_json_rows(const ast::JsonTablePathSpec& path, std::int64_t parent,
                     JsonTableScope& table);
  // bind_sample.cpp
  FromPtr bind_table_sample(const ast::RangeTableSample& node, Scope& scope);
  ExprPtr bind_sample_argument(const ast::Node* node, TypeId type, std::string_view what,
                               Scope& scope);
  FromPtr bind_join(const ast::JoinExpr& node, Scope& scope);
  ScopeColumn merge_columns(const ScopeColumn& left, const ScopeColumn& right, FromJoin& join,
                            Scope& scope);
  void bind_using(const ast::JoinExpr& node, FromJoin& join, Scope& scope, std::size_t left_begin,
                  std::size_t right_begin, std::span<const std::string> names);
  FromPtr bind_cte_reference(const std::shared_ptr<BoundCte>& cte, const ast::RangeVar& range,
                             Scope& scope);
  void apply_alias(ScopeItem& item, const ast::Alias* alias);
  void add_item(Scope& scope, ScopeItem item);
  /// Throws 42712 if another item that can be named has the name.
  static void require_distinct(const Scope& scope, const ScopeItem& item);
  void bind_with(const ast::WithClause* with, Scope& scope, Query& query);
  void bind_with(const ast::WithClause* with, Scope& scope,
                 std::vector<std::shared_ptr<BoundCte>>& eager);
  virtual void bind_writing_cte(BoundCte& cte, const ast::CommonTableExpr& node, Scope& scope) = 0;
  void bind_recursive(BoundCte& cte, const ast::CommonTableExpr& node, Scope& scope);

  // bind_select.cpp
  void bind_values(const ast::SelectStmt& select, Scope& scope, Query& query);
  void bind_set_operation(const ast::SelectStmt& select, Scope& scope, Query& query);
  DerivedCollation collation_of_targets(const OutputTarget& left, const OutputTarget& right,
                                        bool needed);
  void bind_plain_select(const ast::SelectStmt& select, Scope& scope, Query& query,
                         OutputTypes output);
  void bind_targets(ast::NodeList list, Scope& scope, std::vector<OutputTarget>& targets);
  static void refuse_more_targets(std::size_t count);
  void finish_targets(std::vector<OutputTarget>& targets, OutputTypes output);
  void bind_order(ast::NodeList clause, Scope& scope, Query& query);
  ExprPtr order_expression(const ast::Node* node, Scope& scope, Query& query, Clause clause);
  void bind_distinct(ast::NodeList clause, Scope& scope, Query& query);
  static void check_distinct_on(ast::NodeList clause, Query& query);
  void bind_limit(const ast::SelectStmt& select, Scope& scope, Query& query);
  void bind_locking(ast::NodeList clause, Scope& scope, Query& query);

  // bind_group.cpp
  void bind_group_by(const ast::SelectStmt& select, Scope& scope, Query& query);
  void bind_grouping_sets(std::vector<GroupingItem> items, bool distinct, Query& query);
  void check_grouping(Scope& scope, Query& query);

  // row_security.cpp
  [[nodiscard]] bool is_row_secured(const Table& table) {
    return table.relation.row_security && is_row_secured_now(table);
  }
  bool is_row_secured_now(const Table& table);
  struct Policies {
    std::vector<const Policy*> permissive;
    std::vector<const Policy*> restrictive;
  };
  Policies policies_for(const Table& table, char command);
  Scope policy_scope(const PolicyCondition& condition, const TablePtr& table, Slot first_slot);
  FromPtr secured_rows(FromTable table);
  /// The table's columns, in their own slots.
  static std::vector<OutputTarget> row_targets(const Table& table, const std::string& alias,
                                               Slot first_slot);
  void secure_locked(Query& rows);
  void add_policy_conditions(const TablePtr& table, Slot first_slot, char command,
                             std::vector<ExprPtr>& conditions);

  // access.cpp
  std::size_t note_access(const TablePtr& table, Privileges wants, std::optional<Slot> first_slot);
  static Oid role_behind(const Table& view);
  void note_locks(const FromNode& node, std::span<const std::string> of);

  /// Adds as dependencies the tables that its foreign keys reference and those that reference it,
  /// since the plan contains their definitions too.
  void depend_on_foreign_keys(const Table& table);
};

}  // namespace swizzle::sql

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/text/query_text.h"
#include "sql-lite-frontend/query/text/range_names.h"

namespace swizzle::sql {

/// Prints a query and its subqueries. Lists, clauses and subqueries begin new lines, indented as in
/// PostgreSQL.
class QueryPrinter final : public QueryTexts {
 public:
  QueryPrinter(const BindingNotes& notes, Binder& binder, QueryLayout layout);

  /// Names of a query's result columns in its context.
  struct ResultNames {
    std::span<const std::string> given = {};  ///< empty: the query's own
    bool are_visible = false;  ///< true: every expression's column is written with its name
  };
  void print_whole(const Query& query, std::span<const std::string> names);
  void print_condition(const Expr& condition, const Table& table, Slot first_slot);
  [[nodiscard]] std::string take() { return std::move(printer_.out); }

  void print_slot(ExprPrinter& printer, const SlotExpr& slot) override;
  [[nodiscard]] bool is_column(const SlotExpr& slot) const override;
  void print_row(ExprPrinter& printer, const SlotExpr& column) override;
  void print_beside(ExprPrinter& printer, const SlotExpr& column, std::string_view name) override;
  void print_subquery(ExprPrinter& printer, const SubqueryExpr& subquery) override;

 private:
  /// A query that is being printed.
  struct Level {
    const Query* query = nullptr;  ///< null: a table whose columns a condition reads
    const RangeNames* names = nullptr;
    /// Columns have their relation's name before them. As in PostgreSQL, they have none in an
    /// outermost query of one relation.
    bool qualifies = true;
  };
  /// Scope in which a subquery of an expression is printed.
  class WithinExpression;

  // query_printer.cpp
  void print_query(const Query& query, ResultNames names);
  void print_body(const Query& query, ResultNames names);
  void print_with(const BindingNotes::OfQuery& note);
  void print_cte(const BoundCte& cte, const ast::CommonTableExpr& syntax);
  void print_select(const Query& query, ResultNames names);
  void print_values(const Query& query, ResultNames names);
  void print_rows(const Query& query);
  void print_set_operation(const Query& query, ResultNames names);
  void print_part(const Query& part, ResultNames names);
  [[nodiscard]] bool is_leaf(const Query& part) const;
  void print_targets(const Query& query, ResultNames names);
  void print_target(const OutputTarget& target, const std::string& name, bool is_visible);
  void print_grouping(const Query& query);
  void print_grouping_item(const Query& query, const GroupingItem& item, bool may_stand_alone);
  void print_tail(const Query& query);
  void print_locks(const Query& query);
  void print_sort_expression(const Expr& expr);
  void print_order(std::span<const SortKey> order, std::size_t count);
  void print_query_order(const Query& query);
  /// Returns the select list's expression for a slot; for other expressions returns `expr`.
  static const Expr& listed(const Query& query, const Expr& expr);
  [[nodiscard]] bool looks_like_call(const Expr& expr) const;
  [[nodiscard]] const BindingNotes::OfQuery& note_of(const Query& query) const;

  // call_text.cpp
  void print_aggregate(const AggregateCall& call, const ast::FuncCall& syntax);
  void print_aggregate_call(const AggregateCall& call, const ast::FuncCall& syntax);
  void print_json_aggregate(const AggregateCall& call, const BindingNotes::OfJsonAggregate& words,
                            std::size_t keys);
  void print_window_call(const WindowDefinition& window, const WindowCall& call,
                         const ast::FuncCall& syntax);
  void print_window(const WindowDefinition& window, const ast::WindowDef& syntax);
  void print_frame(const WindowFrame& frame, std::int32_t options);
  void print_named_windows(const Query& query);
  void print_call(const Function* function, const RoutineCallPtr& routine,
                  std::span<const ExprPtr> arguments);
  [[nodiscard]] std::string function_name(const Function& function, const Routine* routine) const;
  void print_arguments(std::span<const ExprPtr> arguments, bool last_is_variadic);
  /// Prints the call or group key that the query of that level puts in the slot. Returns false if
  /// the slot is neither.
  bool print_computed(ExprPrinter& printer, const Level& level, const SlotExpr& slot);
  static bool is_computed(const Level& level, const SlotExpr& slot);

  // from_text.cpp
  void print_from(const Query& query);
  void print_item(const FromNode& node);
  // json_table_text.cpp
  struct JsonTableText;
  void print_json_table(const Query& query, const ast::JsonTable& syntax);
  void print_json_table_path(const ast::JsonTablePathSpec& syntax, JsonTableText& table);
  void print_json_table_columns(ast::NodeList columns, JsonTableText& table);
  void print_sample(const TableSample& sample);
  void print_join(const FromNode& node, const FromJoin& join);
  void print_functions(const FromFunctions& functions, const ast::RangeFunction& syntax);
  /// True if the functions read columns of the same FROM clause.
  [[nodiscard]] bool reads_siblings(const FromFunctions& functions) const;
  void print_function(const FromCall& call);
  void print_relation(const Table& table, const ast::RangeVar& syntax);
  void print_alias(const RangeName& range);
  void print_column_types(const FromFunctions& functions);
  [[nodiscard]] bool names_cte(std::string_view name) const;

  void write(std::string_view text) { printer_.out += text; }
  /// Begins a line with the word. Adds `before` to the indent, then, after the word, `after`;
  /// `plus` applies to this line alone.
  void begin_line(std::string_view word, int before, int after, int plus);
  [[nodiscard]] std::size_t line_length() const;
  void print_operand(const Expr& expr) { printer_.print(expr); }
  const RangeNames& names() const { return *levels_.back().names; }

  const BindingNotes& notes_;
  QueryLayout layout_;
  ExprPrinter printer_;
  ObjectNames* objects_;
  std::vector<Level> levels_;
  std::vector<const RangeNames*> around_;
  std::map<const Expr*, PendingSubquery*> subqueries_;
};

/// Width by which clauses, joins and list items are indented.
inline constexpr int kIndent = 8;
inline constexpr int kIndentOfJoin = 4;
inline constexpr int kIndentOfItem = 4;

}  // namespace swizzle::sql

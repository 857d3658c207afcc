#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binding_notes.h"
#include "sql-lite-frontend/query/bind/missing_names.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bind/row_star.h"
#include "sql-lite-frontend/query/bound/expression_copy.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Returns the location of an expression that is not bound yet, for errors.
std::int32_t location_of(const ast::Node* node) {
  if (node == nullptr) return -1;
  if (const auto* column = ast::try_as<ast::ColumnRef>(node)) return column->location;
  if (const auto* constant = ast::try_as<ast::A_Const>(node)) return constant->location;
  if (const auto* call = ast::try_as<ast::FuncCall>(node)) return call->location;
  if (const auto* cast = ast::try_as<ast::TypeCast>(node)) return location_of(cast->arg);
  if (const auto* op = ast::try_as<ast::A_Expr>(node)) {
    return op->lexpr != nullptr ? location_of(op->lexpr) : op->location;
  }
  return -1;
}

}  // namespace

std::unique_ptr<Query> QueryBinder::bind_select(const ast::SelectStmt& select, Scope* parent,
                                                OutputTypes output) {
  check_stack();
  auto query = std::make_unique<Query>();
  Scope scope;
  scope.parent = parent;
  scope.query = query.get();
  scope.outer_slots = &query->outer_slots;
  if (select.into_clause != nullptr) {
    throw SqlError{sqlstate::syntax_error, "SELECT ... INTO is not allowed here"}.at_position(
        select.into_clause->rel->location + 1);
  }
  bind_with(select.with_clause, scope, *query);
  if (select.op != ast::SetOperation::none && select.op != ast::SetOperation::undefined) {
    bind_set_operation(select, scope, *query);
  } else if (!select.values_lists.empty()) {
    bind_values(select, scope, *query);
  } else {
    bind_plain_select(select, scope, *query, output);
  }
  bind_limit(select, scope, *query);
  bind_locking(select.locking_clause, scope, *query);
  remove_repeats(query->outer_slots);
  if (notes_ != nullptr) notes_->queries[query.get()] = {&select, scope.ctes};
  return query;
}

void QueryBinder::bind_plain_select(const ast::SelectStmt& select, Scope& scope, Query& query,
                                    OutputTypes output) {
  const Slot first_own = slot_count();
  // A locking clause locks everything below it, also in subqueries of FROM and in views.
  const bool around = std::exchange(locks_rows_, locks_rows_ || !select.locking_clause.empty());
  const bool rechecks = locks_rows_;
  for (const ast::Node* item : select.from_clause) {
    query.from.push_back(bind_from_item(item, scope));
  }
  locks_rows_ = false;
  for (const ast::Node* node : select.window_clause) {
    const auto& window = ast::as<ast::WindowDef>(node);
    for (const auto& [name, definition] : scope.named_windows) {
      if (name != window.name) continue;
      throw sql_error(SqlState{"42P20"}, "window \"{}\" is already defined", name)
          .at_position(window.location + 1);
    }
    scope.named_windows.emplace_back(std::string{window.name}, &window);
  }
  // The order matters, because the first use of a parameter determines its type.
  const std::vector<bool> used_before = scope.parent == nullptr ? std::vector<bool>{} : used_;
  {
    const ClauseScope clause{scope, Clause::select_list};
    bind_targets(select.target_list, scope, query.targets);
  }
  std::vector<Slot> read_by_targets;
  for (Slot slot = first_own; slot < used_before.size(); ++slot) {
    if (is_used(slot) && !used_before[slot]) read_by_targets.push_back(slot);
  }
  for (const Slot slot : read_by_targets) mark_unused(slot);
  if (select.where_clause != nullptr) {
    const ClauseScope clause{scope, Clause::where};
    query.where.push_back(bind_condition(select.where_clause, scope, "WHERE"));
    if (rechecks) {
      query.recheck.push_back(bind_condition(select.where_clause, scope, "WHERE"));
    }
  }
  for (const Slot slot : read_by_targets) {
    if (!is_used(slot)) query.read_by_targets.push_back(slot);
    mark_used(slot);
  }
  if (select.having_clause != nullptr) {
    const ClauseScope clause{scope, Clause::having};
    query.grouped = true;
    query.having.push_back(bind_condition(select.having_clause, scope, "HAVING"));
  }
  bind_group_by(select, scope, query);
  finish_targets(query.targets, output);
  // An output column that is an outer query's column gets a slot of its own: where an outer join
  // finds no row of this query, the output column is NULL, but the outer query's column is not.
  for (OutputTarget& target : query.targets) {
    if (std::ranges::find(query.outer_slots, target.slot) == query.outer_slots.end()) continue;
    target.slot = new_slot();
    mark_used(target.slot);
  }
  // A select list item that ORDER BY or DISTINCT ON names is computed once, in its target's slot.
  bind_distinct(select.distinct_clause, scope, query);
  bind_order(select.sort_clause, scope, query);
  check_distinct_on(select.distinct_clause, query);
  if (query.reads_working_table && !query.aggregates.empty()) {
    throw SqlError{SqlState{"42P19"},
                   "aggregate functions are not allowed in a recursive query's recursive term"}
        .at_position(query.aggregates[0].location + 1);
  }
  if (query.grouped) check_grouping(scope, query);
  locks_rows_ = around;
}

SortKey ExpressionBinder::sort_key(const ast::SortBy& node, ExprPtr expr) {
  SortKey key;
  if (expr->type() == TypeId::unknown) {
    expr = coerce(std::move(expr), TypeId::text, kNoTypmod, Implicitness::implicit);
  }
  apply_usual_collation(*expr);
  if (compare_function(expr->type()) == nullptr) {
    throw sql_error(sqlstate::undefined_function,
                    "could not identify an ordering operator for type {}",
                    format_type(expr->type()))
        .with_hint("Use an explicit ordering operator or modify the query.")
        .at_position(location_of(node.node) + 1);
  }
  key.expr = std::move(expr);
  if (node.sortby_dir == ast::SortByDir::desc) key.direction = SortDirection::descending;
  if (node.sortby_dir == ast::SortByDir::using_) {
    const std::string_view op = ast::string_of(node.use_op.back());
    const bool is_by_bytes = (op == "~<~" || op == "~>~") && is_collatable(key.expr->type());
    if (is_by_bytes) {
      const TypeId plain = without_collation(key.expr->type());
      key.expr->set_type(with_collation(plain, collation_id::c), key.expr->typmod());
    }
    if (op == ">" || (is_by_bytes && op == "~>~")) {
      key.direction = SortDirection::descending;
    } else if (op != "<" && !is_by_bytes) {
      ExprPtr left = copy_expression(*key.expr);
      ExprPtr right = copy_expression(*key.expr);
      if (left && right) {
        static_cast<void>(call_operator(op, std::move(left), std::move(right), node.location));
      }
      throw sql_error(sqlstate::wrong_object_type, "operator {} is not a valid ordering operator",
                      op)
          .with_hint(
              "Ordering operators must be \"<\" or \">\" members of btree operator families.")
          .at_position(node.location + 1);
    }
  }
  key.nulls = key.direction == SortDirection::descending ? NullsOrder::first : NullsOrder::last;
  if (node.sortby_nulls == ast::SortByNulls::first) key.nulls = NullsOrder::first;
  if (node.sortby_nulls == ast::SortByNulls::last) key.nulls = NullsOrder::last;
  return key;
}

/// Binds an item of ORDER BY or DISTINCT ON. A number is a position in the select list; a bare name
/// is an output column if there is one; anything else is an expression over the input.
ExprPtr QueryBinder::order_expression(const ast::Node* node, Scope& scope, Query& query,
                                      Clause clause) {
  const auto use = [&](const OutputTarget& target) {
    mark_used(target.slot);
    ExprPtr expr = std::make_unique<SlotExpr>(target.type, target.typmod, target.slot,
                                              SlotExpr::Origin{kNoOid, 0, {}, target.name});
    return expr;
  };
  if (const auto* number = ast::try_as<ast::A_Const>(node)) {
    if (number->ival == nullptr) {
      throw sql_error(sqlstate::syntax_error, "non-integer constant in {}", clause_name(clause))
          .at_position(number->location + 1);
    }
    const std::int32_t position = number->ival->ival;
    if (position < 1 || static_cast<std::size_t>(position) > query.targets.size()) {
      throw sql_error(sqlstate::invalid_column_reference, "{} position {} is not in select list",
                      clause_name(clause), position)
          .at_position(number->location + 1);
    }
    return use(query.targets[static_cast<std::size_t>(position) - 1]);
  }
  if (const auto* column = ast::try_as<ast::ColumnRef>(node);
      column != nullptr && column->fields.size() == 1 && ast::is<ast::String>(column->fields[0])) {
    const std::string_view name = ast::string_of(column->fields[0]);
    const OutputTarget* match = nullptr;
    for (const OutputTarget& target : query.targets) {
      if (target.name != name) continue;
      const bool same = match == nullptr || match->slot == target.slot ||
                        (match->expr && target.expr && same_expression(*match->expr, *target.expr));
      if (!same) {
        throw sql_error(sqlstate::ambiguous_column, "{} \"{}\" is ambiguous", clause_name(clause),
                        name)
            .at_position(column->location + 1);
      }
      if (match == nullptr) match = &target;
    }
    if (match != nullptr) return use(*match);
  }
  if (query.body != Query::Body::select && !ast::is<ast::ColumnRef>(node)) {
    throw SqlError{sqlstate::feature_not_supported,
                   "invalid UNION/INTERSECT/EXCEPT ORDER BY clause"}
        .with_detail("Only result column names can be used, not expressions or functions.")
        .with_hint(
            "Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
        .at_position(location_of(node) + 1);
  }
  const ClauseScope in_clause{scope, clause};
  ExprPtr expr = bind_expression(node, scope);
  for (const OutputTarget& target : query.targets) {
    if (target.expr && same_expression(*target.expr, *expr)) return use(target);
  }
  return expr;
}

void QueryBinder::bind_order(ast::NodeList clause, Scope& scope, Query& query) {
  for (const ast::Node* node : clause) {
    const auto& sort = ast::as<ast::SortBy>(node);
    SortKey key = sort_key(sort, order_expression(sort.node, scope, query, Clause::order_by));
    require_collation_of_key(*key.expr, &query);
    if (query.distinct == Query::DistinctKind::all) {
      const auto* slot = dynamic_cast<const SlotExpr*>(key.expr.get());
      const bool listed = slot != nullptr && std::ranges::any_of(query.targets, [&](const auto& t) {
                            return t.slot == slot->slot();
                          });
      if (!listed) {
        throw SqlError{sqlstate::invalid_column_reference,
                       "for SELECT DISTINCT, ORDER BY expressions must appear in select list"}
            .at_position(sort.location >= 0 ? sort.location + 1 : key.expr->location() + 1);
      }
    }
    query.order.push_back(std::move(key));
  }
}

void QueryBinder::bind_distinct(ast::NodeList clause, Scope& scope, Query& query) {
  if (clause.empty()) return;
  // Plain DISTINCT arrives as a list with one empty node.
  const bool plain =
      clause.size() == 1 && (clause[0] == nullptr || clause[0]->node_kind == ast::NodeKind::none);
  query.distinct = plain ? Query::DistinctKind::all : Query::DistinctKind::on;
  if (plain) {
    for (OutputTarget& target : query.targets) {
      const std::int32_t location = target.expr ? target.expr->location() : -1;
      if (target.type != TypeId::unknown) require_equality(target.type, location);
      if (target.expr) require_collation_of_key(*target.expr, nullptr);
      target.type = in_database(target.type, names_.database_collation());
    }
    return;
  }
  for (const ast::Node* node : clause) {
    query.distinct_on.push_back(order_expression(node, scope, query, Clause::distinct_on));
    require_collation_of_key(*query.distinct_on.back(), &query);
    order_as_database(*query.distinct_on.back());
  }
}

/// Checks that ORDER BY begins with the expressions of DISTINCT ON, in any order. If it consists of
/// some of them alone, the others order the rows after them.
void QueryBinder::check_distinct_on(ast::NodeList clause, Query& query) {
  if (query.distinct != Query::DistinctKind::on || query.order.empty()) return;
  std::vector<bool> seen(query.distinct_on.size(), false);
  bool has_others = false;
  for (const SortKey& key : query.order) {
    const auto found = std::ranges::find_if(
        query.distinct_on, [&](const ExprPtr& expr) { return same_expression(*expr, *key.expr); });
    has_others = found == query.distinct_on.end();
    if (has_others) break;
    seen[static_cast<std::size_t>(found - query.distinct_on.begin())] = true;
  }
  const auto missing = std::ranges::find(seen, false);
  if (missing == seen.end()) return;
  const auto place = static_cast<std::size_t>(missing - seen.begin());
  if (has_others) {
    throw SqlError{sqlstate::invalid_column_reference,
                   "SELECT DISTINCT ON expressions must match initial ORDER BY expressions"}
        .at_position(location_of(clause[place]) + 1);
  }
  for (std::size_t i = place; i < seen.size(); ++i) {
    if (seen[i]) continue;
    ExprPtr key = copy_expression(*query.distinct_on[i]);
    if (!key) unsupported("this expression of DISTINCT ON beside ORDER BY", location_of(clause[i]));
    query.order.push_back({std::move(key)});
  }
}

void QueryBinder::bind_limit(const ast::SelectStmt& select, Scope& scope, Query& query) {
  const auto count = [&](const ast::Node* node, Clause clause) -> ExprPtr {
    if (node == nullptr) return nullptr;
    const ClauseScope in_clause{scope, clause};
    // Columns of the query itself are not allowed.
    std::vector<ScopeItem> items = std::move(scope.items);
    scope.items.clear();
    ExprPtr expr;
    try {
      expr = bind_expression(node, scope);
    } catch (SqlError& error) {
      scope.items = std::move(items);
      if (error.state() == sqlstate::undefined_column) {
        // If the query has no such column either, this throws that error.
        static_cast<void>(bind_expression(node, scope));
        throw sql_error(sqlstate::invalid_column_reference,
                        "argument of {} must not contain variables", clause_name(clause))
            .at_position(error.fields().position);
      }
      throw;
    }
    scope.items = std::move(items);
    const TypeId source = expr->type();
    const std::int32_t location = expr->location();
    ExprPtr coerced = try_coerce(expr, TypeId::int8, kNoTypmod, Implicitness::assignment);
    if (coerced == nullptr) {
      throw sql_error(sqlstate::datatype_mismatch,
                      "argument of {} must be type bigint, not type {}", clause_name(clause),
                      format_type(source))
          .at_position(location + 1);
    }
    return coerced;
  };
  query.offset = count(select.limit_offset, Clause::offset);
  query.limit = count(select.limit_count, Clause::limit);
  query.with_ties = select.limit_option == ast::LimitOption::with_ties;
}

void QueryBinder::bind_values(const ast::SelectStmt& select, Scope& scope, Query& query) {
  query.body = Query::Body::values;
  const ClauseScope clause{scope, Clause::values};
  for (const ast::Node* node : select.values_lists) {
    std::vector<ExprPtr> row;
    for (const ast::Node* value : ast::as<ast::List>(node).items) {
      if (ast::is<ast::SetToDefault>(value)) {
        throw SqlError{sqlstate::syntax_error, "DEFAULT is not allowed in this context"}
            .at_position(ast::as<ast::SetToDefault>(value).location + 1);
      }
      if (is_star_of_row(value)) {
        ast::RowExpr whole{};
        whole.args = ast::NodeList{&value, 1};
        std::ranges::move(fields_of_row(whole, scope), std::back_inserter(row));
      } else {
        row.push_back(bind_expression(value, scope));
      }
      refuse_more_targets(row.size());
    }
    if (!query.rows.empty() && row.size() != query.rows[0].size()) {
      throw SqlError{sqlstate::syntax_error, "VALUES lists must all be the same length"}
          .at_position(row.empty() ? 0 : row[0]->location() + 1);
    }
    query.rows.push_back(std::move(row));
  }
  for (std::size_t column = 0; column < query.rows[0].size(); ++column) {
    std::vector<ExprPtr> values;
    for (auto& row : query.rows) values.push_back(std::move(row[column]));
    TypeId type = TypeId::none;
    values = unify(std::move(values), "VALUES", type, -1);
    const std::int32_t typmod = common_typmod(values);
    for (std::size_t row = 0; row < query.rows.size(); ++row) {
      query.rows[row][column] = std::move(values[row]);
    }
    OutputTarget target;
    target.name = fmt::format("column{}", column + 1);
    target.type = type;
    target.typmod = typmod;
    target.slot = new_slot();
    mark_used(target.slot);
    query.body_slots.push_back(target.slot);
    query.targets.push_back(std::move(target));
  }
  if (!select.sort_clause.empty()) {
    // The name under which PostgreSQL shows the rows of VALUES.
    ScopeItem rows;
    rows.alias = "*VALUES*";
    for (const OutputTarget& target : query.targets) {
      rows.columns.push_back({target.name,
                              target.type,
                              target.typmod,
                              target.slot,
                              {kNoOid, 0, rows.alias, target.name}});
    }
    rows.show_all();
    scope.items.push_back(std::move(rows));
  }
  bind_order(select.sort_clause, scope, query);
}

}  // namespace swizzle::sql

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/bind/missing_names.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Where an expression begins, for errors that are noticed before it is bound.
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

std::int32_t location_of(const std::vector<OutputTarget>& targets) {
  return targets.empty() || !targets[0].expr ? -1 : targets[0].expr->location();
}

}  // namespace

std::unique_ptr<Query> Binder::bind_select(const ast::SelectStmt& select, Scope* parent,
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
  return query;
}

void Binder::bind_plain_select(const ast::SelectStmt& select, Scope& scope, Query& query,
                               OutputTypes output) {
  const Slot first_own = slot_count();
  // What is below a locking clause, in subqueries of FROM and in views, too.
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
  // In this order, because the first use of a parameter tells its type.
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
  bind_group_by(select.group_clause, scope, query);
  finish_targets(query.targets, output);
  // An outer query's column gets a place of its own: where an outer join finds no row of this
  // query, what it selects is NULL, and the column is not.
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

SortKey Binder::sort_key(const ast::SortBy& node, ExprPtr expr) {
  SortKey key;
  if (expr->type() == TypeId::unknown) {
    expr = coerce(std::move(expr), TypeId::text, kNoTypmod, Implicitness::implicit);
  }
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
    if (op == ">") {
      key.direction = SortDirection::descending;
    } else if (op != "<") {
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

/// What ORDER BY and DISTINCT ON mean: a number is a position in the select list, a bare name is an
/// output column first, anything else is an expression over the input.
ExprPtr Binder::order_expression(const ast::Node* node, Scope& scope, Query& query, Clause clause) {
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

void Binder::bind_order(ast::NodeList clause, Scope& scope, Query& query) {
  for (const ast::Node* node : clause) {
    const auto& sort = ast::as<ast::SortBy>(node);
    SortKey key = sort_key(sort, order_expression(sort.node, scope, query, Clause::order_by));
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

void Binder::bind_distinct(ast::NodeList clause, Scope& scope, Query& query) {
  if (clause.empty()) return;
  // Plain DISTINCT comes as a list with one empty node.
  const bool plain =
      clause.size() == 1 && (clause[0] == nullptr || clause[0]->node_kind == ast::NodeKind::none);
  query.distinct = plain ? Query::DistinctKind::all : Query::DistinctKind::on;
  if (plain) {
    for (const OutputTarget& target : query.targets) {
      const std::int32_t location = target.expr ? target.expr->location() : -1;
      if (target.type != TypeId::unknown) require_equality(target.type, location);
    }
    return;
  }
  for (const ast::Node* node : clause) {
    query.distinct_on.push_back(order_expression(node, scope, query, Clause::distinct_on));
  }
}

/// ORDER BY begins with the expressions of DISTINCT ON, in any order.
void Binder::check_distinct_on(ast::NodeList clause, const Query& query) {
  if (query.distinct != Query::DistinctKind::on || query.order.empty()) return;
  std::vector<bool> seen(query.distinct_on.size(), false);
  for (const SortKey& key : query.order) {
    const auto found = std::ranges::find_if(
        query.distinct_on, [&](const ExprPtr& expr) { return same_expression(*expr, *key.expr); });
    if (found == query.distinct_on.end()) break;
    seen[static_cast<std::size_t>(found - query.distinct_on.begin())] = true;
  }
  const auto missing = std::ranges::find(seen, false);
  if (missing == seen.end()) return;
  throw SqlError{sqlstate::invalid_column_reference,
                 "SELECT DISTINCT ON expressions must match initial ORDER BY expressions"}
      .at_position(location_of(clause[static_cast<std::size_t>(missing - seen.begin())]) + 1);
}

void Binder::bind_limit(const ast::SelectStmt& select, Scope& scope, Query& query) {
  const auto count = [&](const ast::Node* node, Clause clause) -> ExprPtr {
    if (node == nullptr) return nullptr;
    const ClauseScope in_clause{scope, clause};
    // Columns of the query itself may not be used.
    std::vector<ScopeItem> items = std::move(scope.items);
    scope.items.clear();
    ExprPtr expr;
    try {
      expr = bind_expression(node, scope);
    } catch (SqlError& error) {
      scope.items = std::move(items);
      if (error.state() == sqlstate::undefined_column) {
        // Not even the query has such a column, perhaps.
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

namespace {

bool is_meant(std::span<const std::string> of, const std::string& alias) {
  return of.empty() || std::ranges::find(of, alias) != of.end();
}

/// Whether a lock on `of` (all tables, when empty) falls on rows that an outer join may make up.
bool locks_nullable(const FromNode& node, std::span<const std::string> of, bool nullable) {
  check_stack();
  if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    const bool full = join->kind == JoinKind::full;
    return locks_nullable(*join->left, of, nullable || full) ||
           locks_nullable(*join->right, of, nullable || full || join->kind == JoinKind::left);
  }
  if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    return is_meant(of, subquery->alias) &&
           std::ranges::any_of(subquery->query->from, [&](const FromPtr& item) {
             return locks_nullable(*item, {}, nullable);
           });
  }
  const auto* table = std::get_if<FromTable>(&node.node);
  return table != nullptr && nullable && is_meant(of, table->alias);
}

/// Rows that are not rows of tables cannot be locked.
void require_lockable(const Query& query, std::string_view lock) {
  const auto refuse = [&](std::string_view with) {
    throw_error(sqlstate::feature_not_supported, "{} is not allowed with {}", lock, with);
  };
  if (query.body == Query::Body::set_operation) refuse("UNION/INTERSECT/EXCEPT");
  if (query.distinct != Query::DistinctKind::none) refuse("DISTINCT clause");
  if (!query.group_keys.empty()) refuse("GROUP BY clause");
  if (!query.having.empty()) refuse("HAVING clause");
  if (query.grouped) refuse("aggregate functions");
  if (!query.windows.empty()) refuse("window functions");
  if (!query.sets.empty()) refuse("set-returning functions in the target list");
}

/// What else a name of FROM may stand for, as refusals call it; empty: tables and subqueries.
std::string_view unlockable_kind(const FromNode& node) {
  if (std::holds_alternative<FromFunctions>(node.node)) return "a function";
  if (std::holds_alternative<FromCte>(node.node)) return "a WITH query";
  return {};
}

/// The item of that name, not itself a join.
const FromNode* item_named(const FromNode& node, std::string_view alias) {
  if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    const FromNode* left = item_named(*join->left, alias);
    return left != nullptr ? left : item_named(*join->right, alias);
  }
  const std::string_view own = std::visit(
      [](const auto& item) -> std::string_view {
        if constexpr (std::is_same_v<std::decay_t<decltype(item)>, FromJoin>) {
          return {};
        } else {
          return item.alias;
        }
      },
      node.node);
  return own == alias ? &node : nullptr;
}

/// Locks inside subqueries and views. Those that pass their tables' rows on are locked with the
/// rows of the query itself; others lock what they read.
void lock_inside(FromNode& node, const RowLock& lock, std::span<const std::string> of,
                 std::string_view name) {
  if (auto* join = std::get_if<FromJoin>(&node.node)) {
    lock_inside(*join->left, lock, of, name);
    lock_inside(*join->right, lock, of, name);
    return;
  }
  auto* subquery = std::get_if<FromSubquery>(&node.node);
  if (subquery == nullptr || !is_meant(of, subquery->alias)) return;
  Query& query = *subquery->query;
  // As in PostgreSQL: a view may be a UNION, and then has nothing to lock.
  if (subquery->view_access && query.body == Query::Body::set_operation) return;
  require_lockable(query, name);
  for (const FromPtr& item : query.from) lock_inside(*item, lock, {}, name);
  if (!query.passes_rows_on()) query.locks.push_back({lock.mode, lock.wait, {}});
}

}  // namespace

void Binder::bind_locking(ast::NodeList clause, Scope& scope, Query& query) {
  for (const ast::Node* node : clause) {
    const auto& locking = ast::as<ast::LockingClause>(node);
    RowLock lock;
    std::string_view name = "FOR UPDATE";
    switch (locking.strength) {
      case ast::LockClauseStrength::forshare:
        lock.mode = ReadMode::for_share;
        name = "FOR SHARE";
        break;
      case ast::LockClauseStrength::forkeyshare:
        lock.mode = ReadMode::for_key_share;
        name = "FOR KEY SHARE";
        break;
      case ast::LockClauseStrength::fornokeyupdate:
        lock.mode = ReadMode::for_no_key_update;
        name = "FOR NO KEY UPDATE";
        break;
      default:
        break;
    }
    if (query.body == Query::Body::values) {
      throw_error(sqlstate::feature_not_supported, "{} is not allowed with VALUES", name);
    }
    require_lockable(query, name);
    if (locking.wait_policy == ast::LockWaitPolicy::lockwaitskip) lock.wait = WaitPolicy::skip;
    if (locking.wait_policy == ast::LockWaitPolicy::lockwaiterror) lock.wait = WaitPolicy::no_wait;
    for (const ast::Node* relation : locking.locked_rels) {
      const auto& range = ast::as<ast::RangeVar>(relation);
      const bool known = std::ranges::any_of(scope.items, [&](const ScopeItem& item) {
        return item.named && item.alias == range.relname;
      });
      if (!known) {
        throw sql_error(sqlstate::undefined_table,
                        "relation \"{}\" in {} clause not found in FROM clause", range.relname,
                        name)
            .at_position(range.location + 1);
      }
      for (const FromPtr& item : query.from) {
        const FromNode* named = item_named(*item, range.relname);
        const std::string_view kind = named == nullptr ? "" : unlockable_kind(*named);
        if (kind.empty()) continue;
        throw sql_error(sqlstate::feature_not_supported, "{} cannot be applied to {}", name, kind)
            .at_position(range.location + 1);
      }
      lock.of.emplace_back(range.relname);
    }
    for (const FromPtr& item : query.from) lock_inside(*item, lock, lock.of, name);
    for (const FromPtr& item : query.from) {
      if (!locks_nullable(*item, lock.of, false)) continue;
      throw_error(sqlstate::feature_not_supported,
                  "{} cannot be applied to the nullable side of an outer join", name);
    }
    for (const FromPtr& item : query.from) note_locks(*item, lock.of);
    query.locks.push_back(std::move(lock));
  }
}

void Binder::bind_values(const ast::SelectStmt& select, Scope& scope, Query& query) {
  query.body = Query::Body::values;
  const ClauseScope clause{scope, Clause::values};
  for (const ast::Node* node : select.values_lists) {
    std::vector<ExprPtr> row;
    refuse_more_targets(ast::as<ast::List>(node).items.size());
    for (const ast::Node* value : ast::as<ast::List>(node).items) {
      if (ast::is<ast::SetToDefault>(value)) {
        throw SqlError{sqlstate::syntax_error, "DEFAULT is not allowed in this context"}
            .at_position(ast::as<ast::SetToDefault>(value).location + 1);
      }
      row.push_back(bind_expression(value, scope));
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
    for (std::size_t row = 0; row < query.rows.size(); ++row) {
      query.rows[row][column] = std::move(values[row]);
    }
    OutputTarget target;
    target.name = fmt::format("column{}", column + 1);
    target.type = type;
    target.slot = new_slot();
    mark_used(target.slot);
    query.body_slots.push_back(target.slot);
    query.targets.push_back(std::move(target));
  }
  bind_order(select.sort_clause, scope, query);
}

namespace {

/// What the other part says of the types of literals and parameters comes before that they are
/// text, unless the part compares them itself.
Binder::OutputTypes output_of_part(const ast::SelectStmt& part) {
  const bool compares = !part.distinct_clause.empty() || !part.group_clause.empty() ||
                        !part.sort_clause.empty() || !part.values_lists.empty() ||
                        part.op == ast::SetOperation::union_;
  return compares ? Binder::OutputTypes::final : Binder::OutputTypes::open;
}

/// PostgreSQL's names for what a set operation is made of, from left to right.
void add_unreachable_parts(const Query& part, Scope& scope) {
  check_stack();
  if (part.body == Query::Body::set_operation && part.order.empty() && !part.limit) {
    add_unreachable_parts(*part.left, scope);
    add_unreachable_parts(*part.right, scope);
    return;
  }
  ScopeItem item;
  item.alias = fmt::format("*SELECT* {}", scope.items.size() + 1);
  item.reachable = false;
  for (const OutputTarget& target : part.targets) {
    ScopeColumn column;
    column.name = target.name;
    item.columns.push_back(std::move(column));
  }
  item.visible.assign(item.columns.size(), false);
  scope.items.push_back(std::move(item));
}

}  // namespace

void Binder::bind_set_operation(const ast::SelectStmt& select, Scope& scope, Query& query) {
  query.body = Query::Body::set_operation;
  query.set_all = select.all;
  std::string_view name = "UNION";
  if (select.op == ast::SetOperation::intersect) {
    query.set_kind = Query::SetKind::intersect;
    name = "INTERSECT";
  } else if (select.op == ast::SetOperation::except) {
    query.set_kind = Query::SetKind::except;
    name = "EXCEPT";
  }
  query.left = bind_select(*select.larg, &scope, output_of_part(*select.larg));
  query.right = bind_select(*select.rarg, &scope, output_of_part(*select.rarg));
  if (query.left->targets.size() != query.right->targets.size()) {
    throw sql_error(sqlstate::syntax_error, "each {} query must have the same number of columns",
                    name)
        .at_position(location_of(query.right->targets) + 1);
  }
  for (std::size_t i = 0; i < query.left->targets.size(); ++i) {
    OutputTarget& left = query.left->targets[i];
    OutputTarget& right = query.right->targets[i];
    const std::array types{left.type, right.type};
    const auto open_type = [](const OutputTarget& target) {
      return target.was_untyped && dynamic_cast<const ConstantExpr*>(target.expr.get()) != nullptr;
    };
    std::array choice = types;
    if (open_type(left)) choice[0] = TypeId::unknown;
    if (open_type(right)) choice[1] = TypeId::unknown;
    const TypeId type =
        select_common_type(choice, name, right.expr ? right.expr->location() + 1 : 0);
    const auto adapt = [&](OutputTarget& target, TypeId seen) {
      if (target.type == type) return;
      if (!target.expr) {
        // A column of VALUES or of a set operation below: computed from its slot.
        target.expr =
            std::make_unique<SlotExpr>(target.type, target.typmod, target.slot, SlotExpr::Origin{});
      }
      if (seen == TypeId::unknown && target.was_untyped) {
        const auto& literal = dynamic_cast<const ConstantExpr&>(*target.expr);
        ConstantExpr untyped{TypeId::unknown, kNoTypmod, literal.value()};
        untyped.set_location(literal.location());
        target.expr = read_literal(untyped, type, kNoTypmod);
      } else {
        target.expr = coerce(std::move(target.expr), type, kNoTypmod, Implicitness::implicit);
      }
      target.type = type;
      target.typmod = kNoTypmod;
      target.slot = new_slot();
      mark_used(target.slot);
    };
    const std::int32_t location = left.expr ? left.expr->location() : -1;
    if (query.set_kind != Query::SetKind::union_ || !query.set_all) {
      require_equality(type, location);
    }
    adapt(left, choice[0]);
    adapt(right, choice[1]);
    OutputTarget target;
    target.name = left.name;
    target.type = type;
    target.typmod = left.typmod == right.typmod ? left.typmod : kNoTypmod;
    target.slot = new_slot();
    mark_used(target.slot);
    query.body_slots.push_back(target.slot);
    query.targets.push_back(std::move(target));
  }
  if (select.sort_clause.empty()) return;
  // The parts' columns mean nothing in ORDER BY, and errors say so.
  add_unreachable_parts(*query.left, scope);
  add_unreachable_parts(*query.right, scope);
  bind_order(select.sort_clause, scope, query);
}

}  // namespace swizzle::sql

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/binding_notes.h"
#include "sql-lite-frontend/query/bind/hypothetical_set.h"
#include "sql-lite-frontend/query/bind/window_functions.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Calls of aggregates, and the choice of the query to which each belongs.
namespace swizzle::sql {

namespace {

/// Another expression that reads the same slot or constant; null for anything else.
ExprPtr copy_of(const Expr& expr) {
  if (const auto* slot = dynamic_cast<const SlotExpr*>(&expr)) {
    return std::make_unique<SlotExpr>(slot->type(), slot->typmod(), slot->slot(), slot->origin());
  }
  return nullptr;
}
}  // namespace
AggregateCall ExpressionBinder::make_aggregate(const ast::FuncCall& node, Scope& scope,
                                               const ResolvedFunction& resolved,
                                               std::vector<ExprPtr> arguments) {
  AggregateCall call;
  call.function = resolved.function;
  call.result = resolved.result;
  if (resolved.function->routine != nullptr) call.made = made_aggregate(resolved, node.location);
  if (!node.agg_star) call.arguments = place_arguments(resolved, std::move(arguments));
  const DerivedCollation collation = merge_collations(names_, call.arguments);
  if (!call.made) call.function = &collated(*call.function, call.arguments, collation);
  call.result = with_derived(call.result, collation);
  if (node.agg_distinct) call.quantifier = AggregateCall::Quantifier::distinct;
  for (const ast::Node* item : node.agg_order) {
    const auto& sort = ast::as<ast::SortBy>(item);
    ExprPtr key = bind_expression(sort.node, scope);
    if (node.agg_within_group) {
      // The sorted arguments are the function's last ones.
      const std::size_t first = call.arguments.size() - node.agg_order.size();
      key = coerce(std::move(key), call.arguments[first + call.order.size()]->type(), kNoTypmod,
                   Implicitness::implicit);
    }
    // An ORDER BY expression that equals an argument gets the type to which the argument is cast.
    for (const ExprPtr& argument : call.arguments) {
      const auto* cast = dynamic_cast<const CastExpr*>(argument.get());
      const bool is_it = !node.agg_within_group && cast != nullptr &&
                         cast->form() == CastForm::implicit &&
                         same_expression(cast->operand(), *key);
      if (!is_it) continue;
      key = coerce(std::move(key), argument->type(), kNoTypmod, Implicitness::implicit);
      break;
    }
    call.order.push_back(sort_key(sort, std::move(key)));
    require_collation_of_key(*call.order.back().expr, nullptr);
  }
  if (node.agg_distinct) {
    for (const ExprPtr& argument : call.arguments) {
      require_equality(argument->type(), argument->location());
      if (!is_indexable(argument->type()) && shape_of(argument->type()) != Shape::record) {
        throw sql_error(sqlstate::undefined_function,
                        "could not identify an ordering operator for type {}",
                        format_type(argument->type()))
            .with_detail("Aggregates with DISTINCT must be able to sort their inputs.")
            .at_position(argument->location() + 1);
      }
      order_as_database(*argument);
    }
    for (const SortKey& key : call.order) {
      const bool listed = std::ranges::any_of(call.arguments, [&](const ExprPtr& argument) {
        return same_expression(*argument, *key.expr);
      });
      if (!listed) {
        throw SqlError{SqlState{"42P10"},
                       "in an aggregate with DISTINCT, ORDER BY expressions "
                       "must appear in argument list"}
            .at_position(key.expr->location() + 1);
      }
    }
  }
  if (node.agg_filter != nullptr) {
    const ClauseScope clause{scope, Clause::filter};
    call.filter = bind_condition(node.agg_filter, scope, "FILTER");
  }
  const std::string_view name = call.made ? std::string_view{} : resolved.function->name;
  if (node.agg_distinct && call.order.empty() && (name == "array_agg" || name == "string_agg")) {
    // DISTINCT finds duplicates by sorting, as in PostgreSQL, where this order shows in the result.
    for (const ExprPtr& argument : call.arguments) {
      SortKey key;
      key.expr = copy_of(*argument);
      if (!key.expr) break;
      call.order.push_back(std::move(key));
    }
  }
  return call;
}

namespace {

std::string describe_call(const AggregateCall& call) {
  ExprPrinter printer{.columns = ExprPrinter::Columns::slots, .out = {}};
  printer.out = std::to_string(call.function->oid);
  if (call.quantifier == AggregateCall::Quantifier::distinct) printer.out += "D";
  for (const ExprPtr& argument : call.arguments) {
    printer.out += ",";
    printer.print(*argument);
  }
  for (const SortKey& key : call.order) {
    printer.out += key.direction == SortDirection::ascending ? " up " : " down ";
    // The collation is part of the order.
    printer.out += std::to_string(raw(key.expr->type()));
    printer.out += key.nulls == NullsOrder::first ? "first " : "last ";
    printer.print(*key.expr);
  }
  if (call.filter) {
    printer.out += " filter ";
    printer.print(*call.filter);
  }
  return printer.out;
}
}  // namespace
Binder::OuterNotes::OuterNotes(const Scope& scope) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    sizes.push_back(at->outer_slots != nullptr ? at->outer_slots->size() : 0);
  }
}

void Binder::OuterNotes::take_back(const Scope& scope, const Scope& home) const {
  auto size = sizes.begin();
  for (const Scope* at = &scope; at != &home; at = at->parent, ++size) {
    if (at->outer_slots != nullptr) at->outer_slots->resize(*size);
  }
}

namespace {

/// Calls `visit` with each expression of a call, but not with the operands of these.
void for_each_part(AggregateCall& call, const std::function<void(Expr&)>& visit) {
  for (const ExprPtr& argument : call.arguments) walk(*argument, visit);
  for (const SortKey& key : call.order) walk(*key.expr, visit);
  if (call.filter) walk(*call.filter, visit);
}

/// True if the slot is a column, or an aggregate, of that scope's query.
bool is_of_query(const Scope& scope, Slot slot) {
  const bool is_column = std::ranges::any_of(scope.from_slots, [&](const auto& range) {
    return slot >= range.first && slot < range.second;
  });
  return is_column || (scope.query != nullptr &&
                       std::ranges::find(scope.query->aggregates, slot, &AggregateCall::slot) !=
                           scope.query->aggregates.end());
}

}  // namespace

/// Returns the scope of the query to which an aggregate belongs: the nearest one from which its
/// arguments, order or filter read.
Scope& ExpressionBinder::home_of_aggregate(Scope& scope, AggregateCall& call) {
  for (Scope* at = &scope; at != nullptr; at = at->parent) {
    bool reads = false;
    for_each_part(call, [&](Expr& part) {
      if (const auto* slot = dynamic_cast<const SlotExpr*>(&part)) {
        reads |= is_of_query(*at, slot->slot());
      } else if (const auto* subquery = dynamic_cast<const SubqueryExpr*>(&part)) {
        for (const Slot outside : subquery->outer_slots) reads |= is_of_query(*at, outside);
      }
    });
    if (reads) return *at;
  }
  return scope;
}

ExprPtr ExpressionBinder::bind_any_aggregate(const ast::FuncCall& node, Scope& scope,
                                             const ResolvedFunction& resolved,
                                             std::vector<ExprPtr> arguments,
                                             const OuterNotes& notes) {
  const auto refuse = [&](std::string_view message) {
    throw SqlError{sqlstate::grouping_error, std::string{message}}.at_position(node.location + 1);
  };
  if (scope.in_aggregate && scope.clause != Clause::filter) {
    refuse("aggregate function calls cannot be nested");
  }
  require_star(node);
  // Names mean what they mean where the call is written, also if an enclosing query computes it.
  const bool around = std::exchange(scope.in_aggregate, true);
  AggregateCall call = make_aggregate(node, scope, resolved, std::move(arguments));
  scope.in_aggregate = around;
  Scope& home = home_of_aggregate(scope, call);
  if (&home == &scope) return bind_aggregate(node, scope, std::move(call));
  // The enclosing query computes the call; for the queries in between it is a value from outside.
  notes.take_back(scope, home);
  ExprPtr expr = bind_aggregate(node, home, std::move(call));
  const auto& result = dynamic_cast<const SlotExpr&>(*expr);
  for (Scope* at = &scope; at != &home; at = at->parent) {
    if (at->outer_slots != nullptr) at->outer_slots->push_back(result.slot());
  }
  return expr;
}

void ExpressionBinder::refuse_nested(Expr& argument, const Query& query) {
  walk(argument, [&](Expr& part) {
    const auto* slot = dynamic_cast<const SlotExpr*>(&part);
    if (slot == nullptr) return;
    const auto is_it = [&](const auto& call) { return call.slot == slot->slot(); };
    if (std::ranges::none_of(query.aggregates, is_it) &&
        std::ranges::none_of(query.grouping_calls, is_it)) {
      return;
    }
    throw SqlError{sqlstate::grouping_error, "aggregate function calls cannot be nested"}
        .at_position(part.location() + 1);
  });
}

bool ExpressionBinder::is_ordered_set(const Function& function) {
  return function.name == "percentile_cont" || function.name == "percentile_disc" ||
         function.name == "mode";
}

/// f(direct arguments) WITHIN GROUP (ORDER BY …): the sorted expressions become further arguments.
ExprPtr ExpressionBinder::bind_ordered_set(const ast::FuncCall& node, Scope& scope,
                                           std::vector<ExprPtr> arguments,
                                           const OuterNotes& notes) {
  const std::string_view name = ast::string_of(node.funcname.back());
  const auto refuse = [&](std::string_view message) {
    throw SqlError{sqlstate::wrong_object_type, std::string{message}}.at_position(node.location +
                                                                                  1);
  };
  bool reads_columns = false;
  for (const ExprPtr& argument : arguments) {
    walk(*argument,
         [&](Expr& part) { reads_columns |= dynamic_cast<const SlotExpr*>(&part) != nullptr; });
  }
  if (is_hypothetical_set(name)) {
    const std::size_t direct = arguments.size();
    if (direct != node.agg_order.size()) {
      for (const ast::Node* item : node.agg_order) {
        arguments.push_back(bind_expression(ast::as<ast::SortBy>(item).node, scope));
      }
      std::string types;
      for (const ExprPtr& argument : arguments) {
        if (!types.empty()) types += ", ";
        types += format_type(argument->type());
      }
      throw sql_error(sqlstate::undefined_function, "function {}({}) does not exist", name, types)
          .with_hint(fmt::format(
              "To use the hypothetical-set aggregate {}, the number of hypothetical direct "
              "arguments (here {}) must match the number of ordering columns (here {}).",
              name, direct, node.agg_order.size()))
          .at_position(node.location + 1);
    }
    if (node.over != nullptr) {
      throw sql_error(sqlstate::feature_not_supported,
                      "OVER is not supported for ordered-set aggregate {}", name)
          .at_position(node.location + 1);
    }
    if (reads_columns) unsupported("a direct argument that reads columns", node.location);
    if (notes_ != nullptr) unsupported("a printed hypothetical-set aggregate", node.location);
    ExprPtr counted = bind_expression(counted_hypothetical_set(arena_, node), scope);
    counted->set_location(node.location);
    return counted;
  }
  for (const ast::Node* item : node.agg_order) {
    arguments.push_back(bind_expression(ast::as<ast::SortBy>(item).node, scope));
  }
  const std::vector<TypeId> types = expression_types(arguments);
  const ResolvedFunction resolved =
      resolve_function({.name = name, .argument_types = types, .position = node.location + 1});
  if (resolved.function->kind != FunctionKind::aggregate) {
    refuse(fmt::format("WITHIN GROUP specified, but {} is not an aggregate function", name));
  }
  if (!is_ordered_set(*resolved.function)) {
    refuse(fmt::format("{} is not an ordered-set aggregate, so it cannot have WITHIN GROUP", name));
  }
  if (node.over != nullptr) {
    throw sql_error(sqlstate::feature_not_supported,
                    "OVER is not supported for ordered-set aggregate {}", name)
        .at_position(node.location + 1);
  }
  ExprPtr expr = bind_any_aggregate(node, scope, resolved, std::move(arguments), notes);
  if (reads_columns) unsupported("a direct argument that reads columns", node.location);
  return expr;
}

void ExpressionBinder::require_star(const ast::FuncCall& node) {
  if (!node.args.empty() || node.agg_star || node.agg_within_group) return;
  throw sql_error(sqlstate::wrong_object_type,
                  "{}(*) must be used to call a parameterless aggregate function",
                  ast::string_of(node.funcname.back()))
      .at_position(node.location + 1);
}

ExprPtr ExpressionBinder::bind_aggregate(const ast::FuncCall& node, Scope& scope,
                                         AggregateCall call) {
  const auto refuse = [&](std::string_view message) {
    throw SqlError{sqlstate::grouping_error, std::string{message}}.at_position(node.location + 1);
  };
  switch (scope.clause) {
    case Clause::select_list:
    case Clause::having:
    case Clause::order_by:
    case Clause::distinct_on:
    case Clause::window:
      break;
    default:
      refuse(fmt::format("aggregate functions are not allowed in {}", clause_name(scope.clause)));
  }
  if (scope.query == nullptr) refuse("aggregate functions are not allowed in this context");
  // The arguments were bound before it was known that this is an aggregate, so a nested aggregate
  // is found only here.
  for_each_part(call, [&](Expr& part) {
    const auto* slot = dynamic_cast<const SlotExpr*>(&part);
    if (slot == nullptr) return;
    refuse_nested(part, *scope.query);
    for (const SetItem& set : scope.query->sets) {
      if (set.slot != slot->slot()) continue;
      throw SqlError{sqlstate::feature_not_supported,
                     "aggregate function calls cannot contain set-returning function calls"}
          .with_hint(
              "You might be able to move the set-returning function into a LATERAL FROM item.")
          .at_position(set.location + 1);
    }
    for (const WindowDefinition& window : scope.query->windows) {
      for (const WindowCall& other : window.calls) {
        if (other.slot != slot->slot()) continue;
        throw SqlError{sqlstate::grouping_error,
                       "aggregate function calls cannot contain window function calls"}
            .at_position(part.location() + 1);
      }
    }
  });
  scope.query->grouped = true;
  ScopeColumn column;
  column.type = call.result;
  const std::string description = describe_call(call);
  for (const AggregateCall& other : scope.query->aggregates) {
    if (describe_call(other) == description) {
      column.slot = other.slot;
      ExprPtr same = slot_expr(column);
      keep_explicit_collation(names_, *same, call.arguments);
      return same;
    }
  }
  call.slot = column.slot = new_slot();
  call.location = node.location;
  if (notes_ != nullptr) notes_->aggregates[call.slot] = &node;
  ExprPtr expr = slot_expr(column);
  keep_explicit_collation(names_, *expr, call.arguments);
  scope.query->aggregates.push_back(std::move(call));
  expr->set_location(node.location);
  return expr;
}

}  // namespace swizzle::sql

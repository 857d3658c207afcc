#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/argument_types.h"
#include "sql-lite-frontend/query/bind/binding_notes.h"
#include "sql-lite-frontend/query/bind/collations.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bind/window_functions.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Calls with OVER, and their windows.
namespace swizzle::sql {

namespace {

/// Returns true if two plain calls are equal: they are computed once, so that DISTINCT ON and ORDER
/// BY may name one.
bool is_same_window_call(const WindowCall& left, const WindowCall& right) {
  const auto is_plain = [](const AggregateCall& call) {
    return call.order.empty() && !call.filter && call.quantifier == AggregateCall::Quantifier::all;
  };
  const auto same = [](const ExprPtr& one, const ExprPtr& other) {
    return !is_volatile(*one) && same_expression(*one, *other);
  };
  return left.kind == right.kind && left.aggregate.function == right.aggregate.function &&
         is_plain(left.aggregate) && is_plain(right.aggregate) &&
         std::ranges::equal(left.arguments, right.arguments, same) &&
         std::ranges::equal(left.aggregate.arguments, right.aggregate.arguments, same);
}

}  // namespace

ExprPtr ExpressionBinder::bind_window_call(const ast::FuncCall& node, Scope& scope,
                                           std::vector<ExprPtr> arguments,
                                           const ResolvedFunction& resolved, CallsBefore before) {
  if (scope.query == nullptr ||
      (scope.clause != Clause::select_list && scope.clause != Clause::order_by &&
       scope.clause != Clause::distinct_on)) {
    throw sql_error(sqlstate::windowing_error, "window functions are not allowed in {}",
                    clause_name(scope.clause))
        .at_position(node.location + 1);
  }
  const auto not_implemented = [&](std::string_view what) {
    throw sql_error(sqlstate::feature_not_supported, "{} not implemented for {}window functions",
                    what, what == "FILTER is" ? "non-aggregate " : "")
        .at_position(node.location + 1);
  };
  if (node.agg_distinct) not_implemented("DISTINCT is");
  if (!node.agg_order.empty()) not_implemented("aggregate ORDER BY is");
  const bool is_window = resolved.function->kind == FunctionKind::window;
  if (is_window && node.agg_filter != nullptr) not_implemented("FILTER is");
  refuse_calls_in_window(scope, before);
  WindowCall call;
  TypeId type = with_derived(resolved.result, merge_collations(names_, arguments));
  if (is_window) {
    call.kind = window_kind(resolved.function->name);
    arguments = place_arguments(resolved, std::move(arguments));
    call.arguments = std::move(arguments);
  } else {
    require_star(node);
    call.kind = WindowFunctionKind::aggregate;
    call.aggregate = make_aggregate(node, scope, resolved, std::move(arguments));
    type = call.aggregate.result;
  }
  const std::size_t window = window_of(*node.over, scope);
  scope.window_locations.push_back(node.location);
  std::vector<WindowCall>& calls = scope.query->windows[window].calls;
  const auto known = std::ranges::find_if(
      calls, [&](const WindowCall& other) { return is_same_window_call(other, call); });
  ScopeColumn column;
  column.slot = call.slot = known != calls.end() ? known->slot : new_slot();
  column.type = type;
  ExprPtr expr = slot_expr(column);
  keep_explicit_collation(names_, *expr, is_window ? call.arguments : call.aggregate.arguments);
  if (notes_ != nullptr) notes_->windows.try_emplace(call.slot, &node);
  if (known == calls.end()) calls.push_back(std::move(call));
  expr->set_location(node.location);
  return expr;
}

namespace {

// A bit of frame_options, as the grammar sets it.
constexpr int kNonDefault = 0x00001;

std::string describe_window(const WindowDefinition& window) {
  ExprPrinter printer{.columns = ExprPrinter::Columns::slots, .out = {}};
  for (const auto* keys : {&window.partition, &window.order}) {
    for (const SortKey& key : *keys) {
      printer.print(*key.expr);
      printer.out += key.direction == SortDirection::ascending ? " up" : " down";
      printer.out += key.nulls == NullsOrder::first ? " first," : " last,";
    }
    printer.out += "|";
  }
  printer.out += fmt::format(
      "{} {} {} {}", static_cast<int>(window.frame.unit), static_cast<int>(window.frame.start),
      static_cast<int>(window.frame.end), static_cast<int>(window.frame.exclusion));
  if (window.frame.start_offset) printer.print(*window.frame.start_offset);
  printer.out += "|";
  if (window.frame.end_offset) printer.print(*window.frame.end_offset);
  return printer.out;
}

}  // namespace

WindowDefinition ExpressionBinder::define_window(const ast::WindowDef& over, Scope& scope) {
  check_stack();
  WindowDefinition window;
  const ast::WindowDef* base = nullptr;
  const std::string_view reference = !over.refname.empty() ? over.refname : over.name;
  if (!reference.empty()) {
    for (const auto& [name, definition] : scope.named_windows) {
      if (name == reference) base = static_cast<const ast::WindowDef*>(definition);
    }
    if (base == nullptr) {
      throw sql_error(sqlstate::undefined_object, "window \"{}\" does not exist", reference)
          .at_position(over.location + 1);
    }
  }
  if (base != nullptr && base != &over) {
    WindowDefinition inherited = define_window(*base, scope);
    // OVER name uses that window unchanged; OVER (name …) and WINDOW x AS (name …) add to it.
    if (over.refname.empty()) return inherited;
    const auto refuse = [&](std::string_view what, std::string_view hint) {
      SqlError error = sql_error(sqlstate::windowing_error, fmt::runtime(what), reference);
      if (!hint.empty()) error = std::move(error).with_hint(std::string{hint});
      throw std::move(error).at_position(over.location + 1);
    };
    if (!over.partition_clause.empty()) {
      refuse("cannot override PARTITION BY clause of window \"{}\"", {});
    }
    if (!over.order_clause.empty() && !inherited.order.empty()) {
      refuse("cannot override ORDER BY clause of window \"{}\"", {});
    }
    if ((base->frame_options & kNonDefault) != 0) {
      refuse("cannot copy window \"{}\" because it has a frame clause",
             over.order_clause.empty() && (over.frame_options & kNonDefault) == 0
                 ? "Omit the parentheses in this OVER clause."
                 : "");
    }
    window.partition = std::move(inherited.partition);
    window.order = std::move(inherited.order);
  }
  const ClauseScope clause{scope, Clause::window};
  for (const ast::Node* node : over.partition_clause) {
    SortKey key;
    key.expr = bind_expression(node, scope);
    if (key.expr->type() == TypeId::unknown) {
      key.expr = coerce(std::move(key.expr), TypeId::text, kNoTypmod, Implicitness::implicit);
    }
    require_collation_of_key(*key.expr, nullptr);
    order_as_database(*key.expr);
    window.partition.push_back(std::move(key));
  }
  for (const ast::Node* node : over.order_clause) {
    const auto& sort = ast::as<ast::SortBy>(node);
    window.order.push_back(sort_key(sort, bind_expression(sort.node, scope)));
    require_collation_of_key(*window.order.back().expr, nullptr);
  }
  bind_frame(over, window, scope);
  return window;
}

/// Returns the query's window for `over`; equal definitions share one.
std::size_t ExpressionBinder::window_of(const ast::WindowDef& over, Scope& scope) {
  WindowDefinition window = define_window(over, scope);
  auto& windows = scope.query->windows;
  const std::string description = describe_window(window);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (describe_window(windows[i]) == description) return i;
  }
  windows.push_back(std::move(window));
  return windows.size() - 1;
}

}  // namespace swizzle::sql

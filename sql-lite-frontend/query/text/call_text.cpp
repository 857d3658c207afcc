#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/text/query_printer.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// Prints calls whose results are in slots: aggregates, window functions and set-returning
/// functions.
namespace swizzle::sql {

std::string QueryPrinter::function_name(const Function& function, const Routine* routine) const {
  if (routine == nullptr) return quote_identifier(function.name);
  const auto name = objects_ == nullptr ? std::nullopt : objects_->routine_name(routine->oid);
  return name.value_or(quote_identifier(routine->name));
}

void QueryPrinter::print_arguments(std::span<const ExprPtr> arguments, bool last_is_variadic) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) write(", ");
    if (last_is_variadic && i + 1 == arguments.size()) write("VARIADIC ");
    // Show implicit casts of arguments: they determine which overload is called.
    ++printer_.depth;
    printer_.print_at(*arguments[i], {});
    --printer_.depth;
  }
}

namespace {

bool packs_arguments(const Function& function, std::span<const ExprPtr> arguments) {
  return function.variadic != TypeId::none && function.variadic != TypeId::any &&
         !arguments.empty() && is_array(arguments.back()->type());
}

}  // namespace

void QueryPrinter::print_call(const Function* function, const RoutineCallPtr& routine,
                              std::span<const ExprPtr> arguments) {
  const Routine* const made = routine ? routine->callable->routine.get() : nullptr;
  write(function_name(*function, made) + "(");
  print_arguments(arguments, packs_arguments(*function, arguments));
  write(")");
}

void QueryPrinter::print_aggregate_call(const AggregateCall& call, const ast::FuncCall& syntax) {
  if (const auto json = notes_.json_aggregates.find(&syntax);
      json != notes_.json_aggregates.end()) {
    return print_json_aggregate(call, json->second, syntax.agg_order.size());
  }
  const Routine* const made = call.made ? call.made->callable->routine.get() : nullptr;
  write(function_name(*call.function, made) + "(");
  if (syntax.agg_distinct) write("DISTINCT ");
  const std::span<const ExprPtr> arguments{call.arguments};
  const std::size_t keys = syntax.agg_order.size();
  if (syntax.agg_within_group) {
    print_arguments(arguments.first(arguments.size() - keys), syntax.func_variadic);
    write(") WITHIN GROUP (ORDER BY ");
    print_order(call.order, keys);
  } else {
    if (syntax.agg_star) write("*");
    print_arguments(arguments, syntax.func_variadic || packs_arguments(*call.function, arguments));
    if (keys > 0) {
      write(" ORDER BY ");
      print_order(call.order, keys);
    }
  }
}

void QueryPrinter::print_json_aggregate(const AggregateCall& call,
                                        const BindingNotes::OfJsonAggregate& words,
                                        std::size_t keys) {
  write(words.is_object ? "JSON_OBJECTAGG(" : "JSON_ARRAYAGG(");
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (i > 0) write(" : ");
    ++printer_.depth;
    printer_.print_at(*call.arguments[i], {});
    --printer_.depth;
  }
  if (keys > 0) {
    write(" ORDER BY ");
    print_order(call.order, keys);
  }
  if (words.is_object && words.leaves_nulls_out) write(" ABSENT ON NULL");
  if (!words.is_object && !words.leaves_nulls_out) write(" NULL ON NULL");
  if (words.has_unique_keys) write(" WITH UNIQUE KEYS");
  print_json_returning(printer_, words.returning);
}

void QueryPrinter::print_aggregate(const AggregateCall& call, const ast::FuncCall& syntax) {
  print_aggregate_call(call, syntax);
  if (call.filter) {
    write(") FILTER (WHERE ");
    printer_.print_at(*call.filter, {nullptr, false, true});
  }
  write(")");
}

void QueryPrinter::print_window_call(const WindowDefinition& window, const WindowCall& call,
                                     const ast::FuncCall& syntax) {
  if (call.kind == WindowFunctionKind::aggregate) {
    print_aggregate(call.aggregate, syntax);
  } else {
    write(quote_identifier(ast::string_of(syntax.funcname.back())) + "(");
    print_arguments(call.arguments, false);
    write(")");
  }
  write(" OVER ");
  const ast::WindowDef& over = *syntax.over;
  if (!over.name.empty()) {
    write(quote_identifier(over.name));
  } else {
    print_window(window, over);
  }
}

namespace {

// Bits of FRAMEOPTION in the grammar.
constexpr std::int32_t kIsGiven = 0x00001;
constexpr std::int32_t kIsBetween = 0x00010;

std::string_view unit_word(WindowFrame::Unit unit) {
  if (unit == WindowFrame::Unit::rows) return "ROWS ";
  return unit == WindowFrame::Unit::range ? "RANGE " : "GROUPS ";
}

}  // namespace

void QueryPrinter::print_frame(const WindowFrame& frame, std::int32_t options) {
  using Bound = WindowFrame::Bound;
  const auto bound = [&](Bound at, const ExprPtr& offset) {
    switch (at) {
      case Bound::unbounded_preceding:
        return write("UNBOUNDED PRECEDING");
      case Bound::unbounded_following:
        return write("UNBOUNDED FOLLOWING");
      case Bound::current_row:
        return write("CURRENT ROW");
      case Bound::preceding:
      case Bound::following:
        break;
    }
    if (!offset) throw_unprintable("this frame of a window");
    printer_.print_at(*offset, {nullptr, false, true});
    write(at == Bound::preceding ? " PRECEDING" : " FOLLOWING");
  };
  write(unit_word(frame.unit));
  if ((options & kIsBetween) != 0) write("BETWEEN ");
  bound(frame.start, frame.start_offset);
  if ((options & kIsBetween) != 0) {
    write(" AND ");
    bound(frame.end, frame.end_offset);
  }
  switch (frame.exclusion) {
    case WindowFrame::Exclusion::nothing:
      break;
    case WindowFrame::Exclusion::current_row:
      write(" EXCLUDE CURRENT ROW");
      break;
    case WindowFrame::Exclusion::group:
      write(" EXCLUDE GROUP");
      break;
    case WindowFrame::Exclusion::ties:
      write(" EXCLUDE TIES");
      break;
  }
}

void QueryPrinter::print_window(const WindowDefinition& window, const ast::WindowDef& syntax) {
  write("(");
  std::string_view space;
  if (!syntax.refname.empty()) {
    write(quote_identifier(syntax.refname));
    space = " ";
  }
  if (!syntax.partition_clause.empty()) {
    write("PARTITION BY ");
    for (std::size_t i = 0; i < window.partition.size(); ++i) {
      if (i > 0) write(", ");
      print_sort_expression(*window.partition[i].expr);
    }
    space = " ";
  }
  if (!syntax.order_clause.empty()) {
    write(space);
    write("ORDER BY ");
    print_order(window.order, window.order.size());
    space = " ";
  }
  if ((syntax.frame_options & kIsGiven) != 0) {
    write(space);
    print_frame(window.frame, syntax.frame_options);
  }
  write(")");
}

void QueryPrinter::print_named_windows(const Query& query) {
  const ast::SelectStmt& select = *note_of(query).select;
  bool is_first = true;
  for (const ast::Node* node : select.window_clause) {
    const auto& syntax = ast::as<ast::WindowDef>(node);
    // A window definition is bound only where a call names it or a window that extends it.
    const WindowDefinition* found = nullptr;
    for (const WindowDefinition& window : query.windows) {
      for (const WindowCall& call : window.calls) {
        const auto noted = notes_.windows.find(call.slot);
        if (noted == notes_.windows.end()) continue;
        const ast::WindowDef& over = *noted->second->over;
        const bool extends = over.refname == syntax.name &&
                             (syntax.order_clause.empty() || over.order_clause.empty());
        if (over.name == syntax.name) found = &window;
        if (found == nullptr && extends) found = &window;
      }
    }
    if (found == nullptr) throw_unprintable("a window without calls");
    if (is_first) begin_line(" WINDOW ", -kIndent, kIndent, 1);
    if (!is_first) write(", ");
    is_first = false;
    write(quote_identifier(syntax.name) + " AS ");
    print_window(*found, syntax);
  }
}

bool QueryPrinter::is_computed(const Level& level, const SlotExpr& slot) {
  if (level.query == nullptr) return false;
  const Query& query = *level.query;
  const auto is_it = [&](const auto& part) { return part.slot == slot.slot(); };
  return std::ranges::any_of(query.aggregates, is_it) || std::ranges::any_of(query.sets, is_it) ||
         std::ranges::any_of(query.group_keys, is_it) ||
         std::ranges::any_of(query.grouping_calls, is_it) ||
         std::ranges::any_of(query.windows, [&](const WindowDefinition& window) {
           return std::ranges::any_of(window.calls, is_it);
         });
}

bool QueryPrinter::print_computed(ExprPrinter& printer, const Level& level, const SlotExpr& slot) {
  if (level.query == nullptr) return false;
  const Query& query = *level.query;
  for (const AggregateCall& call : query.aggregates) {
    if (call.slot != slot.slot()) continue;
    const auto noted = notes_.aggregates.find(call.slot);
    if (noted == notes_.aggregates.end()) return false;
    print_aggregate(call, *noted->second);
    return true;
  }
  for (const WindowDefinition& window : query.windows) {
    for (const WindowCall& call : window.calls) {
      if (call.slot != slot.slot()) continue;
      const auto noted = notes_.windows.find(call.slot);
      if (noted == notes_.windows.end()) return false;
      print_window_call(window, call, *noted->second);
      return true;
    }
  }
  for (const GroupingCall& call : query.grouping_calls) {
    if (call.slot != slot.slot()) continue;
    write("GROUPING(");
    print_arguments(call.arguments, false);
    write(")");
    return true;
  }
  for (const SetItem& item : query.sets) {
    if (item.slot != slot.slot()) continue;
    print_call(item.function, item.routine, item.arguments);
    return true;
  }
  for (const GroupKey& key : query.group_keys) {
    if (key.slot != slot.slot()) continue;
    printer.print_instead(*key.expr);
    return true;
  }
  return false;
}

}  // namespace swizzle::sql

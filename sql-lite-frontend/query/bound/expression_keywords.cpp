// Prints calls that SQL writes with keywords between their arguments, or without parentheses.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {
namespace {

/// Prints an argument without implicit casts.
void print_plain(ExprPrinter& printer, const Expr& expr) {
  printer.print_at(expr, {printer.current, false, true});
}

void print_all(ExprPrinter& printer,
               std::span<const std::pair<std::string_view, const Expr*>> parts,
               std::string_view end) {
  for (const auto& [word, expr] : parts) {
    printer.out += word;
    print_plain(printer, *expr);
  }
  printer.out += end;
}

bool print_extract(ExprPrinter& printer, std::span<const ExprPtr> arguments) {
  const auto* field = dynamic_cast<const ConstantExpr*>(arguments[0].get());
  if (field == nullptr || field->value().is_null()) return false;
  printer.out += fmt::format("EXTRACT({} FROM ", field->value().as_text());
  print_plain(printer, *arguments[1]);
  printer.out += ")";
  return true;
}

/// Prints "FROM start FOR length", starting with the second argument.
void print_range(ExprPrinter& printer, std::span<const ExprPtr> arguments) {
  constexpr std::array<std::string_view, 2> kWords{" FROM ", " FOR "};
  for (std::size_t i = 0; i < arguments.size() && i < kWords.size(); ++i) {
    printer.out += kWords[i];
    print_plain(printer, *arguments[i]);
  }
  printer.out += ")";
}

bool print_trim(ExprPrinter& printer, std::string_view side, std::span<const ExprPtr> arguments) {
  printer.out += fmt::format("TRIM({}", side);
  if (arguments.size() > 1) {
    printer.out += " ";
    print_plain(printer, *arguments[1]);
  }
  print_all(printer, {{{" FROM ", arguments[0].get()}}}, ")");
  return true;
}

/// Prints a call with the name of a normal form, which the grammar takes without quotes.
bool print_normal_form(ExprPrinter& printer, std::span<const ExprPtr> arguments,
                       std::array<std::string_view, 3> words) {
  std::string_view form;
  if (arguments.size() == 2) {
    const auto* name = dynamic_cast<const ConstantExpr*>(arguments[1].get());
    if (name == nullptr || name->value().is_null()) return false;
    form = name->value().as_text();
  }
  printer.out += words[0];
  print_plain(printer, *arguments[0]);
  if (!form.empty()) printer.out += fmt::format("{}{}", words[1], form);
  printer.out += words[2];
  return true;
}

bool print_call(ExprPrinter& printer, const FunctionExpr& call) {
  const std::string_view name = call.function().name;
  const std::span<const ExprPtr> arguments = call.operands();
  const auto is = [&](std::string_view wanted, std::size_t least, std::size_t most) {
    return name == wanted && arguments.size() >= least && arguments.size() <= most;
  };
  if (is("now", 0, 0)) {
    printer.out += "CURRENT_TIMESTAMP";
    return true;
  }
  if (is("timezone", 1, 2)) {
    printer.out += "(";
    printer.print_plain_operand(*arguments.back());
    if (arguments.size() == 1) {
      printer.out += " AT LOCAL)";
      return true;
    }
    printer.out += " AT TIME ZONE ";
    printer.print_plain_operand(*arguments[0]);
    printer.out += ")";
    return true;
  }
  if (is("extract", 2, 2)) return print_extract(printer, arguments);
  if (is("position", 2, 2)) {
    print_all(printer, {{{"POSITION((", arguments[1].get()}, {") IN (", arguments[0].get()}}},
              "))");
    return true;
  }
  if (is("overlay", 3, 4)) {
    print_all(printer, {{{"OVERLAY(", arguments[0].get()}, {" PLACING ", arguments[1].get()}}}, "");
    print_range(printer, arguments.subspan(2));
    return true;
  }
  if (is("substring", 2, 3)) {
    print_all(printer, {{{"SUBSTRING(", arguments[0].get()}}}, "");
    print_range(printer, arguments.subspan(1));
    return true;
  }
  if (is("overlaps", 4, 4)) {
    print_all(printer,
              {{{"((", arguments[0].get()},
                {", ", arguments[1].get()},
                {") OVERLAPS (", arguments[2].get()},
                {", ", arguments[3].get()}}},
              "))");
    return true;
  }
  if (is("normalize", 1, 2))
    return print_normal_form(printer, arguments, {"NORMALIZE(", ", ", ")"});
  if (is("is_normalized", 1, 2))
    return print_normal_form(printer, arguments, {"(", " IS ", " NORMALIZED)"});
  if (is("btrim", 1, 2)) return print_trim(printer, "BOTH", arguments);
  if (is("ltrim", 1, 2)) return print_trim(printer, "LEADING", arguments);
  if (is("rtrim", 1, 2)) return print_trim(printer, "TRAILING", arguments);
  return false;
}

/// Prints now() with a cast as CURRENT_DATE, LOCALTIME and so on, with their precision.
bool print_time(ExprPrinter& printer, const Expr& expr) {
  std::string_view word;
  switch (expr.type()) {
    case TypeId::date:
      word = "CURRENT_DATE";
      break;
    case TypeId::timetz:
      word = "CURRENT_TIME";
      break;
    case TypeId::timestamptz:
      word = "CURRENT_TIMESTAMP";
      break;
    case TypeId::time:
      word = "LOCALTIME";
      break;
    case TypeId::timestamp:
      word = "LOCALTIMESTAMP";
      break;
    default:
      return false;
  }
  printer.out += word;
  if (expr.typmod() != kNoTypmod) printer.out += fmt::format("({})", expr.typmod());
  return true;
}

}  // namespace

bool print_with_keywords(ExprPrinter& printer, const Expr& expr) {
  // x NOT IN (…) is shown as <> ALL, or <> for one value, as PostgreSQL does. A text kept for
  // comparison with conditions of queries keeps its own form.
  if (const auto* negation = dynamic_cast<const BooleanExpr*>(&expr)) {
    if (printer.is_kept) return false;
    const auto* const one = dynamic_cast<const FunctionExpr*>(negation->operands()[0].get());
    if (one != nullptr && one->op() != nullptr && one->op()->name == "=") {
      const std::string_view closing = printer.open_operator();
      printer.print_operand(*one->operands()[0]);
      printer.out += " <> ";
      printer.print_operand(*one->operands()[1]);
      printer.out += closing;
      return true;
    }
    const auto* const list =
        dynamic_cast<const ArrayComparisonExpr*>(negation->operands()[0].get());
    if (list == nullptr) return false;
    const std::string_view closing = printer.open_operator();
    printer.print_operand(*list->operands()[0]);
    printer.out += " <> ALL (";
    printer.print_operand(*list->operands()[1]);
    printer.out += ")";
    printer.out += closing;
    return true;
  }
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr))
    return print_call(printer, *call);
  if (const auto* session = dynamic_cast<const SessionFunctionExpr*>(&expr)) {
    // CURRENT_USER and similar words: the function's name in upper case.
    for (const char letter : session->function().name) {
      printer.out += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
    return true;
  }
  return print_time(printer, expr);
}

}  // namespace swizzle::sql

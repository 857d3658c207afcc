#include "sql-lite-frontend/query/bound/json_expression.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

/// Printing of SQL/JSON's expressions.
namespace swizzle::sql {
namespace {

/// Prints an argument without implicit casts.
void print_argument(ExprPrinter& printer, const Expr& expr) {
  printer.print_at(expr, {});
}

std::string quoted_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + "'";
}

}  // namespace

std::string json_type_name(const ExprPrinter& printer, TypeId type, std::int32_t typmod) {
  if (printer.is_kept) return stored_cast_target(type, typmod);
  ObjectNames* const names = printer.context == nullptr ? nullptr : printer.context->names;
  if (names != nullptr && is_user_type(type)) {
    if (auto name = names->name_of(TypeId::regtype, raw(type))) return *name;
  }
  return cast_target(type, typmod);
}

void print_json_path(ExprPrinter& printer, const Expr& path) {
  const auto* constant = dynamic_cast<const ConstantExpr*>(&path);
  if (constant == nullptr || constant->value().is_null()) return print_argument(printer, path);
  printer.out += quoted_text(constant->value().as_text());
}

void print_json_returning(ExprPrinter& printer, const JsonReturning& returning) {
  printer.out += " RETURNING " + json_type_name(printer, returning.type, returning.typmod);
  printer.out += returning.format;
}

void JsonInputExpr::print(ExprPrinter& printer) const {
  const Expr* written = operands_[0].get();
  // A text with slots is compared with other such texts, so it keeps the conversions.
  if (printer.columns != ExprPrinter::Columns::slots) {
    for (std::size_t i = 0; i < conversions_; ++i) {
      written = dynamic_cast<const OperandsExpr&>(*written).operands()[0].get();
    }
  }
  print_argument(printer, *written);
  printer.out += format_;
}

void JsonTestExpr::print(ExprPrinter& printer) const {
  const std::string_view closing = printer.open_operator();
  printer.print_operand(*operands_[0]);
  printer.out += " IS JSON";
  if (words_.kind == JsonItemKind::object) printer.out += " OBJECT";
  if (words_.kind == JsonItemKind::array) printer.out += " ARRAY";
  if (words_.kind == JsonItemKind::scalar) printer.out += " SCALAR";
  if (words_.keys == JsonKeys::unique) printer.out += " WITH UNIQUE KEYS";
  printer.out += closing;
}

void JsonConstructorExpr::print(ExprPrinter& printer) const {
  switch (words_.kind) {
    case Kind::array:
      printer.out += "JSON_ARRAY(";
      break;
    case Kind::object:
      printer.out += "JSON_OBJECT(";
      break;
    case Kind::parse:
      printer.out += "JSON(";
      break;
    case Kind::scalar:
      printer.out += "JSON_SCALAR(";
      break;
    case Kind::serialize:
      printer.out += "JSON_SERIALIZE(";
      break;
  }
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (i > 0) printer.out += words_.kind == Kind::object && i % 2 != 0 ? " : " : ", ";
    print_argument(printer, *operands_[i]);
  }
  if (words_.kind == Kind::object && words_.nulls == Nulls::absent) {
    printer.out += " ABSENT ON NULL";
  }
  if (words_.kind == Kind::array && words_.nulls == Nulls::shown) printer.out += " NULL ON NULL";
  if (words_.keys == JsonKeys::unique) printer.out += " WITH UNIQUE KEYS";
  if (words_.kind != Kind::parse && words_.kind != Kind::scalar) {
    print_json_returning(printer, words_.returning);
  }
  printer.out += ")";
}

void JsonPathExpr::print_behavior(ExprPrinter& printer, const Behavior& behavior,
                                  std::string_view clause) const {
  switch (behavior.kind) {
    case Behavior::Kind::null:
      printer.out += " NULL";
      break;
    case Behavior::Kind::error:
      printer.out += " ERROR";
      break;
    case Behavior::Kind::empty_array:
      printer.out += " EMPTY ARRAY";
      break;
    case Behavior::Kind::empty_object:
      printer.out += " EMPTY OBJECT";
      break;
    case Behavior::Kind::true_:
      printer.out += " TRUE";
      break;
    case Behavior::Kind::false_:
      printer.out += " FALSE";
      break;
    case Behavior::Kind::unknown:
      printer.out += " UNKNOWN";
      break;
    case Behavior::Kind::value:
      printer.out += " DEFAULT ";
      print_argument(printer, *operands_[behavior.operand]);
      break;
  }
  printer.out += clause;
}

void JsonPathExpr::print_options(ExprPrinter& printer) const {
  if (words_.kind == Kind::query) {
    printer.out += words_.wrapper == Wrapper::none          ? " WITHOUT WRAPPER"
                   : words_.wrapper == Wrapper::conditional ? " WITH CONDITIONAL WRAPPER"
                                                            : " WITH UNCONDITIONAL WRAPPER";
    printer.out += words_.quotes == JsonQuotes::kept ? " KEEP QUOTES" : " OMIT QUOTES";
  }
  const auto usual = words_.kind == Kind::exists ? Behavior::Kind::false_ : Behavior::Kind::null;
  if (words_.kind != Kind::exists && words_.on_empty.kind != usual) {
    print_behavior(printer, words_.on_empty, " ON EMPTY");
  }
  if (words_.on_error.kind != usual) print_behavior(printer, words_.on_error, " ON ERROR");
}

void JsonPathExpr::print(ExprPrinter& printer) const {
  printer.out += words_.kind == Kind::exists  ? "JSON_EXISTS("
                 : words_.kind == Kind::query ? "JSON_QUERY("
                                              : "JSON_VALUE(";
  print_argument(printer, *operands_[0]);
  printer.out += ", ";
  print_json_path(printer, *operands_[1]);
  for (std::size_t i = 0; i < words_.variables.size(); ++i) {
    printer.out += i == 0 ? " PASSING " : ", ";
    print_argument(printer, *operands_[2 + i]);
    printer.out += " AS " + quote_identifier(words_.variables[i]);
  }
  if (words_.kind != Kind::exists || type() != TypeId::bool_) {
    print_json_returning(printer, {type(), typmod(), words_.format});
  }
  print_options(printer);
  printer.out += ")";
}

}  // namespace swizzle::sql

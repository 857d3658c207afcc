#include "sql-lite-frontend/query/bound/xml_expression.h"

#include <algorithm>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/xml/xml_values.h"

namespace swizzle::sql {
namespace {

/// Evaluates the operands from `first` on, with their names if they have any.
std::vector<xml::NamedValue> named_values(Execution& execution, std::span<const ExprPtr> operands,
                                          std::span<const std::string> names) {
  std::vector<xml::NamedValue> out;
  for (std::size_t i = 0; i < operands.size(); ++i)
    out.push_back({i < names.size() ? std::string_view{names[i]} : std::string_view{},
                   operands[i]->type(), operands[i]->eval(execution)});
  return out;
}

std::vector<Value> present_values(Execution& execution, std::span<const ExprPtr> operands) {
  std::vector<Value> out;
  for (const ExprPtr& operand : operands) {
    const Value value = operand->eval(execution);
    if (!value.is_null()) out.push_back(value);
  }
  return out;
}

}  // namespace

Value XmlExpression::evaluate(Execution& execution) const {
  FunctionContext& context = execution.functions;
  const std::span<const ExprPtr> operands{operands_};
  if (words_.kind == Kind::concatenation) {
    const std::vector<Value> parts = present_values(execution, operands);
    return parts.empty() ? Value::null() : xml::concatenated(context, parts);
  }
  if (words_.kind == Kind::element) {
    const auto attributes =
        named_values(execution, operands.first(words_.names.size()), words_.names);
    const auto content = named_values(execution, operands.subspan(words_.names.size()), {});
    return xml::element(context, words_.name, attributes, content);
  }
  if (words_.kind == Kind::forest)
    return xml::forest(context, named_values(execution, operands, words_.names));
  if (words_.kind == Kind::instruction && operands.empty())
    return xml::instruction(context, words_.name, nullptr);

  const Value value = operands[0]->eval(execution);
  if (value.is_null()) {
    // An invalid target is an error even if the content is NULL.
    if (words_.kind == Kind::instruction) xml::instruction(context, words_.name, nullptr);
    return value;
  }
  switch (words_.kind) {
    case Kind::parse: {
      const Value kept = operands[1]->eval(execution);
      const bool keeps = !kept.is_null() && kept.as_bool();
      return xml::parsed(context, words_.option, keeps ? xml::Blanks::kept : xml::Blanks::stripped,
                         value);
    }
    case Kind::instruction: {
      const std::string_view content = value.as_text();
      return xml::instruction(context, words_.name, &content);
    }
    case Kind::root: {
      const Value given = operands[1]->eval(execution);
      const std::string_view version = given.is_null() ? std::string_view{} : given.as_text();
      const auto standalone = static_cast<xml::Standalone>(operands[2]->eval(execution).as_int4());
      return xml::with_root(context, value.as_text(), given.is_null() ? nullptr : &version,
                            standalone);
    }
    case Kind::serialize:
      return xml::serialized(context, words_.option, value);
    default:
      return Value::from_bool(xml::is_document(context, value));
  }
}

void XmlExpression::print_named(ExprPrinter& printer) const {
  for (std::size_t i = 0; i < words_.names.size(); ++i) {
    if (i > 0) printer.out += ", ";
    printer.print(*operands_[i]);
    printer.out += " AS " + quote_identifier(xml::identifier_of(words_.names[i]));
  }
}

void XmlExpression::print_root(ExprPrinter& printer) const {
  const auto* version = dynamic_cast<const ConstantExpr*>(operands_[1].get());
  printer.out += ", VERSION ";
  if (version != nullptr && version->value().is_null())
    printer.out += "NO VALUE";
  else
    printer.print(*operands_[1]);
  const auto* number = dynamic_cast<const ConstantExpr*>(operands_[2].get());
  switch (static_cast<xml::Standalone>(number->value().as_int4())) {
    case xml::Standalone::yes:
      printer.out += ", STANDALONE YES";
      break;
    case xml::Standalone::no:
      printer.out += ", STANDALONE NO";
      break;
    case xml::Standalone::no_value:
      printer.out += ", STANDALONE NO VALUE";
      break;
    case xml::Standalone::omitted:
      break;
  }
}

void XmlExpression::print(ExprPrinter& printer) const {
  const auto rest = [&](std::size_t first, std::string_view before) {
    for (std::size_t i = first; i < operands_.size(); ++i) {
      printer.out += i == first ? before : ", ";
      printer.print(*operands_[i]);
    }
  };
  const std::string_view option = words_.option == xml::Option::document ? "DOCUMENT " : "CONTENT ";
  switch (words_.kind) {
    case Kind::concatenation:
      printer.out += "XMLCONCAT(";
      rest(0, "");
      break;
    case Kind::element:
      printer.out += "XMLELEMENT(NAME " + quote_identifier(xml::identifier_of(words_.name));
      if (!words_.names.empty()) {
        printer.out += ", XMLATTRIBUTES(";
        print_named(printer);
        printer.out += ")";
      }
      rest(words_.names.size(), ", ");
      break;
    case Kind::forest:
      printer.out += "XMLFOREST(";
      print_named(printer);
      break;
    case Kind::parse: {
      printer.out += "XMLPARSE(";
      printer.out += option;
      printer.print(*operands_[0]);
      const auto* kept = dynamic_cast<const ConstantExpr*>(operands_[1].get());
      const bool keeps = kept != nullptr && !kept->value().is_null() && kept->value().as_bool();
      printer.out += keeps ? " PRESERVE WHITESPACE" : " STRIP WHITESPACE";
      break;
    }
    case Kind::instruction:
      printer.out += "XMLPI(NAME " + quote_identifier(xml::identifier_of(words_.name));
      rest(0, ", ");
      break;
    case Kind::root:
      printer.out += "XMLROOT(";
      printer.print(*operands_[0]);
      print_root(printer);
      break;
    case Kind::serialize:
      printer.out += "XMLSERIALIZE(";
      printer.out += option;
      printer.print(*operands_[0]);
      printer.out += " AS text";
      break;
    case Kind::is_document:
      printer.out += "(";
      printer.print(*operands_[0]);
      printer.out += " IS DOCUMENT";
      break;
  }
  printer.out += ")";
}

}  // namespace swizzle::sql

#include <algorithm>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bound/xml_expression.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/xml/xml_functions.h"
#include "sql-lite-frontend/types/xml/xml_values.h"

/// Expressions of SQL/XML, and XMLTABLE.
namespace swizzle::sql {
namespace {

xml::Option xml_option(ast::XmlOptionType option) {
  return option == ast::XmlOptionType::document ? xml::Option::document : xml::Option::content;
}

std::string_view xml_keyword(XmlExpression::Kind kind) {
  switch (kind) {
    case XmlExpression::Kind::concatenation:
      return "XMLCONCAT";
    case XmlExpression::Kind::parse:
      return "XMLPARSE";
    case XmlExpression::Kind::instruction:
      return "XMLPI";
    case XmlExpression::Kind::root:
      return "XMLROOT";
    case XmlExpression::Kind::serialize:
      return "XMLSERIALIZE";
    default:
      return "IS DOCUMENT";
  }
}

XmlExpression::Kind xml_kind(ast::XmlExprOp op) {
  switch (op) {
    case ast::XmlExprOp::xmlconcat:
      return XmlExpression::Kind::concatenation;
    case ast::XmlExprOp::xmlelement:
      return XmlExpression::Kind::element;
    case ast::XmlExprOp::xmlforest:
      return XmlExpression::Kind::forest;
    case ast::XmlExprOp::xmlparse:
      return XmlExpression::Kind::parse;
    case ast::XmlExprOp::xmlpi:
      return XmlExpression::Kind::instruction;
    case ast::XmlExprOp::xmlroot:
      return XmlExpression::Kind::root;
    case ast::XmlExprOp::xmlserialize:
      return XmlExpression::Kind::serialize;
    default:
      return XmlExpression::Kind::is_document;
  }
}

/// Returns the type that argument `index` must have; none if any is allowed.
TypeId wanted_of_xml(XmlExpression::Kind kind, std::size_t index) {
  switch (kind) {
    case XmlExpression::Kind::element:
    case XmlExpression::Kind::forest:
      return TypeId::none;
    case XmlExpression::Kind::parse:
      return index == 0 ? TypeId::text : TypeId::bool_;
    case XmlExpression::Kind::instruction:
      return TypeId::text;
    case XmlExpression::Kind::root:
      return index == 0 ? TypeId::xml : index == 1 ? TypeId::text : TypeId::int4;
    default:
      return TypeId::xml;
  }
}

}  // namespace

ExprPtr ExpressionBinder::bind_xml_argument(const ast::Node* node, Scope& scope, TypeId wanted,
                                            std::string_view what) {
  ExprPtr expr = bind_node(node, scope);
  const TypeId source = expr->type();
  const std::int32_t location = expr->location();
  if (wanted == TypeId::none) {
    if (source != TypeId::unknown) return expr;
    wanted = TypeId::text;
  }
  ExprPtr coerced = try_coerce(expr, wanted, kNoTypmod, Implicitness::assignment);
  if (coerced != nullptr) return coerced;
  throw sql_error(sqlstate::datatype_mismatch, "argument of {} must be type {}, not type {}", what,
                  format_type(wanted), format_type(source))
      .at_position(location + 1);
}

/// Binds attributes or elements; returns their XML names.
std::vector<std::string> ExpressionBinder::bind_xml_names(const ast::XmlExpr& node, Scope& scope,
                                                          std::vector<ExprPtr>& operands) {
  const bool of_attributes = node.op == ast::XmlExprOp::xmlelement;
  std::vector<std::string> names;
  for (const ast::Node* item : node.named_args) {
    const auto& target = ast::as<ast::ResTarget>(item);
    operands.push_back(bind_xml_argument(target.val, scope, TypeId::none, {}));
    if (!target.name.empty()) {
      names.push_back(xml::name_of(target.name, xml::Escapes::needed));
    } else if (ast::is<ast::ColumnRef>(target.val)) {
      names.push_back(xml::name_of(target_name(target.val), xml::Escapes::all));
    } else {
      throw SqlError{sqlstate::syntax_error,
                     of_attributes ? "unnamed XML attribute value must be a column reference"
                                   : "unnamed XML element value must be a column reference"}
          .at_position(target.location + 1);
    }
    if (of_attributes && std::ranges::count(names, names.back()) > 1)
      throw sql_error(sqlstate::syntax_error, "XML attribute name \"{}\" appears more than once",
                      names.back())
          .at_position(target.location + 1);
  }
  return names;
}

ExprPtr ExpressionBinder::bind_xml(const ast::XmlExpr& node, Scope& scope) {
  XmlExpression::Words words{.kind = xml_kind(node.op),
                             .name = xml::name_of(node.name, xml::Escapes::needed),
                             .option = xml_option(node.xmloption)};
  std::vector<ExprPtr> operands;
  words.names = bind_xml_names(node, scope, operands);
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    operands.push_back(bind_xml_argument(node.args[i], scope, wanted_of_xml(words.kind, i),
                                         xml_keyword(words.kind)));
  }
  const TypeId type = words.kind == XmlExpression::Kind::is_document ? TypeId::bool_ : TypeId::xml;
  auto expr = std::make_unique<XmlExpression>(type, std::move(words), std::move(operands));
  expr->set_location(node.location);
  return expr;
}

ExprPtr ExpressionBinder::bind_xml_serialize(const ast::XmlSerialize& node, Scope& scope) {
  if (node.indent) unsupported("XMLSERIALIZE with INDENT", node.location);
  std::vector<ExprPtr> operands;
  operands.push_back(bind_xml_argument(node.expr, scope, TypeId::xml, "XMLSERIALIZE"));
  ExprPtr text =
      std::make_unique<XmlExpression>(TypeId::text,
                                      XmlExpression::Words{.kind = XmlExpression::Kind::serialize,
                                                           .option = xml_option(node.xmloption)},
                                      std::move(operands));
  text->set_location(node.location);
  const TypeReference target = bind_type(*node.type_name);
  ExprPtr coerced = try_coerce(text, target.type, target.typmod, Implicitness::implicit);
  if (coerced != nullptr) return coerced;
  throw sql_error(sqlstate::cannot_coerce, "cannot cast XMLSERIALIZE result to {}",
                  format_type(target.type))
      .at_position(node.location + 1);
}

namespace {

void refuse_second_ordinality(bool& any, const ast::RangeTableFuncCol& column) {
  if (any)
    throw SqlError{sqlstate::syntax_error, "only one FOR ORDINALITY column is allowed"}.at_position(
        column.location + 1);
  any = true;
}

}  // namespace

/// Binds the types and names of the columns, and their arguments: for each column its path and its
/// default, as text.
void QueryBinder::bind_xml_columns(const ast::RangeTableFunc& node, Scope& scope, FromCall& call,
                                   ScopeItem& item) {
  bool any_ordinality = false;
  std::string flags;
  for (const ast::Node* entry : node.columns) {
    const auto& column = ast::as<ast::RangeTableFuncCol>(entry);
    RowShape& shape = *call.shape;
    if (std::ranges::find(shape.names, column.colname) != shape.names.end())
      throw sql_error(sqlstate::syntax_error, "column name \"{}\" is not unique", column.colname)
          .at_position(column.location + 1);
    if (column.for_ordinality) refuse_second_ordinality(any_ordinality, column);
    const TypeReference type =
        column.for_ordinality ? TypeReference{TypeId::int4} : bind_type(*column.type_name);
    shape.names.emplace_back(column.colname);
    shape.types.push_back(type.type);
    shape.typmods.push_back(type.typmod);
    flags.push_back(column.for_ordinality ? 'o' : column.is_not_null ? 'n' : ' ');
    call.arguments.push_back(
        column.colexpr != nullptr
            ? bind_xml_argument(column.colexpr, scope, TypeId::text, "XMLTABLE")
            : constant(TypeId::text, make_text(arena_, column.colname)));
    ExprPtr other = constant(TypeId::text, Value::null());
    if (column.coldefexpr != nullptr) {
      other = bind_xml_argument(column.coldefexpr, scope, type.type, "XMLTABLE");
      other = coerce(std::move(other), TypeId::text, kNoTypmod, Implicitness::explicit_cast);
    }
    call.arguments.push_back(std::move(other));
    const Slot slot = new_slot();
    call.slots.push_back(slot);
    scope.from_slots.emplace_back(slot, slot + 1);
    item.columns.push_back({std::string{column.colname},
                            type.type,
                            type.typmod,
                            slot,
                            {kNoOid, 0, item.alias, std::string{column.colname}}});
  }
  call.arguments.push_back(constant(TypeId::text, make_text(arena_, flags)));
}

FromPtr QueryBinder::bind_xml_table(const ast::RangeTableFunc& node, Scope& scope) {
  FromFunctions functions;
  ScopeItem item;
  item.alias = node.alias != nullptr ? node.alias->aliasname : std::string_view{"xmltable"};
  const ClauseScope clause{scope, Clause::from_function};
  FromCall call;
  call.function = &xml::table_function();
  call.composite = true;
  call.shape = std::make_unique<RowShape>();
  std::vector<ExprPtr> addresses;
  std::vector<Value> prefixes;
  for (const ast::Node* entry : node.namespaces) {
    const auto& space = ast::as<ast::ResTarget>(entry);
    if (space.name.empty())
      throw SqlError{sqlstate::feature_not_supported, "DEFAULT namespace is not supported"};
    if (std::ranges::any_of(prefixes,
                            [&](const Value& known) { return known.as_text() == space.name; }))
      throw sql_error(sqlstate::syntax_error, "namespace name \"{}\" is not unique", space.name)
          .at_position(space.location + 1);
    prefixes.push_back(make_text(arena_, space.name));
    addresses.push_back(bind_xml_argument(space.val, scope, TypeId::text, "XMLTABLE"));
  }
  ExprPtr rows = bind_xml_argument(node.rowexpr, scope, TypeId::text, "XMLTABLE");
  call.arguments.push_back(bind_xml_argument(node.docexpr, scope, TypeId::xml, "XMLTABLE"));
  call.arguments.push_back(std::move(rows));
  call.arguments.push_back(
      constant(TypeId::text_array, make_array(arena_, TypeId::text, prefixes)));
  call.arguments.push_back(std::make_unique<ArrayExpr>(
      TypeId::text_array, ArrayExpr::Kind::elements, std::move(addresses)));
  bind_xml_columns(node, scope, call, item);
  functions.calls.push_back(std::move(call));
  item.show_all();
  apply_alias(item, node.alias);
  functions.alias = item.alias;
  add_item(scope, std::move(item));
  return from_node(std::move(functions));
}

}  // namespace swizzle::sql

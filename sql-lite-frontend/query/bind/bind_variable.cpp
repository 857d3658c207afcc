#include <fmt/format.h>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// Names of variables of the routine to whose body the statement belongs.
namespace swizzle::sql {
namespace {

ExprPtr parameter_of(const BodyVariables::Field& field, std::int32_t location) {
  auto expr = std::make_unique<ParameterExpr>(field.type, field.parameter);
  expr->set_type(field.type, field.typmod);
  expr->set_location(location);
  return expr;
}

ExprPtr value_of_variable(const BodyVariables::Meaning& meaning, std::int32_t location) {
  if (!meaning.is_row) return parameter_of(meaning.fields[0], location);
  std::vector<ExprPtr> values;
  std::vector<std::string> names;
  for (const BodyVariables::Field& field : meaning.fields) {
    values.push_back(parameter_of(field, location));
    names.push_back(field.name);
  }
  auto row = std::make_unique<RowExpr>(std::move(values));
  row->names = std::move(names);
  row->is_whole_row = true;
  row->tells_names = true;
  if (meaning.row_type != TypeId::none) row->set_type(meaning.row_type);
  if (meaning.is_null_row) row->absence = RowExpr::Absence::all_are_null;
  row->set_location(location);
  return row;
}

}  // namespace

ExprPtr ExpressionBinder::body_variable(const ast::ColumnRef& node, Fields fields) {
  BodyVariables* const variables = body_variables();
  if (variables == nullptr) return nullptr;
  std::vector<std::string_view> parts;
  const bool is_star = ast::is<ast::A_Star>(node.fields.back());
  for (const ast::Node* part : node.fields) {
    if (!ast::is<ast::A_Star>(part)) parts.push_back(ast::string_of(part));
  }
  // A field of a scalar variable with a composite value.
  if (parts.size() > 1 && !is_star) {
    const auto whole = variables->find(std::span{parts}.first(parts.size() - 1), false);
    if (whole && !whole->is_row && row_shape(base_type(whole->fields[0].type))) {
      return field_of(parameter_of(whole->fields[0], node.location), parts.back(), node.location);
    }
  }
  const auto meaning = variables->find(parts, fields == Fields::must_be);
  if (!meaning || (is_star && !meaning->is_row)) return nullptr;
  return value_of_variable(*meaning, node.location);
}

ExprPtr ExpressionBinder::numbered_variable(const ast::ParamRef& node) {
  BodyVariables* const variables = body_variables();
  if (variables == nullptr) return nullptr;
  const std::string name = fmt::format("${}", node.number);
  const std::string_view parts[] = {name};
  const auto meaning = variables->find(parts, false);
  return meaning ? value_of_variable(*meaning, node.location) : nullptr;
}

ExprPtr ExpressionBinder::variable_instead(const ast::ColumnRef& node) {
  BodyVariables* const variables = body_variables();
  if (variables == nullptr || variables->conflict() != BodyVariables::Conflict::use_variable) {
    return nullptr;
  }
  return body_variable(node, Fields::may_miss);
}

void ExpressionBinder::refuse_variable(const ast::ColumnRef& node) {
  BodyVariables* const variables = body_variables();
  if (variables == nullptr || variables->conflict() != BodyVariables::Conflict::error) return;
  if (!body_variable(node, Fields::may_miss)) return;
  std::string name;
  for (const ast::Node* part : node.fields) {
    if (ast::is<ast::A_Star>(part)) continue;
    name += (name.empty() ? "" : ".") + std::string{ast::string_of(part)};
  }
  throw sql_error(sqlstate::ambiguous_column, "column reference \"{}\" is ambiguous", name)
      .with_detail("It could refer to either a PL/pgSQL variable or a table column.")
      .at_position(node.location + 1);
}

}  // namespace swizzle::sql

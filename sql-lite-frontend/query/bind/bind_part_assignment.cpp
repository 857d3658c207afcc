#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/field_assignment.h"
#include "sql-lite-frontend/query/bound/hstore_subscript.h"
#include "sql-lite-frontend/query/bound/json_subscript.h"
#include "sql-lite-frontend/query/bound/slice_assignment.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/array/fixed_array.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// SET a[i] = x and SET a[i:j] = x, and INSERT's lists of such targets.
namespace swizzle::sql {
namespace {

bool is_part_assignment(const Expr& expr) {
  if (const auto* domain = dynamic_cast<const DomainExpr*>(&expr)) {
    return is_part_assignment(*domain->operands()[0]);
  }
  return dynamic_cast<const ElementAssignment*>(&expr) != nullptr ||
         dynamic_cast<const SliceAssignment*>(&expr) != nullptr ||
         dynamic_cast<const JsonPartAssignment*>(&expr) != nullptr ||
         dynamic_cast<const HstorePairAssignment*>(&expr) != nullptr ||
         dynamic_cast<const PartAssignment*>(&expr) != nullptr;
}

bool is_slice(const ast::ResTarget& target) {
  return std::ranges::any_of(target.indirection, [](const ast::Node* node) {
    const auto* index = ast::try_as<ast::A_Indices>(node);
    return index != nullptr && index->is_slice;
  });
}

/// Returns the element type of an array or of a fixed-length value of several parts.
TypeId part_of(TypeId type) {
  const TypeId part = fixed_element(type);
  return part == TypeId::none ? element_type(type) : part;
}

void check_subscripts(const ast::ResTarget& target, const Column& column, const Expr& array) {
  for (const ast::Node* node : target.indirection) {
    if (const auto* field = ast::try_as<ast::String>(node)) {
      throw sql_error(sqlstate::datatype_mismatch,
                      "cannot assign to field \"{}\" of column \"{}\" because its type {} is not a "
                      "composite type",
                      field->sval, column.name, format_type(column.type))
          .at_position(target.location + 1);
    }
  }
  if (part_of(column.type) == TypeId::none) {
    const bool is_inserted = dynamic_cast<const ConstantExpr*>(&array) != nullptr;
    throw sql_error(sqlstate::datatype_mismatch,
                    "cannot subscript type {} because it does not support subscripting",
                    format_type(column.type))
        .at_position(is_inserted ? 0 : target.location + 1);
  }
  if (target.indirection.size() > kMaxArrayDimensions) {
    throw_error(sqlstate::program_limit_exceeded,
                "number of array dimensions ({}) exceeds the maximum allowed ({})",
                target.indirection.size(), kMaxArrayDimensions);
  }
}

bool names_field(const ast::ResTarget& target) {
  return std::ranges::any_of(target.indirection,
                             [](const ast::Node* node) { return ast::is<ast::String>(node); });
}

/// Returns the field's position in `column`, which may be a field itself. Throws 42703.
std::size_t field_position(const RowShape& shape, const ast::String& field, TypeId type,
                           std::string_view column, const ast::ResTarget& target) {
  const auto found = std::ranges::find(shape.names, field.sval);
  if (found == shape.names.end()) {
    throw sql_error(sqlstate::undefined_column,
                    "cannot assign to field \"{}\" of column \"{}\" because there is no such "
                    "column in data type {}",
                    field.sval, column, format_type(type))
        .at_position(target.location + 1);
  }
  return static_cast<std::size_t>(found - shape.names.begin());
}

/// Refuses, in PostgreSQL's words, slices of points and similar types, whose parts are assigned one
/// by one.
void refuse_fixed_slice(TypeId type) {
  if (fixed_element(type) == TypeId::none) return;
  throw SqlError{sqlstate::feature_not_supported,
                 "updates on slices of fixed-length arrays not implemented"};
}

}  // namespace

void Binder::refuse_second_assignment(std::string_view column) {
  throw sql_error(sqlstate::syntax_error, "multiple assignments to same column \"{}\"", column);
}

/// Returns the column's value after the earlier assignments of the list to other parts of it; null
/// if there are none. Apart from parts, a column may be assigned to only once.
ExprPtr Binder::take_earlier_parts(std::vector<Assignment>& assignments, std::size_t position,
                                   const ast::ResTarget& target) {
  const auto earlier = std::ranges::find(assignments, position, &Assignment::position);
  if (earlier == assignments.end()) return nullptr;
  if (!is_part_assignment(*earlier->expr) || target.indirection.empty()) {
    refuse_second_assignment(target.name);
  }
  ExprPtr whole = std::move(earlier->expr);
  assignments.erase(earlier);
  return whole;
}

void Binder::refuse_default_part(const ast::ResTarget& target) {
  if (target.indirection.empty()) return;
  throw SqlError{sqlstate::feature_not_supported, "cannot set an array element to DEFAULT"}
      .at_position(target.location + 1);
}

TypeId Binder::part_type(const ast::ResTarget& target, const Column& column) {
  if (names_field(target)) {
    TypeId type = column.type;
    std::string_view name = column.name;
    for (const ast::Node* node : target.indirection) {
      if (const auto* field = ast::try_as<ast::String>(node)) {
        const auto shape = row_shape(base_type(type));
        if (!shape) return column.type;
        type = shape->types[field_position(*shape, *field, type, name, target)];
        name = field->sval;
      } else if (element_type(base_type(type)) != TypeId::none &&
                 !ast::as<ast::A_Indices>(node).is_slice) {
        type = element_type(base_type(type));
      }
    }
    return type;
  }
  const TypeId element = part_of(column.type);
  if (target.indirection.empty() || element == TypeId::none || is_slice(target)) return column.type;
  return element;
}

ExprPtr Binder::part_assignment(ExprPtr array, ExprPtr value, const ast::ResTarget& target,
                                const Column& column, Scope& scope) {
  // A domain's constraints are checked once all parts are assigned.
  if (auto* const entered = dynamic_cast<DomainExpr*>(array.get());
      entered != nullptr && is_part_assignment(*array)) {
    ExprPtr within;
    entered->for_each_operand([&](ExprPtr& operand) { within = std::move(operand); });
    array = std::move(within);
  }
  if (base_type(column.type) == kHstoreType && !names_field(target)) {
    return hstore_pair_assignment(std::move(array), std::move(value), target, column, scope);
  }
  if (base_type(column.type) == TypeId::jsonb && !names_field(target)) {
    return json_part_assignment(std::move(array), std::move(value), target, column, scope);
  }
  if (names_field(target) &&
      (row_shape(base_type(column.type)) || is_composite(base_type(element_type(column.type))))) {
    return coerce_to_column(assign_within(std::move(array), target.indirection, std::move(value),
                                          target, column, scope),
                            column);
  }
  check_subscripts(target, column, *array);
  const TypeId wanted = part_type(target, column);
  const TypeId source = value->type();
  value = coerce_part(std::move(value), wanted, column.typmod);
  if (!value) {
    throw sql_error(
        sqlstate::datatype_mismatch,
        "subscripted assignment to \"{}\" requires type {} but expression is of type {}",
        column.name, format_type(wanted), format_type(source))
        .with_hint("You will need to rewrite or cast the expression.")
        .at_position(target.location + 1);
  }
  if (is_slice(target)) {
    refuse_fixed_slice(column.type);
    return slice_assignment(std::move(array), std::move(value), target, column, scope);
  }
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(array));
  operands.push_back(std::move(value));
  for (const ast::Node* node : target.indirection) {
    operands.push_back(bind_subscript(*ast::as<ast::A_Indices>(node).uidx, scope));
  }
  return coerce_to_column(
      std::make_unique<ElementAssignment>(base_type(column.type), std::move(operands)), column);
}

ExprPtr Binder::with_part(ExprPtr whole, ExprPtr value, const ast::ResTarget& target) {
  Column column;
  column.name = target.name;
  column.type = whole->type();
  column.typmod = whole->typmod();
  parts_are_of_variables_ = true;
  Scope scope;
  return part_assignment(std::move(whole), std::move(value), target, column, scope);
}

/// Returns null if there is no conversion.
ExprPtr Binder::coerce_part(ExprPtr value, TypeId type, std::int32_t typmod) {
  const TypeId source = without_collation(value->type());
  // PostgreSQL searches for a cast before it compares a record's fields, and a cast to text always
  // exists.
  const bool is_record = parts_are_of_variables_ && source == TypeId::record &&
                         is_composite(base_type(without_collation(type)));
  if (!is_record) {
    ExprPtr coerced = try_coerce(value, type, typmod, Implicitness::assignment);
    if (coerced != nullptr || !parts_are_of_variables_) return coerced;
  }
  const TypeId read = base_type(without_collation(type));
  const std::int32_t location = value->location();
  ExprPtr by_text =
      std::make_unique<CastExpr>(Cast{source, read, CastContext::assignment, CastMethod::text_form},
                                 CastForm::implicit, std::move(value));
  by_text->set_location(location);
  return try_coerce(by_text, type, typmod, Implicitness::assignment);
}

ExprPtr Binder::hstore_pair_assignment(ExprPtr whole, ExprPtr value, const ast::ResTarget& target,
                                       const Column& column, Scope& scope) {
  const TypeId source = value->type();
  value = coerce_part(std::move(value), TypeId::text, kNoTypmod);
  if (!value) {
    throw sql_error(
        sqlstate::datatype_mismatch,
        "subscripted assignment to \"{}\" requires type {} but expression is of type {}",
        column.name, format_type(TypeId::text), format_type(source))
        .with_hint("You will need to rewrite or cast the expression.")
        .at_position(target.location + 1);
  }
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(whole));
  operands.push_back(std::move(value));
  operands.push_back(bind_hstore_key(target.indirection, scope));
  return coerce_to_column(std::make_unique<HstorePairAssignment>(std::move(operands)), column);
}

ExprPtr Binder::json_part_assignment(ExprPtr whole, ExprPtr value, const ast::ResTarget& target,
                                     const Column& column, Scope& scope) {
  const TypeId source = value->type();
  value = coerce_part(std::move(value), TypeId::jsonb, kNoTypmod);
  if (!value) {
    throw sql_error(
        sqlstate::datatype_mismatch,
        "subscripted assignment to \"{}\" requires type {} but expression is of type {}",
        column.name, format_type(TypeId::jsonb), format_type(source))
        .with_hint("You will need to rewrite or cast the expression.")
        .at_position(target.location + 1);
  }
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(whole));
  operands.push_back(std::move(value));
  for (const ast::Node* node : target.indirection) {
    operands.push_back(bind_json_subscript(ast::as<ast::A_Indices>(node), scope));
  }
  return coerce_to_column(std::make_unique<JsonPartAssignment>(std::move(operands)), column);
}

TypeId Binder::subscript_part(PartAssignment::Step& step, ast::NodeList path, TypeId type,
                              const ast::ResTarget& target, Scope& scope,
                              std::vector<ExprPtr>& indices) {
  const std::size_t first = indices.size();
  if (step.container == TypeId::jsonb) {
    for (const ast::Node* node : path)
      indices.push_back(bind_json_subscript(ast::as<ast::A_Indices>(node), scope));
    step.begins_list = indices[first]->type() == TypeId::int4;
    step.indices = path.size();
    return TypeId::jsonb;
  }
  if (step.container == kHstoreType) {
    indices.push_back(bind_hstore_key(path, scope));
    step.indices = 1;
    return TypeId::text;
  }
  const TypeId element = part_of(step.container);
  if (element == TypeId::none) {
    // As in PostgreSQL, the error for a part within the column has no position.
    throw sql_error(sqlstate::datatype_mismatch,
                    "cannot subscript type {} because it does not support subscripting",
                    format_type(type))
        .at_position(path.data() == target.indirection.data() ? target.location + 1 : 0);
  }
  const bool has_slice = std::ranges::any_of(
      path, [](const ast::Node* node) { return ast::as<ast::A_Indices>(node).is_slice; });
  if (has_slice) refuse_fixed_slice(step.container);
  for (const ast::Node* node : path) {
    const auto& index = ast::as<ast::A_Indices>(node);
    if (has_slice) {
      // In a list with a slice a single index i means 1:i.
      if (!index.is_slice) indices.push_back(constant(TypeId::int4, Value::from_int(1)));
      step.slice.push_back({!index.is_slice || index.lidx != nullptr, index.uidx != nullptr});
    }
    if (index.lidx != nullptr) indices.push_back(bind_subscript(*index.lidx, scope));
    if (index.uidx != nullptr) indices.push_back(bind_subscript(*index.uidx, scope));
  }
  step.indices = indices.size() - first;
  return has_slice ? step.container : element;
}

ExprPtr Binder::assign_within(ExprPtr whole, ast::NodeList path, ExprPtr value,
                              const ast::ResTarget& target, const Column& column, Scope& scope) {
  const TypeId outermost = base_type(whole->type());
  TypeReference part{outermost, kNoTypmod};
  std::string_view name = column.name;
  std::string what;
  std::vector<PartAssignment::Step> steps;
  std::vector<ExprPtr> indices;
  for (std::size_t i = 0; i < path.size();) {
    PartAssignment::Step& step = steps.emplace_back();
    step.container = base_type(part.type);
    if (const auto* field = ast::try_as<ast::String>(path[i])) {
      step.shape = row_shape(step.container);
      if (!step.shape) {
        throw sql_error(sqlstate::datatype_mismatch,
                        "cannot assign to field \"{}\" of column \"{}\" because its type {} is not "
                        "a composite type",
                        field->sval, name, format_type(part.type))
            .at_position(target.location + 1);
      }
      step.field = field_position(*step.shape, *field, step.container, name, target);
      part = {step.shape->types[step.field], step.shape->typmods[step.field]};
      name = field->sval;
      what = fmt::format("subfield \"{}\"", name);
      ++i;
    } else {
      const auto end =
          std::find_if_not(path.begin() + static_cast<std::ptrdiff_t>(i), path.end(),
                           [](const ast::Node* node) { return ast::is<ast::A_Indices>(node); });
      const auto count = static_cast<std::size_t>(end - path.begin()) - i;
      part = {subscript_part(step, path.subspan(i, count), part.type, target, scope, indices),
              part.typmod};
      what.clear();
      i += count;
    }
    step.part = part.type;
  }
  const TypeId source = value->type();
  value = coerce_part(std::move(value), part.type, part.typmod);
  if (!value) {
    const std::string wanted = format_type(part.type);
    throw SqlError{sqlstate::datatype_mismatch,
                   what.empty() ? fmt::format("subscripted assignment to \"{}\" requires type {} "
                                              "but expression is of type {}",
                                              name, wanted, format_type(source))
                                : fmt::format("{} is of type {} but expression is of type {}", what,
                                              wanted, format_type(source))}
        .with_hint("You will need to rewrite or cast the expression.")
        .at_position(target.location + 1);
  }
  return std::make_unique<PartAssignment>(outermost, std::move(steps), std::move(whole),
                                          std::move(value), std::move(indices));
}

ExprPtr Binder::slice_assignment(ExprPtr array, ExprPtr value, const ast::ResTarget& target,
                                 const Column& column, Scope& scope) {
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(array));
  operands.push_back(std::move(value));
  std::vector<SliceAssignment::Given> given;
  for (const ast::Node* node : target.indirection) {
    const auto& index = ast::as<ast::A_Indices>(node);
    // In a list with a slice a single index i means 1:i.
    if (!index.is_slice) operands.push_back(constant(TypeId::int4, Value::from_int(1)));
    if (index.lidx != nullptr) operands.push_back(bind_subscript(*index.lidx, scope));
    if (index.uidx != nullptr) operands.push_back(bind_subscript(*index.uidx, scope));
    given.push_back({!index.is_slice || index.lidx != nullptr, index.uidx != nullptr});
  }
  return coerce_to_column(std::make_unique<SliceAssignment>(base_type(column.type),
                                                            std::move(operands), std::move(given)),
                          column);
}

ExprPtr Binder::inserted_value(ExprPtr earlier, ExprPtr value, const ast::ResTarget* target,
                               const Column& column, Scope& scope) {
  if (target == nullptr || target->indirection.empty()) {
    return coerce_to_column(std::move(value), column);
  }
  if (!earlier) earlier = constant(column.type, Value::null());
  return part_assignment(std::move(earlier), std::move(value), *target, column, scope);
}

}  // namespace swizzle::sql

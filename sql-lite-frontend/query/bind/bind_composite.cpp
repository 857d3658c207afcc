#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bound/hstore_subscript.h"
#include "sql-lite-frontend/query/bound/json_subscript.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/array/fixed_array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

/// Constructors of arrays and rows, and access to their parts.
namespace swizzle::sql {

ExprPtr ExpressionBinder::bind_array(const ast::A_ArrayExpr& node, Scope& scope, TypeId wanted) {
  check_stack();
  std::vector<ExprPtr> elements;
  bool nested = false;
  for (const ast::Node* element : node.elements) {
    if (const auto* inner = ast::try_as<ast::A_ArrayExpr>(element)) {
      elements.push_back(bind_array(*inner, scope, wanted));
    } else {
      elements.push_back(bind_node(element, scope));
    }
    nested |= is_array(elements.back()->type());
  }
  TypeId type = wanted;
  if (elements.empty()) {
    if (wanted == TypeId::none) {
      throw SqlError{sqlstate::indeterminate_datatype, "cannot determine type of empty array"}
          .with_hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
          .at_position(node.location + 1);
    }
  } else if (wanted == TypeId::none) {
    TypeId common = TypeId::none;
    elements = unify(std::move(elements), "ARRAY", common, node.location);
    type = nested ? common : array_type(common);
    if (type == TypeId::none) {
      throw sql_error(sqlstate::undefined_object, "could not find array type for data type {}",
                      format_type(common))
          .at_position(node.location + 1);
    }
  } else {
    const TypeId element = nested ? wanted : element_type(wanted);
    for (ExprPtr& expr : elements) {
      expr = coerce(std::move(expr), element, kNoTypmod, Implicitness::explicit_cast);
    }
  }
  const std::int32_t typmod = common_typmod(elements);
  auto expr = std::make_unique<ArrayExpr>(
      type, nested ? ArrayExpr::Kind::nested : ArrayExpr::Kind::elements, std::move(elements));
  expr->set_type(type, typmod);
  expr->set_location(node.location);
  return expr;
}

std::vector<ExprPtr> ExpressionBinder::fields_of_row(const ast::RowExpr& node, Scope& scope) {
  std::vector<ExprPtr> fields;
  const auto add = [&](ExprPtr field) {
    if (fields.size() == kMostRowColumns) {
      throw sql_error(sqlstate::too_many_columns, "ROW expressions can have at most {} entries",
                      kMostRowColumns)
          .at_position(node.location + 1);
    }
    fields.push_back(std::move(field));
  };
  for (const ast::Node* arg : node.args) {
    const auto* column = ast::try_as<ast::ColumnRef>(arg);
    if (column != nullptr && column->fields.size() > 1 &&
        ast::is<ast::A_Star>(column->fields.back())) {
      // ROW(t.*) has the columns of t as its fields.
      std::vector<OutputTarget> columns;
      expand_star(*column, scope, columns);
      for (OutputTarget& target : columns) add(std::move(target.expr));
      continue;
    }
    if (const auto* part = ast::try_as<ast::A_Indirection>(arg);
        part != nullptr && ast::is<ast::A_Star>(part->indirection.back())) {
      std::vector<OutputTarget> columns;
      if (expand_composite(arg, scope, columns)) {
        for (OutputTarget& target : columns) add(std::move(target.expr));
        continue;
      }
    }
    add(bind_node(arg, scope));
  }
  return fields;
}

ExprPtr ExpressionBinder::bind_row(const ast::RowExpr& node, Scope& scope) {
  std::vector<ExprPtr> fields = fields_of_row(node, scope);
  std::vector<std::string> names;
  std::vector<std::size_t> untyped;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i]->type() == TypeId::unknown) {
      untyped.push_back(i);
      fields[i] = coerce(std::move(fields[i]), TypeId::text, kNoTypmod, Implicitness::implicit);
    }
    apply_usual_collation(*fields[i]);
    names.push_back(fmt::format("f{}", i + 1));
  }
  auto expr = std::make_unique<RowExpr>(std::move(fields));
  expr->names = std::move(names);
  expr->is_written = true;
  for (const std::size_t field : untyped) expr->mark_untyped(field);
  expr->set_location(node.location);
  return expr;
}

const Function* ExpressionBinder::function_called(const Expr& expr) noexcept {
  if (const auto* call = dynamic_cast<const FunctionExpr*>(&expr)) return &call->function();
  const auto* const of_session = dynamic_cast<const SessionFunctionExpr*>(&expr);
  return of_session != nullptr ? &of_session->function() : nullptr;
}

std::optional<ExpressionBinder::RecordFields> ExpressionBinder::record_fields_of(const Expr& expr) {
  const auto of = [](std::span<const std::string_view> names, const auto& types) {
    return RecordFields{names, {types.begin(), types.end()}};
  };
  if (const auto* row = dynamic_cast<const RowExpr*>(&expr)) {
    const std::span<std::string_view> names{
        arena_.allocate_array<std::string_view>(row->names.size()), row->names.size()};
    std::ranges::transform(row->names, names.begin(),
                           [&](const std::string& name) { return arena_.copy(name); });
    RecordFields fields{names, {}};
    for (const ExprPtr& field : row->operands()) fields.types.push_back(field->type());
    return fields;
  }
  if (const auto* slot = dynamic_cast<const SlotExpr*>(&expr)) {
    const auto known = record_fields_.find(slot->slot());
    return known == record_fields_.end() ? std::nullopt : std::optional{known->second};
  }
  if (const Function* const called = function_called(expr)) {
    return of(called->column_names, called->column_types);
  }
  if (const auto* call = dynamic_cast<const RoutineExpr*>(&expr)) {
    const CallableRoutine& callable = *call->call()->callable;
    return of(callable.column_names, callable.column_types);
  }
  return std::nullopt;
}

void ExpressionBinder::note_record_fields(Slot slot, const Expr& expr) {
  if (expr.type() != TypeId::record) return;
  if (auto fields = record_fields_of(expr)) record_fields_[slot] = std::move(*fields);
}

ExprPtr ExpressionBinder::field_of(ExprPtr record, std::string_view field, std::int32_t location) {
  if (auto* row = dynamic_cast<RowExpr*>(record.get())) {
    for (std::size_t i = 0; i < row->names.size(); ++i) {
      if (row->names[i] == field) return std::move(row->mutable_operands()[i]);
    }
    if (const auto* column = row->operands().empty()
                                 ? nullptr
                                 : dynamic_cast<const SlotExpr*>(row->operands()[0].get());
        column != nullptr && row->is_whole_row) {
      throw sql_error(sqlstate::undefined_column, "column {}.{} does not exist",
                      column->origin().qualifier, field)
          .at_position(location + 1);
    }
  }
  if (const auto fields = record_fields_of(*record)) {
    for (std::size_t i = 0; i < fields->names.size(); ++i) {
      if (fields->names[i] != field) continue;
      return std::make_unique<FieldExpr>(fields->types[i], std::move(record), i,
                                         std::string{field});
    }
  }
  if (const auto shape = row_shape(base_type(record->type()))) {
    const auto found = std::ranges::find(shape->names, field);
    if (found == shape->names.end()) {
      throw sql_error(sqlstate::undefined_column, "column \"{}\" not found in data type {}", field,
                      format_type(base_type(record->type())))
          .at_position(location + 1);
    }
    const auto i = static_cast<std::size_t>(found - shape->names.begin());
    auto expr = std::make_unique<FieldExpr>(shape->ordered()[i], std::move(record), i, *found);
    expr->set_type(shape->ordered()[i], shape->typmods[i]);
    expr->set_location(location);
    return expr;
  }
  if (record->type() != TypeId::record) {
    throw sql_error(sqlstate::wrong_object_type,
                    "column notation .{} applied to type {}, which is not a composite type", field,
                    format_type(record->type()))
        .at_position(location + 1);
  }
  throw sql_error(sqlstate::undefined_column,
                  "could not identify column \"{}\" in record data type", field)
      .at_position(location + 1);
}

ExprPtr ExpressionBinder::bind_subscript(const ast::Node& node, Scope& scope) {
  ExprPtr index = bind_node(&node, scope);
  const std::int32_t location = index->location();
  ExprPtr coerced = try_coerce(index, TypeId::int4, kNoTypmod, Implicitness::assignment);
  if (coerced == nullptr) {
    throw SqlError{sqlstate::datatype_mismatch, "array subscript must have type integer"}
        .at_position(location + 1);
  }
  return coerced;
}

ExprPtr ExpressionBinder::bind_json_subscript(const ast::A_Indices& index, Scope& scope) {
  if (index.is_slice) {
    const ast::Node* const bound = index.uidx != nullptr ? index.uidx : index.lidx;
    throw SqlError{sqlstate::datatype_mismatch, "jsonb subscript does not support slices"}
        .at_position(bound == nullptr ? 0 : bind_node(bound, scope)->location() + 1);
  }
  ExprPtr subscript = bind_node(index.uidx, scope);
  const std::int32_t location = subscript->location();
  const TypeId type = subscript->type();
  for (const TypeId wanted : {TypeId::int4, TypeId::text}) {
    if (type == TypeId::unknown && wanted == TypeId::int4) continue;
    ExprPtr coerced = try_coerce(subscript, wanted, kNoTypmod, Implicitness::implicit);
    if (coerced != nullptr) return coerced;
  }
  throw sql_error(sqlstate::datatype_mismatch, "subscript type {} is not supported",
                  format_type(type))
      .with_hint("jsonb subscript must be coercible to either integer or text.")
      .at_position(location + 1);
}

ExprPtr ExpressionBinder::bind_hstore_key(ast::NodeList indices, Scope& scope) {
  if (indices.size() != 1 || ast::as<ast::A_Indices>(indices[0]).is_slice) {
    throw SqlError{sqlstate::feature_not_supported, "hstore allows only one subscript"};
  }
  ExprPtr key = bind_node(ast::as<ast::A_Indices>(indices[0]).uidx, scope);
  const std::int32_t key_location = key->location();
  ExprPtr text = try_coerce(key, TypeId::text, kNoTypmod, Implicitness::assignment);
  if (text != nullptr) return text;
  throw SqlError{sqlstate::datatype_mismatch, "hstore subscript must have type text"}.at_position(
      key_location + 1);
}

ExprPtr ExpressionBinder::bind_subscripts(ExprPtr base, ast::NodeList indices, Scope& scope) {
  const TypeId array = base->type();
  if (base_type(array) == kHstoreType) {
    ExprPtr key = bind_hstore_key(indices, scope);
    return std::make_unique<HstoreSubscript>(std::move(base), std::move(key));
  }
  if (base_type(array) == TypeId::jsonb) {
    std::vector<ExprPtr> operands;
    operands.push_back(std::move(base));
    for (const ast::Node* node : indices) {
      operands.push_back(bind_json_subscript(ast::as<ast::A_Indices>(node), scope));
    }
    return std::make_unique<JsonSubscript>(std::move(operands));
  }
  // A value of type name is an array of letters whose indexes begin at 0.
  const bool is_letter =
      array == TypeId::name && indices.size() == 1 && !ast::as<ast::A_Indices>(indices[0]).is_slice;
  const TypeId part = fixed_element(array);
  const TypeId element = is_letter              ? TypeId::char_
                         : part == TypeId::none ? element_type(array)
                                                : part;
  if (element == TypeId::none) {
    throw sql_error(sqlstate::datatype_mismatch,
                    "cannot subscript type {} because it does not "
                    "support subscripting",
                    format_type(array))
        .at_position(base->location() + 1);
  }
  bool slice = false;
  for (const ast::Node* node : indices) slice |= ast::as<ast::A_Indices>(node).is_slice;
  if (slice && part != TypeId::none) {
    throw SqlError{sqlstate::feature_not_supported,
                   "slices of fixed-length arrays not implemented"};
  }
  const auto bound = [&](const ast::Node* node) {
    return node == nullptr ? constant(TypeId::unknown, Value::null())
                           : bind_subscript(*node, scope);
  };
  const std::int32_t typmod = part == TypeId::none ? base->typmod() : kNoTypmod;
  std::vector<ExprPtr> operands;
  operands.push_back(std::move(base));
  for (const ast::Node* node : indices) {
    const auto& index = ast::as<ast::A_Indices>(node);
    if (slice) {
      // In a slice a single index i means 1:i.
      operands.push_back(index.is_slice ? bound(index.lidx)
                                        : constant(TypeId::int4, Value::from_int(1)));
    }
    operands.push_back(bound(index.uidx));
  }
  if (std::cmp_greater(indices.size(), kMaxArrayDimensions)) {
    throw_error(sqlstate::program_limit_exceeded,
                "number of array dimensions ({}) exceeds the maximum allowed ({})", indices.size(),
                kMaxArrayDimensions);
  }
  const TypeId result = slice ? array : element;
  auto expr = std::make_unique<SubscriptExpr>(
      result, slice ? SubscriptExpr::Kind::slice : SubscriptExpr::Kind::element,
      std::move(operands));
  expr->set_type(result, typmod);
  return expr;
}

namespace {

std::int32_t indirection_location(const ast::Node* node) {
  if (const auto* column = ast::try_as<ast::ColumnRef>(node)) return column->location;
  if (const auto* constant = ast::try_as<ast::A_Const>(node)) return constant->location;
  if (const auto* row = ast::try_as<ast::RowExpr>(node)) return row->location;
  return -1;
}
}  // namespace
ExprPtr ExpressionBinder::bind_indirection(const ast::A_Indirection& node, Scope& scope) {
  ExprPtr expr = bind_node(node.arg, scope);
  for (std::size_t i = 0; i < node.indirection.size();) {
    if (const auto* field = ast::try_as<ast::String>(node.indirection[i])) {
      expr = field_of(std::move(expr), field->sval, indirection_location(node.arg));
      ++i;
    } else if (ast::is<ast::A_Indices>(node.indirection[i])) {
      std::size_t end = i;
      while (end < node.indirection.size() && ast::is<ast::A_Indices>(node.indirection[end])) ++end;
      expr = bind_subscripts(std::move(expr), node.indirection.subspan(i, end - i), scope);
      i = end;
    } else {
      if (shape_of(base_type(expr->type())) != Shape::record) {
        throw_error(sqlstate::wrong_object_type, "type {} is not composite",
                    format_type(expr->type()));
      }
      unsupported("expansion of a composite value with *");
    }
  }
  return expr;
}

}  // namespace swizzle::sql

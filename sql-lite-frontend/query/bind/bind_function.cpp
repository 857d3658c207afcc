#include <algorithm>

#include "sql-lite-frontend/query/bind/argument_types.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/query/bind/window_functions.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/range/range_makers.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

bool shows_names(const Function& function) {
  return function.name.starts_with("json") || function.name.starts_with("to_json") ||
         function.name.starts_with("row_to_json");
}

/// Marks row constructors among the arguments as having field names. These are known only here.
void tell_names(std::span<const ExprPtr> arguments) {
  check_stack();
  for (const ExprPtr& argument : arguments) {
    auto* row = dynamic_cast<RowExpr*>(argument.get());
    if (row == nullptr) continue;
    row->tells_names = true;
    tell_names(row->operands());
  }
}

bool takes_exactly(std::string_view name, TypeId type) {
  return std::ranges::any_of(functions_named(name), [type](const Function* function) {
    return function->arguments.size() == 1 && function->arguments[0] == type;
  });
}

/// Returns true if type(x), without a function of this name, means x::type: x is a literal, or the
/// cast needs no function or goes through the text form.
bool is_cast_by_call(TypeId source, TypeId type) {
  if (shape_of(type) == Shape::record) return false;
  if (source == TypeId::unknown) return true;
  const auto cast = find_cast(source, type, CastContext::explicit_cast);
  return cast && (cast->method == CastMethod::relabel || cast->method == CastMethod::text_form) &&
         !(shape_of(source) == Shape::record && is_string_category(type));
}

/// Removes parameters of type void, as PostgreSQL does: JDBC's {? = call f(?)} also sends the
/// result as such a parameter.
void drop_output_parameters(std::vector<ExprPtr>& arguments) {
  std::erase_if(arguments, [](const ExprPtr& argument) {
    return argument->type() == TypeId::void_ &&
           dynamic_cast<const ParameterExpr*>(argument.get()) != nullptr;
  });
}

}  // namespace

ExprPtr ExpressionBinder::call_builtin(std::string_view name, std::vector<ExprPtr> arguments) {
  const std::vector<TypeId> types = types_of(arguments);
  const ResolvedFunction resolved = resolve_function({.name = name, .argument_types = types});
  const Function& function = *resolved.function;
  arguments = place_arguments(resolved, std::move(arguments));
  if (function.session != nullptr) return bind_session_call(function, std::move(arguments), -1);
  const DerivedCollation collation = merge_collations(names_, arguments);
  auto expr = std::make_unique<FunctionExpr>(collated(function, arguments, collation), nullptr,
                                             resolved.result, std::move(arguments));
  apply_collation(*expr, collation);
  return expr;
}

/// Brings the call's arguments into the parameters' order and types, adds defaults and packs a
/// variadic tail.
std::vector<ExprPtr> ExpressionBinder::place_arguments(const ResolvedFunction& resolved,
                                                       std::vector<ExprPtr> arguments) {
  const Function& function = *resolved.function;
  std::vector<ExprPtr> placed;
  for (std::size_t i = 0; i < resolved.argument_types.size(); ++i) {
    const int from =
        i < resolved.argument_order.size() ? resolved.argument_order[i] : static_cast<int>(i);
    const TypeId type = resolved.argument_types[i];
    if (from >= 0) {
      placed.push_back(coerce(std::move(arguments[static_cast<std::size_t>(from)]), type, kNoTypmod,
                              Implicitness::implicit));
      continue;
    }
    const std::size_t defaults = function.argument_defaults.size();
    const std::size_t first_default = function.arguments.size() - defaults;
    const std::string_view text = function.argument_defaults[i - first_default];
    if (function.routine != nullptr) {
      placed.push_back(
          coerce(bind_stored_expression(text), type, kNoTypmod, Implicitness::assignment));
      continue;
    }
    FunctionContext functions{arena_, names_.context(), {}};
    const Value value =
        text == "NULL" ? Value::null() : input_text(functions, type, kNoTypmod, text);
    placed.push_back(std::make_unique<ConstantExpr>(type, kNoTypmod, value));
  }
  if (resolved.first_variadic < placed.size() && resolved.variadic_element != TypeId::none &&
      resolved.variadic_element != TypeId::any) {
    std::vector<ExprPtr> tail;
    for (std::size_t i = resolved.first_variadic; i < placed.size(); ++i) {
      tail.push_back(std::move(placed[i]));
    }
    placed.resize(resolved.first_variadic);
    const DerivedCollation collation = merge_collations(names_, tail);
    placed.push_back(std::make_unique<ArrayExpr>(array_type(resolved.variadic_element),
                                                 ArrayExpr::Kind::elements, std::move(tail)));
    apply_collation(*placed.back(), collation);
  }
  return placed;
}

ExprPtr ExpressionBinder::bind_session_call(const Function& function,
                                            std::vector<ExprPtr> arguments, std::int32_t location) {
  if (function.takes_text) {
    for (ExprPtr& argument : arguments) {
      argument = coerce(std::move(argument), TypeId::text, kNoTypmod, Implicitness::explicit_cast);
    }
  }
  auto expr = std::make_unique<SessionFunctionExpr>(function, std::move(arguments));
  expr->set_location(location);
  return expr;
}

namespace {

[[noreturn]] void refuse_without_group(const ast::FuncCall& node, std::string_view name) {
  throw sql_error(sqlstate::wrong_object_type,
                  "WITHIN GROUP is required for ordered-set aggregate {}", name)
      .at_position(node.location + 1);
}

}  // namespace

ExprPtr ExpressionBinder::bind_function(const ast::FuncCall& node, Scope& scope) {
  constexpr std::size_t kMostArguments = 100;
  if (node.args.size() > kMostArguments) {
    throw sql_error(sqlstate::too_many_arguments,
                    "cannot pass more than {} arguments to a function", kMostArguments)
        .at_position(node.location + 1);
  }
  const std::string_view name = ast::string_of(node.funcname.back());
  const Clause clause = scope.clause;
  const OuterNotes notes{scope};
  const CallsBefore before{scope.set_locations.size(), scope.window_locations.size()};
  CallArguments given = bind_arguments(node, scope);
  scope.clause = clause;
  const std::vector<std::string_view> names = given.names;
  const bool any_named = !names.empty();
  if (!any_named) drop_output_parameters(given.values);
  given.types = types_of(given.values);
  if (ExprPtr stored = bind_stored_call(node, given)) return stored;
  if (const auto routine = find_routine(node, given, RoutineKind::function)) {
    if (routine->callable->routine->kind == RoutineKind::aggregate) {
      return bind_made_aggregate(node, *routine, std::move(given), scope, notes, before);
    }
    return bind_routine(node, *routine, std::move(given), scope);
  }
  std::vector<ExprPtr> arguments = std::move(given.values);
  if (node.agg_within_group) return bind_ordered_set(node, scope, std::move(arguments), notes);

  if (is_hypothetical_set(name) && !arguments.empty()) refuse_without_group(node, name);
  if (name == "pg_collation_for" && arguments.size() == 1) {
    const std::string shown = described_collation(*arguments[0]);
    return constant(TypeId::text, shown.empty() ? Value::null() : Value::from_text(shown));
  }
  const std::vector<TypeId> types = types_of(arguments);
  FunctionCall call{.name = name, .argument_types = types};
  call.casts = names_.made_casts();
  if (node.funcname.size() > 1)
    call.schema = ast::string_of(node.funcname[node.funcname.size() - 2]);
  if (any_named) call.argument_names = names;
  if (node.func_variadic) call.variadic = FunctionCall::Variadic::as_array;
  call.position = node.location + 1;

  // A type's name with one argument is a cast, unless a function takes exactly this argument.
  // VARIADIC has no effect then.
  if (arguments.size() == 1 && node.over == nullptr && !node.agg_star && !any_named &&
      !takes_exactly(name, types[0])) {
    ast::TypeName type_name;
    type_name.names = node.funcname;
    const Type* const builtin = find_built_in_type(name);
    const TypeId type = builtin != nullptr ? builtin->id : bind_user_type(type_name);
    if (type != TypeId::none && is_cast_by_call(types[0], type)) {
      if (ExprPtr cast = try_coerce(arguments[0], type, kNoTypmod, Implicitness::explicit_cast)) {
        if (cast->location() < 0) cast->set_location(node.location);
        return cast;
      }
    }
  }
  if (functions_named(name).empty() || node.funcname.size() > 1) {
    // A user-defined range type has functions of its name.
    ast::TypeName type_name;
    type_name.names = node.funcname;
    if (const auto makers = range_makers(bind_user_type(type_name)); !makers.empty())
      call.candidates = makers;
  }
  if (arguments.size() == 1 && node.funcname.size() == 1) {
    // If no function a takes x, a(x) means (x).a.
    const auto shape = row_shape(base_type(types[0]));
    if (shape && std::ranges::find(shape->names, name) != shape->names.end() &&
        !try_resolve_function(call))
      return field_of(std::move(arguments[0]), name, node.location);
  }
  const auto resolved = resolve_function(call);
  const Function& function = *resolved.function;
  if (resolved.variadic_array && element_type(arguments.back()->type()) == TypeId::none) {
    throw SqlError{sqlstate::datatype_mismatch, "VARIADIC argument must be an array"}.at_position(
        arguments.back()->location() + 1);
  }
  if (shows_names(function)) tell_names(arguments);
  if (function.kind == FunctionKind::window) {
    if (node.over == nullptr) {
      throw sql_error(sqlstate::wrong_object_type, "window function {} requires an OVER clause",
                      name)
          .at_position(node.location + 1);
    }
    return bind_window_call(node, scope, std::move(arguments), resolved, before);
  }
  if (function.kind == FunctionKind::aggregate) {
    if (is_ordered_set(function)) refuse_without_group(node, name);
    if (node.over != nullptr) {
      return bind_window_call(node, scope, std::move(arguments), resolved, before);
    }
    return bind_any_aggregate(node, scope, resolved, std::move(arguments), notes);
  }
  refuse_aggregate_syntax(node, name);
  arguments = place_arguments(resolved, std::move(arguments));
  const DerivedCollation collation = merge_collations(names_, arguments);
  const Function& called = collated(function, arguments, collation);
  // A function that returns one row with named columns is bound as a set-returning one.
  const bool is_one_row =
      function.scalar == nullptr && function.set != nullptr && !function.column_names.empty();
  if (function.kind == FunctionKind::set || function.returns_set || is_one_row) {
    return bind_set_call(called, nullptr, with_derived(resolved.result, collation), types,
                         std::move(arguments), scope, node.location);
  }
  if (function.session != nullptr) {
    ExprPtr asked = bind_session_call(function, std::move(arguments), node.location);
    if (node.funcformat == ast::CoercionForm::sql_syntax) asked->set_spelling(Spelling::keywords);
    return asked;
  }
  if (function.scalar == nullptr) refuse_row_without_columns(name);
  auto expr =
      std::make_unique<FunctionExpr>(called, nullptr, resolved.result, std::move(arguments));
  apply_collation(*expr, collation);
  expr->set_variadic_array(resolved.variadic_array);
  expr->set_location(node.location);
  if (node.funcformat == ast::CoercionForm::sql_syntax) expr->set_spelling(Spelling::keywords);
  return expr;
}

namespace {

/// Returns true if the clause may call a set-returning function, as a column of the query's rows.
bool allows_sets(const Scope& scope) {
  if (scope.query == nullptr || scope.query->body != Query::Body::select) return false;
  return scope.clause == Clause::select_list || scope.clause == Clause::order_by ||
         scope.clause == Clause::distinct_on || scope.clause == Clause::group_by;
}

/// Returns true if two calls are equal: they return the same rows, side by side.
bool is_same_call(const SetItem& item, const Function& function,
                  std::span<const ExprPtr> arguments) {
  if (item.function != &function || item.arguments.size() != arguments.size()) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (is_volatile(*arguments[i]) || !same_expression(*item.arguments[i], *arguments[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

ExprPtr ExpressionBinder::bind_set_call(const Function& function, const RoutineCallPtr& routine,
                                        TypeId result, std::span<const TypeId> types,
                                        std::vector<ExprPtr> arguments, Scope& scope,
                                        std::int32_t location) {
  if (scope.clause == Clause::from_function) {
    throw SqlError{sqlstate::feature_not_supported,
                   "set-returning functions must appear at top level of FROM"}
        .at_position(location + 1);
  }
  if (!allows_sets(scope)) {
    throw sql_error(sqlstate::feature_not_supported,
                    "set-returning functions are not allowed in {}", clause_name(scope.clause))
        .at_position(location + 1);
  }
  scope.set_locations.push_back(location);
  auto& sets = scope.query->sets;
  const auto known = std::ranges::find_if(
      sets, [&](const SetItem& item) { return is_same_call(item, function, arguments); });
  ScopeColumn column;
  column.slot = known != sets.end() ? known->slot : new_slot();
  column.type = result;
  if (!function.column_names.empty() && column.type == TypeId::record) {
    RecordFields fields{function.column_names, {}};
    for (const TypeId field : function.column_types) {
      const bool polymorphic = field == TypeId::anyelement && !types.empty();
      fields.types.push_back(polymorphic ? element_type(types[0]) : field);
    }
    record_fields_[column.slot] = std::move(fields);
  }
  if (known == sets.end()) {
    sets.push_back({column.slot, &function, std::move(arguments), routine, location});
  }
  ExprPtr expr = slot_expr(column);
  expr->set_location(location);
  return expr;
}

/// Throws if the arguments of a call with OVER contain a set-returning call, or a call with OVER.
void ExpressionBinder::refuse_calls_in_window(const Scope& scope, CallsBefore before) {
  if (scope.set_locations.size() > before.sets) {
    throw SqlError{sqlstate::feature_not_supported,
                   "window function calls cannot contain set-returning function calls"}
        .with_hint("You might be able to move the set-returning function into a LATERAL FROM item.")
        .at_position(scope.set_locations[before.sets] + 1);
  }
  if (scope.window_locations.size() > before.windows) {
    throw SqlError{sqlstate::windowing_error, "window function calls cannot be nested"}.at_position(
        scope.window_locations[before.windows] + 1);
  }
}

/// Throws when the query has more calls of set-returning functions than `before`.
void ExpressionBinder::refuse_sets(const Scope& scope, std::size_t before, std::string_view where) {
  if (scope.set_locations.size() <= before) return;
  throw sql_error(sqlstate::feature_not_supported, "set-returning functions are not allowed in {}",
                  where)
      .with_hint("You might be able to move the set-returning function into a LATERAL FROM item.")
      .at_position(scope.set_locations[before] + 1);
}

}  // namespace swizzle::sql

#include <fmt/format.h>

#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// JSON_EXISTS, JSON_QUERY and JSON_VALUE.
namespace swizzle::sql {
namespace {

using Behavior = JsonPathExpr::Behavior;

Behavior::Kind behavior_kind(ast::JsonBehaviorType type) {
  using enum ast::JsonBehaviorType;
  switch (type) {
    case error:
      return Behavior::Kind::error;
    case empty:
    case empty_array:
      return Behavior::Kind::empty_array;
    case empty_object:
      return Behavior::Kind::empty_object;
    case true_:
      return Behavior::Kind::true_;
    case false_:
      return Behavior::Kind::false_;
    case unknown:
      return Behavior::Kind::unknown;
    case default_:
      return Behavior::Kind::value;
    default:
      return Behavior::Kind::null;
  }
}

bool is_allowed(JsonPathExpr::Kind kind, Behavior::Kind behavior) {
  using enum Behavior::Kind;
  switch (kind) {
    case JsonPathExpr::Kind::exists:
      return behavior == error || behavior == true_ || behavior == false_ || behavior == unknown;
    case JsonPathExpr::Kind::query:
      return behavior != true_ && behavior != false_ && behavior != unknown;
    case JsonPathExpr::Kind::value:
      return behavior == error || behavior == null || behavior == value;
  }
  return false;
}

/// Returns true if the expression is allowed after DEFAULT: a constant, a call, or a conversion of
/// one of them.
bool may_be_default(const Expr& expr) {
  const auto is_call = [](const Expr& one) {
    return dynamic_cast<const ConstantExpr*>(&one) != nullptr ||
           dynamic_cast<const FunctionExpr*>(&one) != nullptr ||
           dynamic_cast<const RoutineExpr*>(&one) != nullptr ||
           (dynamic_cast<const SessionFunctionExpr*>(&one) != nullptr &&
            one.spelling() == Spelling::call);
  };
  const Expr* at = &expr;
  while (!is_call(*at)) {
    const bool is_conversion = dynamic_cast<const CastExpr*>(at) != nullptr ||
                               dynamic_cast<const LengthExpr*>(at) != nullptr ||
                               dynamic_cast<const DomainExpr*>(at) != nullptr;
    if (!is_conversion) return false;
    at = dynamic_cast<const OperandsExpr*>(at)->operands()[0].get();
  }
  return true;
}

std::int32_t beginning(Expr& expr) {
  std::int32_t first = expr.location();
  walk(expr, [&](Expr& part) {
    if (part.location() >= 0 && (first < 0 || part.location() < first)) first = part.location();
  });
  return first;
}

}  // namespace

/// Throws if ON EMPTY or ON ERROR names a behavior that the function does not have.
void ExpressionBinder::require_json_behavior(const ast::JsonBehavior* node, JsonPathExpr::Kind kind,
                                             std::string_view clause, std::string_view column) {
  if (node == nullptr || is_allowed(kind, behavior_kind(node->btype))) return;
  const bool is_exists = kind == JsonPathExpr::Kind::exists;
  const bool is_query = kind == JsonPathExpr::Kind::query;
  const std::string_view allowed =
      is_exists  ? "ERROR, TRUE, FALSE, or UNKNOWN"
      : is_query ? "ERROR, NULL, EMPTY ARRAY, EMPTY OBJECT, or DEFAULT expression"
                 : "ERROR, NULL, or DEFAULT expression";
  std::string where = is_exists ? "JSON_EXISTS()" : is_query ? "JSON_QUERY()" : "JSON_VALUE()";
  std::string message = fmt::format("invalid {} behavior", clause);
  if (!column.empty()) {
    message += fmt::format(" for column \"{}\"", column);
    where = is_exists ? "EXISTS columns" : is_query ? "formatted columns" : "scalar columns";
  }
  throw SqlError{sqlstate::syntax_error, message}
      .with_detail(fmt::format("Only {} is allowed in {} for {}.", allowed, clause, where))
      .at_position(node->location + 1);
}

/// Binds the behavior of ON EMPTY or ON ERROR. The expression of DEFAULT becomes an operand.
Behavior ExpressionBinder::bind_json_behavior(const ast::JsonBehavior* node, Behavior::Kind usual,
                                              const JsonReturning& returning, Scope& scope,
                                              std::vector<ExprPtr>& operands) {
  if (node == nullptr) return {usual};
  Behavior behavior{behavior_kind(node->btype)};
  if (behavior.kind != Behavior::Kind::value) return behavior;
  const std::size_t sets = scope.set_locations.size();
  const std::size_t aggregates = scope.query != nullptr ? scope.query->aggregates.size() : 0;
  ExprPtr expr = bind_node(node->expr, scope);
  const std::int32_t location = beginning(*expr);
  const auto refuse = [&](std::string_view message) {
    throw SqlError{sqlstate::datatype_mismatch, std::string{message}}.at_position(location + 1);
  };
  if (scope.set_locations.size() > sets) refuse("DEFAULT expression must not return a set");
  if (scope.query != nullptr) scope.query->aggregates.resize(aggregates);
  if (!may_be_default(*expr)) {
    refuse(
        "can only specify a constant, non-aggregate function, or operator expression for DEFAULT");
  }
  bool reads_columns = false;
  walk(*expr, [&](Expr& part) { reads_columns |= dynamic_cast<SlotExpr*>(&part) != nullptr; });
  if (reads_columns) refuse("DEFAULT expression must not contain column references");
  const TypeId source = expr->type();
  const TypeId target = returning.type;
  const auto* constant = dynamic_cast<const ConstantExpr*>(expr.get());
  const bool is_null = constant != nullptr && constant->value().is_null();
  const bool is_later = is_null || without_collation(source) == TypeId::jsonb ||
                        (source == TypeId::bool_ && base_type(target) != TypeId::int4);
  // A value of the same type is fitted to the length or scale that RETURNING names.
  const bool is_same = without_collation(source) == without_collation(target);
  if (!is_null && is_same && returning.typmod != kNoTypmod) {
    expr = coerce(std::move(expr), target, returning.typmod, Implicitness::assignment);
  } else if (!is_later && !is_same) {
    const char category = value_type(without_collation(base_type(target))).category;
    const auto how =
        category == 'S' || category == 'V' ? Implicitness::assignment : Implicitness::explicit_cast;
    // The RETURNING clause checks a domain's constraints.
    const TypeId checked = is_domain(target) ? base_type(target) : target;
    ExprPtr coerced = try_coerce(expr, checked, returning.typmod, how);
    if (coerced == nullptr) {
      throw sql_error(sqlstate::cannot_coerce, "cannot cast behavior expression of type {} to {}",
                      format_type(source), format_type(target))
          .with_hint(fmt::format("You will need to explicitly cast the expression to type {}.",
                                 format_type(target)))
          .at_position(location + 1);
    }
    expr = std::move(coerced);
  } else if (source == TypeId::unknown) {
    expr = this->constant(target, Value::null());
  } else if (source == TypeId::bool_ && target != TypeId::bool_) {
    // Convert to JSON now, and to the type when the value is used.
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(expr));
    expr = call_builtin("to_jsonb", std::move(arguments));
  }
  behavior.operand = operands.size();
  operands.push_back(std::move(expr));
  return behavior;
}

ExprPtr ExpressionBinder::bind_json_path(const ast::Node* node, Scope& scope) {
  ExprPtr path = bind_node(node, scope);
  const TypeId type = path->type();
  const std::int32_t location = beginning(*path);
  ExprPtr coerced = try_coerce(path, builtin_id::jsonpath, kNoTypmod, Implicitness::explicit_cast);
  if (coerced != nullptr) return coerced;
  throw sql_error(sqlstate::datatype_mismatch,
                  "JSON path expression must be of type {}, not of type {}", "jsonpath",
                  format_type(type))
      .at_position(location + 1);
}

void ExpressionBinder::bind_json_variables(ast::NodeList passing, Scope& scope,
                                           JsonPathExpr::Words& words,
                                           std::vector<ExprPtr>& operands) {
  for (const ast::Node* item : passing) {
    const auto& argument = ast::as<ast::JsonArgument>(item);
    words.variables.emplace_back(argument.name);
    operands.push_back(bind_json_value(*argument.val, scope, JsonInput::variable, TypeId::none));
  }
}

ExprPtr ExpressionBinder::bind_json_function(const ast::JsonFuncExpr& node, Scope& scope) {
  using Kind = JsonPathExpr::Kind;
  JsonPathExpr::Words words;
  words.kind = node.op == ast::JsonExprOp::exists_op  ? Kind::exists
               : node.op == ast::JsonExprOp::query_op ? Kind::query
                                                      : Kind::value;
  words.column = node.column_name;
  const std::string_view name = words.kind == Kind::exists  ? "JSON_EXISTS"
                                : words.kind == Kind::query ? "JSON_QUERY"
                                                            : "JSON_VALUE";
  const bool has_format =
      node.output != nullptr && node.output->returning != nullptr &&
      node.output->returning->format != nullptr &&
      node.output->returning->format->format_type != ast::JsonFormatType::default_;
  if (words.kind == Kind::value && has_format) {
    throw sql_error(sqlstate::syntax_error,
                    "cannot specify FORMAT JSON in RETURNING clause of {}()", name)
        .at_position(node.output->returning->format->location + 1);
  }
  const bool wraps = node.wrapper == ast::JsonWrapper::conditional ||
                     node.wrapper == ast::JsonWrapper::unconditional;
  if (words.kind == Kind::query && node.quotes == ast::JsonQuotes::omit && wraps) {
    throw SqlError{sqlstate::syntax_error,
                   "SQL/JSON QUOTES behavior must not be specified when WITH WRAPPER is used"}
        .at_position(node.location + 1);
  }
  if (words.kind != Kind::exists) {
    require_json_behavior(node.on_empty.raw(), words.kind, "ON EMPTY", words.column);
  }
  require_json_behavior(node.on_error.raw(), words.kind, "ON ERROR", words.column);
  words.wrapper = node.wrapper == ast::JsonWrapper::conditional ? JsonPathExpr::Wrapper::conditional
                  : node.wrapper == ast::JsonWrapper::unconditional ? JsonPathExpr::Wrapper::always
                                                                    : JsonPathExpr::Wrapper::none;
  words.quotes = words.kind == Kind::value || node.quotes == ast::JsonQuotes::omit
                     ? JsonQuotes::omitted
                     : JsonQuotes::kept;
  std::vector<ExprPtr> operands;
  operands.push_back(bind_json_value(*node.context_item, scope, JsonInput::json, TypeId::jsonb));
  operands.push_back(bind_json_path(node.pathspec, scope));
  bind_json_variables(node.passing, scope, words, operands);
  JsonReturning returning = bind_json_output(
      node.output, words.kind == Kind::query ? JsonOutputs::of_strings : JsonOutputs::any);
  if (returning.type == TypeId::none) {
    returning.type = words.kind == Kind::exists  ? TypeId::bool_
                     : words.kind == Kind::query ? TypeId::jsonb
                                                 : TypeId::text;
  }
  if (words.kind == Kind::query) words.format = returning.format;
  const auto usual = words.kind == Kind::exists ? Behavior::Kind::false_ : Behavior::Kind::null;
  words.on_empty = bind_json_behavior(node.on_empty.raw(), usual, returning, scope, operands);
  words.on_error = bind_json_behavior(node.on_error.raw(), usual, returning, scope, operands);
  auto expr = std::make_unique<JsonPathExpr>(returning.type, returning.typmod, std::move(words),
                                             std::move(operands));
  expr->set_location(node.location);
  return expr;
}

}  // namespace swizzle::sql

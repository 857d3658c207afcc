#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bind/missing_names.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

bool is_stored_name(const ast::TypeName& name) {
  return name.names.size() == 1 &&
         type_of_stored_name(ast::string_of(name.names[0])) != TypeId::none;
}

/// Returns true for bit strings. ARRAY[…]::bit(n)[] is not bound with element type bit, since its
/// numbers are converted to the length that the array's modifier says.
bool is_bits(TypeId type) {
  return value_type(type).category == 'V';
}

}  // namespace

ExprPtr ExpressionBinder::bind_expression(const ast::Node* node, Scope& scope) {
  return bind_node(node, scope);
}

namespace {

/// Returns the location at which the expression begins. An operator's own location comes after its
/// left operand.
std::int32_t first_location(Expr& expr) {
  std::int32_t first = expr.location();
  walk(expr, [&](Expr& part) {
    if (part.location() >= 0 && part.location() < first) first = part.location();
  });
  return first;
}

}  // namespace

ExprPtr ExpressionBinder::bind_condition(const ast::Node* node, Scope& scope,
                                         std::string_view what) {
  ExprPtr expr = bind_node(node, scope);
  const TypeId source = expr->type();
  const bool is_fine = base_type(source) == TypeId::bool_ || source == TypeId::unknown;
  // first_location() is called only if its result will be reported, since it is a walk, which a
  // long NOT would repeat at every level.
  const std::int32_t location = is_fine ? expr->location() : first_location(*expr);
  ExprPtr coerced = try_coerce(expr, TypeId::bool_, kNoTypmod, Implicitness::assignment);
  if (coerced == nullptr || !is_fine) {
    throw sql_error(sqlstate::datatype_mismatch, "argument of {} must be type boolean, not type {}",
                    what, format_type(source))
        .at_position(location + 1);
  }
  return coerced;
}

ExprPtr ExpressionBinder::bind_node(const ast::Node* node, Scope& scope) {
  check_stack();
  repeated_.note_node();
  constexpr std::size_t kWorkOfNode = 500;
  yield_point(kWorkOfNode);
  switch (ast::kind_of(node)) {
    case ast::NodeKind::a_const:
      return bind_constant(ast::as<ast::A_Const>(node));
    case ast::NodeKind::param_ref:
      return bind_parameter(ast::as<ast::ParamRef>(node));
    case ast::NodeKind::column_ref:
      return bind_column(ast::as<ast::ColumnRef>(node), scope);
    case ast::NodeKind::a_expr:
      return bind_operator_node(ast::as<ast::A_Expr>(node), scope);
    case ast::NodeKind::bool_expr:
      return bind_bool(ast::as<ast::BoolExpr>(node), scope);
    case ast::NodeKind::func_call:
      return bind_function(ast::as<ast::FuncCall>(node), scope);
    case ast::NodeKind::type_cast:
      return bind_cast(ast::as<ast::TypeCast>(node), scope);
    case ast::NodeKind::case_expr:
      return bind_case(ast::as<ast::CaseExpr>(node), scope);
    case ast::NodeKind::sub_link:
      return bind_sublink(ast::as<ast::SubLink>(node), scope);
    case ast::NodeKind::a_array_expr:
      return bind_array(ast::as<ast::A_ArrayExpr>(node), scope, TypeId::none);
    case ast::NodeKind::row_expr:
      return bind_row(ast::as<ast::RowExpr>(node), scope);
    case ast::NodeKind::a_indirection:
      return bind_indirection(ast::as<ast::A_Indirection>(node), scope);
    case ast::NodeKind::sqlvalue_function:
      return bind_value_function(ast::as<ast::SQLValueFunction>(node));
    case ast::NodeKind::merge_support_func:
      return bind_merge_support(ast::as<ast::MergeSupportFunc>(node), scope);
    case ast::NodeKind::null_test: {
      const auto& test = ast::as<ast::NullTest>(node);
      const auto kind = test.nulltesttype == ast::NullTestType::null ? TestExpr::Kind::is_null
                                                                     : TestExpr::Kind::is_not_null;
      ExprPtr tested = bind_node(test.arg, scope);
      note_untyped(*tested);
      auto expr = std::make_unique<TestExpr>(kind, std::move(tested));
      expr->set_location(test.location);
      return expr;
    }
    case ast::NodeKind::boolean_test: {
      const auto& test = ast::as<ast::BooleanTest>(node);
      // The two enumerations list the tests in the same order.
      const auto kind = static_cast<TestExpr::Kind>(static_cast<int>(TestExpr::Kind::is_true) +
                                                    static_cast<int>(test.booltesttype) -
                                                    static_cast<int>(ast::BoolTestType::true_));
      constexpr std::string_view kNames[] = {"IS TRUE",      "IS NOT TRUE", "IS FALSE",
                                             "IS NOT FALSE", "IS UNKNOWN",  "IS NOT UNKNOWN"};
      const auto name = kNames[static_cast<std::size_t>(test.booltesttype) - 1];
      auto expr = std::make_unique<TestExpr>(kind, bind_condition(test.arg, scope, name));
      expr->set_location(test.location);
      return expr;
    }
    case ast::NodeKind::coalesce_expr: {
      const auto& coalesce = ast::as<ast::CoalesceExpr>(node);
      const std::size_t sets = scope.set_locations.size();
      std::vector<ExprPtr> operands;
      for (const ast::Node* arg : coalesce.args) operands.push_back(bind_node(arg, scope));
      refuse_sets(scope, sets, "COALESCE");
      TypeId type = TypeId::none;
      operands = unify(std::move(operands), "COALESCE", type, coalesce.location);
      const std::int32_t typmod = common_typmod(operands);
      auto expr = std::make_unique<CoalesceExpr>(type, std::move(operands));
      expr->set_type(type, typmod);
      expr->set_location(coalesce.location);
      return expr;
    }
    case ast::NodeKind::min_max_expr: {
      const auto& extreme = ast::as<ast::MinMaxExpr>(node);
      const bool greatest = extreme.op == ast::MinMaxOp::greatest;
      std::vector<ExprPtr> operands;
      for (const ast::Node* arg : extreme.args) operands.push_back(bind_node(arg, scope));
      TypeId type = TypeId::none;
      operands =
          unify(std::move(operands), greatest ? "GREATEST" : "LEAST", type, extreme.location);
      if (compare_function(type) == nullptr) {
        throw_error(sqlstate::undefined_function,
                    "could not identify a comparison function for type {}", format_type(type));
      }
      const std::int32_t typmod = common_typmod(operands);
      auto expr = std::make_unique<GreatestExpr>(
          greatest ? GreatestExpr::Kind::greatest : GreatestExpr::Kind::least, type,
          std::move(operands));
      expr->set_type(type, typmod);
      return expr;
    }
    case ast::NodeKind::collate_clause:
      return bind_collate(ast::as<ast::CollateClause>(node), scope);
    case ast::NodeKind::set_to_default:
      throw SqlError{sqlstate::syntax_error, "DEFAULT is not allowed in this context"}.at_position(
          ast::as<ast::SetToDefault>(node).location + 1);
    case ast::NodeKind::grouping_func:
      return bind_grouping(ast::as<ast::GroupingFunc>(node), scope);
    case ast::NodeKind::current_of_expr:
      unsupported("WHERE CURRENT OF");
    case ast::NodeKind::json_object_constructor:
    case ast::NodeKind::json_array_constructor:
    case ast::NodeKind::json_parse_expr:
    case ast::NodeKind::json_scalar_expr:
    case ast::NodeKind::json_serialize_expr:
      return bind_json_constructor(node, scope);
    case ast::NodeKind::json_array_query_constructor:
      return bind_json_array_query(ast::as<ast::JsonArrayQueryConstructor>(node), scope);
    case ast::NodeKind::json_object_agg:
    case ast::NodeKind::json_array_agg:
      return bind_json_aggregate(node, scope);
    case ast::NodeKind::json_value_expr:
      return bind_json_value(ast::as<ast::JsonValueExpr>(node), scope, JsonInput::as_is,
                             TypeId::none);
    case ast::NodeKind::json_is_predicate:
      return bind_json_test(ast::as<ast::JsonIsPredicate>(node), scope);
    case ast::NodeKind::json_func_expr:
      return bind_json_function(ast::as<ast::JsonFuncExpr>(node), scope);
    case ast::NodeKind::xml_expr:
      return bind_xml(ast::as<ast::XmlExpr>(node), scope);
    case ast::NodeKind::xml_serialize:
      return bind_xml_serialize(ast::as<ast::XmlSerialize>(node), scope);
    case ast::NodeKind::named_arg_expr:
      throw SqlError{sqlstate::syntax_error, "named argument is not allowed here"};
    case ast::NodeKind::multi_assign_ref:
      unsupported("a multi-column assignment from a subquery");
    default:
      unsupported(fmt::format("the expression {}", ast::node_name(node->node_kind)));
  }
}

namespace {

/// Returns a number of the grammar without underscores and in decimal; empty if it does not fit.
std::string_view decimal_digits(Arena& arena, std::string_view written) {
  if (written.find_first_of("_xXoObB") == std::string_view::npos) return written;
  std::string plain;
  std::ranges::remove_copy(written, std::back_inserter(plain), '_');
  const std::size_t start = plain.starts_with('-') ? 1 : 0;
  const char letter = plain.size() > start + 1 ? plain[start + 1] : '0';
  const int base = letter == 'x' || letter == 'X'   ? 16
                   : letter == 'o' || letter == 'O' ? 8
                   : letter == 'b' || letter == 'B' ? 2
                                                    : 10;
  if (base != 10) {
    plain.erase(start, 2);
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(plain.data(), plain.data() + plain.size(), value, base);
    if (error != std::errc{} || end != plain.data() + plain.size()) return {};
    plain = std::to_string(value);
  }
  return arena.copy(plain);
}

}  // namespace

ExprPtr ExpressionBinder::bind_constant(const ast::A_Const& node) {
  ExprPtr expr;
  if (node.isnull) {
    expr = constant(TypeId::unknown, Value::null());
  } else if (node.ival != nullptr) {
    expr = constant(TypeId::int4, Value::from_int(node.ival->ival));
  } else if (node.boolval != nullptr) {
    expr = constant(TypeId::bool_, Value::from_bool(node.boolval->boolval));
  } else if (node.sval != nullptr) {
    expr = constant(TypeId::unknown, Value::from_text(node.sval->sval));
  } else if (node.fval != nullptr) {
    const std::string_view digits = decimal_digits(arena_, node.fval->fval);
    if (digits.empty()) unsupported("a number of more than 64 bits that is not decimal");
    std::int64_t integer = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
    if (parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size()) {
      // The grammar folds the sign into constants: -2147483648 arrives as one number.
      const bool is_int4 = integer >= INT32_MIN && integer <= INT32_MAX;
      expr = constant(is_int4 ? TypeId::int4 : TypeId::int8, Value::from_int(integer));
    } else {
      FunctionContext functions{arena_, names_.context(), {}};
      expr = constant(TypeId::numeric, input_text(functions, TypeId::numeric, kNoTypmod, digits));
    }
  } else {
    // B'101' and X'5' arrive with their letter in front, the form that the input function of bit
    // takes.
    constexpr TypeId bit = builtin_id::bit;
    FunctionContext functions{arena_, names_.context(), {}};
    try {
      expr = constant(bit, input_text(functions, bit, kNoTypmod, node.bsval->bsval));
    } catch (SqlError& error) {
      throw std::move(error).at_position(node.location + 1);
    }
  }
  expr->set_location(node.location);
  return expr;
}

ExprPtr ExpressionBinder::bind_parameter(const ast::ParamRef& node) {
  const auto index = static_cast<std::size_t>(node.number) - 1;
  // The messages of the protocol cannot have more parameters.
  constexpr std::int32_t kMost = 65'535;
  if (!parameters_allowed_ || node.number < 1 || node.number > kMost) {
    throw sql_error(sqlstate::undefined_parameter, "there is no parameter ${}", node.number)
        .at_position(node.location + 1);
  }
  if (ExprPtr variable = numbered_variable(node)) return variable;
  if (body_ != nullptr && index >= body_->parameters.size()) {
    throw sql_error(sqlstate::undefined_parameter, "there is no parameter ${}", node.number)
        .at_position(node.location + 1);
  }
  if (index >= parameters_.size()) parameters_.resize(index + 1, TypeId::unknown);
  auto expr = std::make_unique<ParameterExpr>(parameters_[index], index);
  expr->set_location(node.location);
  return expr;
}

ExprPtr ExpressionBinder::bind_bool(const ast::BoolExpr& node, Scope& scope) {
  using Kind = BooleanExpr::Kind;
  Kind kind = Kind::conjunction;
  std::string_view what = "AND";
  if (node.boolop == ast::BoolExprType::or_expr) {
    kind = Kind::disjunction;
    what = "OR";
  } else if (node.boolop == ast::BoolExprType::not_expr) {
    kind = Kind::negation;
    what = "NOT";
  }
  std::vector<ExprPtr> operands;
  for (const ast::Node* arg : node.args) operands.push_back(bind_condition(arg, scope, what));
  auto expr = std::make_unique<BooleanExpr>(kind, std::move(operands));
  expr->set_location(node.location);
  return expr;
}

ExprPtr ExpressionBinder::bind_case(const ast::CaseExpr& node, Scope& scope) {
  ExprPtr subject;
  ScopeColumn subject_column;
  if (node.arg != nullptr) {
    subject = bind_node(node.arg, scope);
    if (subject->type() == TypeId::unknown) {
      subject = coerce(std::move(subject), TypeId::text, kNoTypmod, Implicitness::implicit);
    }
    subject_column.slot = new_slot();
    subject_column.type = subject->type();
  }
  const std::size_t sets = scope.set_locations.size();
  std::vector<ExprPtr> conditions;
  std::vector<ExprPtr> results;
  // The common type is chosen with ELSE first, as in PostgreSQL.
  results.push_back(node.defresult != nullptr ? bind_node(node.defresult, scope)
                                              : constant(TypeId::unknown, Value::null()));
  for (const ast::Node* arm : node.args) {
    const auto& when = ast::as<ast::CaseWhen>(arm);
    if (subject) {
      conditions.push_back(call_operator("=", slot_expr(subject_column),
                                         bind_node(when.expr, scope), when.location));
    } else {
      conditions.push_back(bind_condition(when.expr, scope, "CASE/WHEN"));
    }
    results.push_back(bind_node(when.result, scope));
  }
  refuse_sets(scope, sets, "CASE");
  TypeId type = TypeId::none;
  results = unify(std::move(results), "CASE", type, node.location);
  const std::int32_t typmod = common_typmod(results);
  std::vector<ExprPtr> operands;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    operands.push_back(std::move(conditions[i]));
    operands.push_back(std::move(results[i + 1]));
  }
  operands.push_back(std::move(results[0]));
  auto expr = std::make_unique<CaseExpr>(type, std::move(operands), std::move(subject),
                                         subject_column.slot);
  expr->set_type(type, typmod);
  expr->set_location(node.location);
  return expr;
}

ExprPtr ExpressionBinder::bind_stored_constant(const ast::TypeCast& node, TypeId type) {
  const std::string_view text = ast::as<ast::A_Const>(node.arg).sval->sval;
  SessionContext numbers;
  FunctionContext by_number{arena_, numbers, {}};
  FunctionContext by_name{arena_, names_.context(), {}};
  // Only the session knows the types of a row's fields.
  const bool has_rows = is_composite(type) || is_composite(element_type(type));
  const Value value = input_text(has_rows ? by_name : by_number, type, kNoTypmod, text);
  // A client may send any number, so check that it is one of the enum's labels and that the domain
  // allows it.
  static_cast<void>(to_text(by_name, type, value));
  if (is_domain(type)) static_cast<void>(enter_domain(by_name, type, value, Coercion::assignment));
  if (const TypeId element = element_type(type); is_domain(element)) {
    const TypeId plain = array_type(base_type(element));
    const auto cast = find_cast(plain, type, CastContext::explicit_cast);
    if (cast) static_cast<void>(cast_value(by_name, *cast, value));
  }
  return constant(type, value);
}

/// Adds NULLs for attributes that the type got after the value was stored.
void ExpressionBinder::add_new_attributes(Expr& stored, TypeId type) {
  auto* const row = dynamic_cast<RowExpr*>(&stored);
  const auto shape = row != nullptr ? row_shape(base_type(type)) : nullptr;
  while (shape && row->operands().size() < shape->types.size())
    row->mutable_operands().push_back(constant(TypeId::unknown, Value::null()));
}

ExprPtr ExpressionBinder::bind_cast(const ast::TypeCast& node, Scope& scope) {
  const TypeReference target = bind_type(*node.type_name);
  if (const auto* literal = ast::try_as<ast::A_Const>(node.arg);
      literal != nullptr && literal->sval != nullptr && is_stored_name(*node.type_name)) {
    return bind_stored_constant(node, target.type);
  }
  ExprPtr operand;
  if (const auto* array = ast::try_as<ast::A_ArrayExpr>(node.arg);
      array != nullptr && is_array(target.type) && !is_bits(element_type(target.type))) {
    operand = bind_array(*array, scope, base_type(target.type));
  } else {
    operand = bind_node(node.arg, scope);
  }
  if (is_stored_name(*node.type_name) || open_view_ != nullptr)
    add_new_attributes(*operand, target.type);
  const TypeId source = operand->type();
  const std::int32_t location = node.location >= 0 ? node.location : operand->location();
  if (source == TypeId::record && is_composite(target.type)) operand->set_location(location);
  ExprPtr coerced = try_coerce(operand, target.type, target.typmod, Implicitness::explicit_cast);
  if (coerced == nullptr) {
    throw sql_error(sqlstate::cannot_coerce, "cannot cast type {} to {}", format_type(source),
                    format_type(target.type))
        .at_position(location + 1);
  }
  if (coerced->location() < 0) coerced->set_location(location);
  // v::varchar has no length, even if v has one. A LengthExpr, which fits a value to a length,
  // keeps it.
  const bool has_other = target.typmod == kNoTypmod && coerced->typmod() != kNoTypmod;
  if (has_other && dynamic_cast<const LengthExpr*>(coerced.get()) == nullptr) {
    coerced->set_type(coerced->type(), kNoTypmod);
  }
  return coerced;
}

ExprPtr ExpressionBinder::bind_value_function(const ast::SQLValueFunction& node) {
  using Op = ast::SQLValueFunctionOp;
  const auto now_as = [&](TypeId type) {
    warn_of_precision(names_, type, node.typmod);
    ExprPtr now = call_builtin("now", {});
    now = coerce(std::move(now), type, node.typmod, Implicitness::explicit_cast);
    now->set_spelling(Spelling::keywords);
    return now;
  };
  const auto session = [&](std::string_view name) {
    ExprPtr call = call_builtin(name, {});
    call->set_location(node.location);
    call->set_spelling(Spelling::keywords);
    return call;
  };
  switch (node.op) {
    case Op::current_date:
      return now_as(TypeId::date);
    case Op::current_time:
    case Op::current_time_n:
      return now_as(TypeId::timetz);
    case Op::current_timestamp:
    case Op::current_timestamp_n:
      return now_as(TypeId::timestamptz);
    case Op::localtime:
    case Op::localtime_n:
      return now_as(TypeId::time);
    case Op::localtimestamp:
    case Op::localtimestamp_n:
      return now_as(TypeId::timestamp);
    case Op::current_role:
      return session("current_role");
    case Op::current_user:
    case Op::user:
      return session("current_user");
    case Op::session_user:
      return session("session_user");
    case Op::current_catalog:
      return session("current_catalog");
    case Op::current_schema:
      return session("current_schema");
    case Op::undefined:
      break;
  }
  unsupported("this value function", node.location);
}

std::int32_t ExpressionBinder::common_typmod(std::span<const ExprPtr> values) {
  if (values.empty()) return kNoTypmod;
  const std::int32_t typmod = values.front()->typmod();
  const bool agree =
      std::ranges::all_of(values, [&](const ExprPtr& value) { return value->typmod() == typmod; });
  return agree ? typmod : kNoTypmod;
}

}  // namespace swizzle::sql

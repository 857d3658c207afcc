#include <fmt/format.h>

#include "sql-lite-frontend/query/bind/binding_notes.h"
#include "sql-lite-frontend/query/bind/query_binder.h"
#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

/// The constructors and tests of SQL/JSON: JSON_ARRAY, JSON_OBJECT, their aggregates, JSON(), IS
/// JSON and others.
namespace swizzle::sql {
namespace {

bool is_string(TypeId type) {
  return value_type(without_collation(base_type(type))).category == 'S';
}
bool is_json_value(TypeId type) noexcept {
  return type == TypeId::json || without_collation(type) == TypeId::jsonb;
}
bool is_given(const ast::Link<ast::JsonFormat>& format) {
  return format != nullptr && format->format_type != ast::JsonFormatType::default_ &&
         format->format_type != ast::JsonFormatType::undefined;
}
bool has_encoding(const ast::JsonFormat& format) {
  return format.encoding != ast::JsonEncoding::default_ &&
         format.encoding != ast::JsonEncoding::undefined;
}
std::string_view encoding_name(const ast::JsonFormat* format) {
  if (format == nullptr) return "UTF8";
  if (format->encoding == ast::JsonEncoding::utf16) return "UTF16";
  return format->encoding == ast::JsonEncoding::utf32 ? "UTF32" : "UTF8";
}
std::string shown_format(const ast::Link<ast::JsonFormat>& format) {
  if (!is_given(format)) return {};
  std::string shown =
      format->format_type == ast::JsonFormatType::jsonb ? " FORMAT JSONB" : " FORMAT JSON";
  if (has_encoding(*format)) shown += fmt::format(" ENCODING {}", encoding_name(format));
  return shown;
}

/// Returns the number of conversions that the binder has put around an expression.
std::size_t conversions_around(const Expr& outer, const Expr* written) {
  const Expr* at = &outer;
  for (std::size_t count = 0;; ++count) {
    if (at == written) return count;
    const auto* parent = dynamic_cast<const OperandsExpr*>(at);
    if (parent == nullptr || parent->operands().empty()) return 0;
    at = parent->operands()[0].get();
  }
}

/// Makes a node of the syntax tree, in the plan's memory, for a statement that is rewritten.
template <class T>
T& make_node(Arena& arena) {
  static_assert(std::is_trivially_destructible_v<T>);
  T& node = *new (arena.allocate(sizeof(T), alignof(T))) T{};
  node.node_kind = T::kKind;
  return node;
}
ast::NodeList make_list(Arena& arena, std::initializer_list<const ast::Node*> nodes) {
  const auto** items = arena.allocate_array<const ast::Node*>(nodes.size());
  std::ranges::copy(nodes, items);
  return ast::NodeList{std::span<const ast::Node* const>{items, nodes.size()}};
}
const ast::Node* make_name(Arena& arena, std::string_view name) {
  auto& text = make_node<ast::String>(arena);
  text.sval = name;
  return &text;
}

}  // namespace

ExprPtr ExpressionBinder::text_of_bytes(ExprPtr bytes, const ast::JsonFormat* format) {
  const std::string_view encoding = encoding_name(format);
  if (encoding != "UTF8") {
    throw_error(sqlstate::invalid_parameter_value, "invalid source encoding name \"{}\"", encoding);
  }
  std::vector<ExprPtr> arguments;
  arguments.push_back(std::move(bytes));
  arguments.push_back(constant(TypeId::name, Value::from_text(encoding)));
  return call_builtin("convert_from", std::move(arguments));
}

/// Binds a value that is to become JSON. If `target` is none, its format decides, and a value
/// without a format stays what it is.
ExprPtr ExpressionBinder::bind_json_value(const ast::JsonValueExpr& node, Scope& scope,
                                          JsonInput input, TypeId target) {
  ExprPtr expr = bind_node(node.raw_expr, scope);
  if (expr->type() == TypeId::unknown) {
    expr = coerce(std::move(expr), TypeId::text, kNoTypmod, Implicitness::implicit);
  }
  const TypeId type = expr->type();
  const std::int32_t location = expr->location();
  const bool is_explicit = is_given(node.format);
  bool is_formatted = input == JsonInput::json;
  if (is_explicit) {
    if (has_encoding(*node.format) && type != TypeId::bytea) {
      throw SqlError{sqlstate::datatype_mismatch,
                     "JSON ENCODING clause is only allowed for bytea input type"}
          .at_position(node.format->location + 1);
    }
    is_formatted = true;
  } else if (input == JsonInput::variable) {
    const TypeId plain = without_collation(type);
    const bool is_scalar =
        plain == TypeId::bool_ || plain == TypeId::numeric || plain == TypeId::int2 ||
        plain == TypeId::int4 || plain == TypeId::int8 || plain == TypeId::float4 ||
        plain == TypeId::float8 || plain == TypeId::date || plain == TypeId::time ||
        plain == TypeId::timetz || plain == TypeId::timestamp || plain == TypeId::timestamptz;
    if (is_scalar || is_string(type)) return expr;
    is_formatted = true;
  }
  if (is_json_value(type)) is_formatted = false;
  if (!is_formatted && (target == TypeId::none || without_collation(type) == target)) return expr;
  const bool is_text = type == TypeId::bytea || is_string(type);
  if (input != JsonInput::variable && target == TypeId::none && !is_text) {
    throw sql_error(sqlstate::datatype_mismatch,
                    "cannot use non-string types with {} FORMAT JSON clause",
                    is_explicit ? "explicit" : "implicit")
        .at_position((is_explicit ? node.format->location : location) + 1);
  }
  const Expr* const written = expr.get();
  if (is_formatted && type == TypeId::bytea && (is_explicit || target != TypeId::jsonb)) {
    expr = text_of_bytes(std::move(expr), is_explicit ? node.format.raw() : nullptr);
  }
  const bool may_only_cast = target != TypeId::none;
  if (target == TypeId::none) {
    target = input == JsonInput::variable ? TypeId::jsonb : TypeId::json;
  }
  ExprPtr made = try_coerce(expr, target, kNoTypmod, Implicitness::explicit_cast);
  if (made == nullptr) {
    if (may_only_cast) {
      throw sql_error(sqlstate::cannot_coerce, "cannot cast type {} to {}", format_type(type),
                      format_type(target))
          .at_position(location + 1);
    }
    std::vector<ExprPtr> arguments;
    arguments.push_back(std::move(expr));
    made = call_builtin(target == TypeId::json ? "to_json" : "to_jsonb", std::move(arguments));
  }
  const std::size_t conversions = conversions_around(*made, written);
  auto result =
      std::make_unique<JsonInputExpr>(std::move(made), conversions, shown_format(node.format));
  result->set_location(location);
  return result;
}

/// Binds a document that is tested or parsed: JSON or text.
ExprPtr ExpressionBinder::bind_json_document(const ast::Node* node, const ast::JsonFormat* format,
                                             Scope& scope) {
  ExprPtr expr = bind_node(node, scope);
  const TypeId type = expr->type();
  if (type == TypeId::bytea) {
    const Expr* const written = expr.get();
    ExprPtr text = text_of_bytes(std::move(expr), format);
    const std::size_t conversions = conversions_around(*text, written);
    return std::make_unique<JsonInputExpr>(std::move(text), conversions, std::string{});
  }
  if (type == TypeId::unknown || is_string(type)) {
    expr = coerce(std::move(expr), TypeId::text, kNoTypmod, Implicitness::implicit);
  }
  if (format != nullptr && has_encoding(*format)) {
    throw SqlError{sqlstate::datatype_mismatch,
                   "cannot use JSON FORMAT ENCODING clause for non-bytea input types"}
        .at_position(format->location + 1);
  }
  return expr;
}

JsonReturning ExpressionBinder::bind_json_output(const ast::Link<ast::JsonOutput>& output,
                                                 JsonOutputs formats) {
  if (output == nullptr) return {};
  const ast::JsonOutput& node = *output;
  if (node.type_name->setof) {
    throw SqlError{sqlstate::feature_not_supported,
                   "returning SETOF types is not supported in SQL/JSON functions"};
  }
  const TypeReference type = bind_type(*node.type_name);
  JsonReturning returning{type.type, type.typmod, {}};
  if (value_type(without_collation(type.type)).category == 'P') {
    throw SqlError{sqlstate::feature_not_supported,
                   "returning pseudo-types is not supported in SQL/JSON functions"};
  }
  if (node.returning == nullptr || !is_given(node.returning->format)) return returning;
  const ast::JsonFormat& format = *node.returning->format;
  const auto refuse = [&](std::string_view message) {
    return SqlError{sqlstate::feature_not_supported, std::string{message}}.at_position(
        format.location + 1);
  };
  const bool is_text =
      type.type == TypeId::bytea || is_json_value(type.type) || is_string(type.type);
  if (formats == JsonOutputs::of_strings && !is_text) {
    throw refuse("cannot use JSON format with non-string output types");
  }
  if (format.format_type == ast::JsonFormatType::json) {
    if (type.type != TypeId::bytea && has_encoding(format)) {
      throw refuse("cannot set JSON encoding for non-bytea output types");
    }
    if (has_encoding(format) && format.encoding != ast::JsonEncoding::utf8) {
      throw refuse("unsupported JSON encoding").with_hint("Only UTF8 JSON encoding is supported.");
    }
  }
  // The type's usual format is not printed, unless it names the encoding.
  const bool is_usual = (format.format_type == ast::JsonFormatType::jsonb) ==
                        (without_collation(type.type) == TypeId::jsonb);
  if (!is_usual) returning.format = shown_format(node.returning->format);
  return returning;
}

/// Converts JSON to the type of RETURNING.
ExprPtr ExpressionBinder::json_as(ExprPtr json, const JsonReturning& returning) {
  const std::int32_t location = json->location();
  const TypeId plain = without_collation(returning.type);
  if (plain == without_collation(json->type())) return json;
  const bool is_text = !is_domain(returning.type) && (plain == TypeId::bytea || is_string(plain));
  if (!is_text) {
    const TypeId source = json->type();
    if (ExprPtr cast =
            try_coerce(json, returning.type, returning.typmod, Implicitness::explicit_cast)) {
      return cast;
    }
    throw_error(sqlstate::cannot_coerce, "cannot cast type {} to {}", format_type(source),
                format_type(returning.type));
  }
  auto output = std::make_unique<JsonOutputExpr>(returning.type, returning.typmod, std::move(json));
  output->set_location(location);
  return output;
}

ExprPtr ExpressionBinder::json_constructor(JsonConstructorExpr::Words words,
                                           std::vector<ExprPtr> operands, std::int32_t location) {
  const bool has_jsonb = std::ranges::any_of(operands, [](const ExprPtr& operand) {
    return without_collation(operand->type()) == TypeId::jsonb;
  });
  JsonReturning& returning = words.returning;
  if (returning.type == TypeId::none) {
    returning.type = has_jsonb ? TypeId::jsonb : TypeId::json;
  }
  const JsonReturning shown = returning;
  const TypeId made =
      without_collation(returning.type) == TypeId::jsonb ? TypeId::jsonb : TypeId::json;
  auto expr = std::make_unique<JsonConstructorExpr>(made, std::move(words), std::move(operands));
  expr->set_location(location);
  return json_as(std::move(expr), shown);
}

ExprPtr ExpressionBinder::bind_json_constructor(const ast::Node* node, Scope& scope) {
  using Kind = JsonConstructorExpr::Kind;
  using Nulls = JsonConstructorExpr::Nulls;
  std::vector<ExprPtr> operands;
  const auto nulls = [](bool absent) { return absent ? Nulls::absent : Nulls::shown; };
  const auto keys = [](bool unique) { return unique ? JsonKeys::unique : JsonKeys::any; };
  if (const auto* array = ast::try_as<ast::JsonArrayConstructor>(node)) {
    for (const ast::Node* item : array->exprs) {
      operands.push_back(bind_json_value(ast::as<ast::JsonValueExpr>(item), scope, JsonInput::as_is,
                                         TypeId::none));
    }
    return json_constructor({Kind::array, nulls(array->absent_on_null), JsonKeys::any,
                             bind_json_output(array->output, JsonOutputs::any)},
                            std::move(operands), array->location);
  }
  if (const auto* object = ast::try_as<ast::JsonObjectConstructor>(node)) {
    for (const ast::Node* item : object->exprs) {
      const auto& member = ast::as<ast::JsonKeyValue>(item);
      ExprPtr key = bind_node(member.key, scope);
      if (key->type() == TypeId::unknown && dynamic_cast<ConstantExpr*>(key.get()) == nullptr) {
        key = coerce(std::move(key), TypeId::text, kNoTypmod, Implicitness::implicit);
      }
      operands.push_back(std::move(key));
      operands.push_back(bind_json_value(*member.value, scope, JsonInput::as_is, TypeId::none));
    }
    return json_constructor({Kind::object, nulls(object->absent_on_null), keys(object->unique),
                             bind_json_output(object->output, JsonOutputs::any)},
                            std::move(operands), object->location);
  }
  if (const auto* parse = ast::try_as<ast::JsonParseExpr>(node)) {
    if (parse->unique_keys) {
      const ast::JsonValueExpr& value = *parse->expr;
      operands.push_back(bind_json_document(
          value.raw_expr, is_given(value.format) ? value.format.raw() : nullptr, scope));
      if (without_collation(operands[0]->type()) != TypeId::text) {
        throw SqlError{sqlstate::datatype_mismatch,
                       "cannot use non-string types with WITH UNIQUE KEYS clause"}
            .at_position(parse->location + 1);
      }
    } else {
      operands.push_back(bind_json_value(*parse->expr, scope, JsonInput::json, TypeId::json));
    }
    return json_constructor(
        {Kind::parse, Nulls::shown, keys(parse->unique_keys), {TypeId::json, kNoTypmod, {}}},
        std::move(operands), parse->location);
  }
  if (const auto* scalar = ast::try_as<ast::JsonScalarExpr>(node)) {
    ExprPtr value = bind_node(scalar->expr, scope);
    if (value->type() == TypeId::unknown) {
      value = coerce(std::move(value), TypeId::text, kNoTypmod, Implicitness::implicit);
    }
    operands.push_back(std::move(value));
    return json_constructor(
        {Kind::scalar, Nulls::shown, JsonKeys::any, {TypeId::json, kNoTypmod, {}}},
        std::move(operands), scalar->location);
  }
  const auto& serialize = ast::as<ast::JsonSerializeExpr>(node);
  operands.push_back(bind_json_value(*serialize.expr, scope, JsonInput::json, TypeId::none));
  JsonReturning returning = bind_json_output(serialize.output, JsonOutputs::any);
  if (returning.type == TypeId::none) returning.type = TypeId::text;
  if (returning.type != TypeId::bytea && !is_string(returning.type)) {
    throw sql_error(sqlstate::datatype_mismatch, "cannot use type {} in RETURNING clause of {}",
                    format_type(returning.type), "JSON_SERIALIZE()")
        .with_hint("Try returning a string type or bytea.");
  }
  return json_constructor({Kind::serialize, Nulls::shown, JsonKeys::any, std::move(returning)},
                          std::move(operands), serialize.location);
}

ExprPtr ExpressionBinder::bind_json_test(const ast::JsonIsPredicate& node, Scope& scope) {
  std::vector<ExprPtr> operands;
  operands.push_back(
      bind_json_document(node.expr, is_given(node.format) ? node.format.raw() : nullptr, scope));
  const TypeId type = operands[0]->type();
  if (without_collation(type) != TypeId::text && !is_json_value(type)) {
    throw_error(sqlstate::datatype_mismatch, "cannot use type {} in IS JSON predicate",
                format_type(type));
  }
  JsonTestExpr::Words words;
  words.kind = node.item_type == ast::JsonValueType::object   ? JsonItemKind::object
               : node.item_type == ast::JsonValueType::array  ? JsonItemKind::array
               : node.item_type == ast::JsonValueType::scalar ? JsonItemKind::scalar
                                                              : JsonItemKind::any;
  words.keys = node.unique_keys ? JsonKeys::unique : JsonKeys::any;
  auto expr = std::make_unique<JsonTestExpr>(words, std::move(operands));
  expr->set_location(node.location);
  return expr;
}

/// Binds JSON_ARRAYAGG and JSON_OBJECTAGG as calls of ordinary aggregates with the same result.
ExprPtr ExpressionBinder::bind_json_aggregate(const ast::Node* node, Scope& scope) {
  const auto* members = ast::try_as<ast::JsonObjectAgg>(node);
  const ast::JsonArrayAgg* items = members == nullptr ? &ast::as<ast::JsonArrayAgg>(node) : nullptr;
  const ast::JsonAggConstructor& words =
      members != nullptr ? *members->constructor : *items->constructor;
  JsonReturning returning = bind_json_output(words.output, JsonOutputs::any);
  const ast::JsonValueExpr& value = members != nullptr ? *members->arg->value : *items->arg;
  const Clause clause = scope.clause;
  const OuterNotes notes{scope};
  const CallsBefore before{scope.set_locations.size(), scope.window_locations.size()};
  std::vector<ExprPtr> arguments;
  if (members != nullptr) arguments.push_back(bind_node(members->arg->key, scope));
  arguments.push_back(bind_json_value(value, scope, JsonInput::as_is, TypeId::none));
  scope.clause = clause;
  const bool has_jsonb = std::ranges::any_of(arguments, [](const ExprPtr& argument) {
    return without_collation(argument->type()) == TypeId::jsonb;
  });
  if (returning.type == TypeId::none) returning.type = has_jsonb ? TypeId::jsonb : TypeId::json;
  const bool is_jsonb = without_collation(returning.type) == TypeId::jsonb;
  const bool absent = members != nullptr ? members->absent_on_null : items->absent_on_null;
  const bool unique = members != nullptr && members->unique;
  std::string name = is_jsonb ? "jsonb" : "json";
  name += members != nullptr ? "_object_agg" : "_agg";
  if (unique) name += "_unique";
  if (absent) name += "_strict";
  auto& call = make_node<ast::FuncCall>(arena_);
  call.funcname = make_list(arena_, {make_name(arena_, arena_.copy(name))});
  call.args = members != nullptr ? make_list(arena_, {members->arg->key.raw(), &value})
                                 : make_list(arena_, {&value});
  call.agg_order = words.agg_order;
  call.agg_filter = words.agg_filter;
  call.over = words.over;
  call.funcformat = ast::CoercionForm::explicit_call;
  call.location = words.location;
  if (notes_ != nullptr) {
    notes_->json_aggregates[&call] = {members != nullptr, absent, unique, returning};
  }
  const std::vector<TypeId> types = expression_types(arguments);
  ResolvedFunction resolved =
      resolve_function({.name = name, .argument_types = types, .position = words.location + 1});
  if (members != nullptr && !is_jsonb && !absent && !unique) {
    resolved.function = &standard_object_agg(*resolved.function);
  }
  ExprPtr json = call.over != nullptr
                     ? bind_window_call(call, scope, std::move(arguments), resolved, before)
                     : bind_any_aggregate(call, scope, resolved, std::move(arguments), notes);
  return json_as(std::move(json), returning);
}

/// Binds JSON_ARRAY of a query as the aggregate over its rows, in a subquery.
ExprPtr ExpressionBinder::bind_json_array_query(const ast::JsonArrayQueryConstructor& node,
                                                Scope& scope) {
  auto& column = make_node<ast::ColumnRef>(arena_);
  column.fields = make_list(arena_, {make_name(arena_, "q"), make_name(arena_, "a")});
  column.location = node.location;
  auto& value = make_node<ast::JsonValueExpr>(arena_);
  value.raw_expr = &column;
  value.format = node.format;
  auto& words = make_node<ast::JsonAggConstructor>(arena_);
  words.output = node.output;
  words.location = node.location;
  auto& aggregate = make_node<ast::JsonArrayAgg>(arena_);
  aggregate.constructor = &words;
  aggregate.arg = &value;
  aggregate.absent_on_null = node.absent_on_null;
  auto& target = make_node<ast::ResTarget>(arena_);
  target.val = &aggregate;
  target.location = node.location;
  auto& alias = make_node<ast::Alias>(arena_);
  alias.aliasname = "q";
  alias.colnames = make_list(arena_, {make_name(arena_, "a")});
  auto& from = make_node<ast::RangeSubselect>(arena_);
  from.subquery = node.query;
  from.alias = &alias;
  auto& select = make_node<ast::SelectStmt>(arena_);
  select.target_list = make_list(arena_, {&target});
  select.from_clause = make_list(arena_, {&from});
  select.limit_option = ast::LimitOption::default_;
  select.op = ast::SetOperation::none;
  auto& link = make_node<ast::SubLink>(arena_);
  link.sub_link_type = ast::SubLinkType::expr_sublink;
  link.subselect = &select;
  link.location = node.location;
  ExprPtr expr = bind_sublink(link, scope);
  const Query& rows = *pending_.back().query;
  const auto* inner = std::get_if<FromSubquery>(&rows.from.at(0)->node);
  if (inner == nullptr || inner->query->targets.size() != 1) {
    throw SqlError{sqlstate::syntax_error, "subquery must return only one column"}.at_position(
        node.location + 1);
  }
  return expr;
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/types/test_expression.h"

#include <vector>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

Typed coerce(FunctionContext& context, const Typed& from, TypeId type, CastContext how,
             std::int32_t typmod = kNoTypmod) {
  if (from.type == TypeId::unknown) {
    if (from.value.is_null()) return {type, from.value};
    // An explicit cast of a literal may cut a string; input alone would refuse.
    const Value whole = input_text(
        context, type,
        how == CastContext::explicit_cast && type != TypeId::interval ? kNoTypmod : typmod,
        from.value.as_text());
    return {type, coerce_length(context, type, typmod, whole, Coercion::explicit_cast)};
  }
  auto cast = find_cast(from.type, type, how);
  if (!cast)
    throw_error(sqlstate::cannot_coerce, "cannot cast type {} to {}", format_type(from.type),
                format_type(type));
  cast->typmod = typmod;
  Value value = cast_value(context, *cast, from.value);
  return {type, coerce_length(context, type, typmod, value, Coercion::explicit_cast)};
}

class Parser {
 public:
  Parser(FunctionContext& context, std::string_view text) : context_{context}, rest_{text} {}

  Typed whole() {
    const Typed out = expression();
    skip();
    if (!rest_.empty()) throw_error(sqlstate::syntax_error, "syntax error at \"{}\"", rest_);
    return out;
  }

  struct Call {
    ResolvedFunction resolved;
    std::vector<Value> arguments;
  };
  /// A call that is not made: for set-returning functions.
  Call unevaluated_call() { return prepare(identifier()); }

 private:
  void skip() {
    while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
  }
  bool take(std::string_view text) {
    skip();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  static bool is_operator_character(char c) {
    return std::string_view{"+-*/<>=~!@#%^&|?"}.find(c) != std::string_view::npos;
  }
  std::string_view operator_name() {
    skip();
    std::size_t size = 0;
    while (size < rest_.size() && is_operator_character(rest_[size])) ++size;
    // "= -1": a sign after other characters belongs to the operand.
    while (size > 1 && (rest_[size - 1] == '-' || rest_[size - 1] == '+') &&
           rest_.substr(0, size).find_first_of("~!@#%^&|?") == std::string_view::npos)
      --size;
    const std::string_view name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return name;
  }
  std::string identifier() {
    skip();
    std::string out;
    while (!rest_.empty() && (is_alpha(rest_[0]) || is_digit(rest_[0]) || rest_[0] == '_')) {
      out.push_back(to_lower(rest_[0]));
      rest_.remove_prefix(1);
    }
    return out;
  }

  Typed expression() {
    Typed left = unary();
    while (true) {
      skip();
      if (rest_.empty() || !is_operator_character(rest_[0]) || rest_.starts_with("=>")) return left;
      const std::string name{operator_name()};
      const Typed right = unary();
      left = apply(name, &left, right);
    }
  }

  Typed unary() {
    skip();
    if (!rest_.empty() && is_operator_character(rest_[0])) {
      const std::string name{operator_name()};
      return apply(name, nullptr, unary());
    }
    return postfix();
  }

  Typed apply(std::string_view name, const Typed* left, const Typed& right) {
    if (name == "!=") name = "<>";
    const auto op = resolve_operator(name, left != nullptr ? left->type : TypeId::none, right.type);
    std::vector<Value> arguments;
    std::vector<TypeId> types;
    if (left != nullptr) {
      arguments.push_back(coerce(context_, *left, op.left, CastContext::implicit).value);
      types.push_back(op.left);
    }
    arguments.push_back(coerce(context_, right, op.right, CastContext::implicit).value);
    types.push_back(op.right);
    return {op.result, invoke(*op.op->function, types, op.result, arguments)};
  }

  Value invoke(const Function& f, std::span<const TypeId> types, TypeId result,
               std::span<const Value> arguments, bool variadic_array = false) {
    if (f.strict)
      for (const Value& v : arguments)
        if (v.is_null()) return Value::null();
    const CallTypes before = context_.call;
    context_.call = {types, result, variadic_array};
    const Value out = f.scalar(context_, arguments);
    context_.call = before;
    return out;
  }

  Typed postfix() {
    Typed value = primary();
    while (true) {
      if (take("::")) {
        value = cast(value);
      } else {
        return value;
      }
    }
  }

  Typed cast(const Typed& value) {
    skip();
    // The type runs to the next character that cannot be part of one.
    std::size_t size = 0;
    int depth = 0;
    while (size < rest_.size()) {
      const char c = rest_[size];
      if (c == '(') ++depth;
      if (c == ')' && --depth < 0) break;
      if (depth == 0 && (c == ',' || c == ':' || c == ';' || (is_operator_character(c)))) break;
      if (c == ']' && size > 0 && rest_[size - 1] != '[') break;
      ++size;
    }
    const std::string_view name = trim_space(rest_.substr(0, size));
    rest_.remove_prefix(size);
    const auto type = parse_type_name(name);
    if (!type) throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", name);
    return coerce(context_, value, type->type, CastContext::explicit_cast, type->typmod);
  }

  Typed primary() {
    skip();
    if (take("(")) {
      const Typed out = expression();
      if (!take(")")) throw_error(sqlstate::syntax_error, "missing )");
      return out;
    }
    if (rest_.starts_with('\'')) return string_literal();
    if (rest_.starts_with("E'") || rest_.starts_with("e'")) {
      rest_.remove_prefix(1);
      return string_literal(true);
    }
    if (!rest_.empty() && (is_digit(rest_[0]) || rest_[0] == '.')) return number();
    const std::string name = identifier();
    if (name == "true" || name == "false") return {TypeId::bool_, Value::from_bool(name == "true")};
    if (name == "null") return {TypeId::unknown, Value::null()};
    if (name == "array") return array();
    if (name.empty()) throw_error(sqlstate::syntax_error, "syntax error at \"{}\"", rest_);
    const Call call = prepare(name);
    const Function& f = *call.resolved.function;
    STATEMENT_INVARIANT(f.kind == FunctionKind::scalar);
    return {call.resolved.result, invoke(f, call.resolved.argument_types, call.resolved.result,
                                         call.arguments, call.resolved.variadic_array)};
  }

  Typed string_literal(bool escapes = false) {
    std::string text;
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\'') {
        if (!rest_.starts_with('\'')) break;
        rest_.remove_prefix(1);
      } else if (escapes && c == '\\' && !rest_.empty()) {
        const char next = rest_[0];
        rest_.remove_prefix(1);
        text.push_back(next == 'n' ? '\n' : next == 't' ? '\t' : next);
        continue;
      }
      text.push_back(c);
    }
    return {TypeId::unknown, make_text(context_.arena, text)};
  }

  Typed number() {
    std::size_t size = 0;
    bool whole = true;
    while (size < rest_.size()) {
      const char c = rest_[size];
      const bool exponent_sign =
          (c == '-' || c == '+') && size > 0 && to_lower(rest_[size - 1]) == 'e';
      if (!is_digit(c) && c != '.' && to_lower(c) != 'e' && !exponent_sign) break;
      whole = whole && is_digit(c);
      ++size;
    }
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    const Value numeric = numeric_from_text(context_.arena, text);
    if (!whole || numeric.kind() != Value::Kind::extended) return {TypeId::numeric, numeric};
    const std::int64_t value = numeric.decimal_unscaled();
    return {value <= INT32_MAX ? TypeId::int4 : TypeId::int8, Value::from_int(value)};
  }

  Typed array() {
    if (!take("[")) throw_error(sqlstate::syntax_error, "missing [");
    std::vector<Typed> items;
    if (!take("]")) {
      do {
        items.push_back(expression());
      } while (take(","));
      if (!take("]")) throw_error(sqlstate::syntax_error, "missing ]");
    }
    std::vector<TypeId> types;
    for (const Typed& item : items) types.push_back(item.type);
    const TypeId common = select_common_type(types, "ARRAY");
    std::vector<Value> values;
    for (const Typed& item : items)
      values.push_back(coerce(context_, item, common, CastContext::implicit).value);
    if (is_array(common))
      return {common, array_of_arrays(context_.arena, element_type(common), values)};
    return {array_type(common), make_array(context_.arena, common, values)};
  }

  Call prepare(const std::string& name) {
    if (!take("(")) throw_error(sqlstate::undefined_column, "column \"{}\" does not exist", name);
    std::vector<Typed> given;
    std::vector<std::string> names;
    auto variadic = FunctionCall::Variadic::expanded;
    if (!take(")")) {
      do {
        names.emplace_back();
        skip();
        const std::string_view before = rest_;
        if (const std::string label = identifier(); !label.empty() && take("=>"))
          names.back() = label;
        else if (equals_ignoring_case(label, "variadic"))
          variadic = FunctionCall::Variadic::as_array;
        else
          rest_ = before;
        given.push_back(expression());
      } while (take(","));
      if (!take(")")) throw_error(sqlstate::syntax_error, "missing )");
    }
    std::vector<TypeId> types;
    for (const Typed& t : given) types.push_back(t.type);
    std::vector<std::string_view> labels(names.begin(), names.end());
    Call call;
    call.resolved = resolve_function({name, types, labels, variadic});
    pack(call, given);
    return call;
  }

  void pack(Call& call, const std::vector<Typed>& given) {
    const ResolvedFunction& r = call.resolved;
    std::vector<Value> values;
    for (std::size_t i = 0; i < r.argument_types.size(); ++i) {
      const int argument = r.argument_order[i];
      if (argument >= 0) {
        values.push_back(coerce(context_, given[static_cast<std::size_t>(argument)],
                                r.argument_types[i], CastContext::implicit)
                             .value);
      } else {
        const auto defaults = r.function->argument_defaults;
        const std::size_t first = r.function->arguments.size() - defaults.size();
        values.push_back(input_text(context_, r.argument_types[i], kNoTypmod, defaults[i - first]));
      }
    }
    if (r.first_variadic < values.size()) {
      const std::span<const Value> tail = std::span{values}.subspan(r.first_variadic);
      const Value packed = make_array(context_.arena, r.variadic_element, tail);
      values.resize(r.first_variadic);
      values.push_back(packed);
    }
    call.arguments = std::move(values);
  }

  FunctionContext& context_;
  std::string_view rest_;
};

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else
      out.push_back(c);
  }
  return out;
}

std::string show(FunctionContext& context, TypeId type, const Value& value) {
  return value.is_null() ? "NULL" : one_line(to_text(context, type, value));
}

template <class Body>
std::string answer(Body body) {
  try {
    return body();
  } catch (const SqlError& error) {
    std::string out = fmt::format("!{} {}", error.state().code(), one_line(error.what()));
    if (!error.error().detail().empty()) out += " | DETAIL: " + error.error().detail();
    if (!error.error().hint().empty()) out += " | HINT: " + error.error().hint();
    return out;
  }
}

}  // namespace

Typed evaluate_expression(FunctionContext& context, std::string_view text) {
  return Parser{context, text}.whole();
}

std::string answer_expression(FunctionContext& context, std::string_view text) {
  return answer([&] {
    Typed out = evaluate_expression(context, text);
    if (out.type == TypeId::unknown) out.type = TypeId::text;
    return format_type(out.type) + "\t" + show(context, out.type, out.value);
  });
}

std::string answer_set(FunctionContext& context, std::string_view text) {
  return answer([&] {
    Parser parser{context, text};
    const auto call = parser.unevaluated_call();
    std::string out = format_type(call.resolved.result) + "\t";
    bool first = true;
    for (const Value& v : call.arguments)
      if (call.resolved.function->strict && v.is_null()) return out + "NULL";
    const auto cursor = call.resolved.function->set(context, call.arguments);
    while (const auto row = cursor->next(context)) {
      if (!first) out += ";";
      first = false;
      out += show(context, call.resolved.result, *row);
    }
    return first ? out + "NULL" : out;
  });
}

std::string answer_aggregate(FunctionContext& context, std::string_view name,
                             std::string_view element, std::string_view array) {
  return answer([&] {
    const TypeId type = parse_type_name(element)->type;
    const ArrayView view{input_text(context, array_type(type), kNoTypmod, array)};
    const ResolvedFunction r = resolve_function({name, {&type, 1}});
    const auto cast = find_cast(type, r.argument_types[0], CastContext::implicit);
    const AggregateFunction& aggregate = *r.function->aggregate;
    alignas(16) std::byte state[256];
    alignas(16) std::byte other[256];
    Arena group;
    STATEMENT_INVARIANT(aggregate.state_bytes <= sizeof state);
    aggregate.init(state);
    aggregate.init(other);
    context.call = {r.argument_types, r.result};
    for (std::size_t i = 0; i < view.size(); ++i) {
      const Value v = cast_value(context, *cast, view.element(i));
      if (v.is_null() && aggregate.skips_nulls) continue;
      // Every second row goes to another group, to test combine(), if the aggregate has it.
      const bool second = aggregate.combine != nullptr && i % 2 == 1;
      aggregate.step(context, group, second ? other : state, {&v, 1});
    }
    if (aggregate.combine != nullptr) aggregate.combine(context, group, state, other);
    const Value out = aggregate.final(context, state);
    return format_type(r.result) + "\t" + show(context, r.result, out);
  });
}

}  // namespace swizzle::sql

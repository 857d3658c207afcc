#include "sql-lite-frontend/query/bound/json_expression.h"

#include <set>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/json/json_building.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/writing_share.h"

/// Constructors of SQL/JSON, and IS JSON.
namespace swizzle::sql {
namespace {

bool is_json_type(TypeId type) noexcept {
  return without_collation(type) == TypeId::jsonb || type == TypeId::json;
}

}  // namespace

Value JsonOutputExpr::evaluate(Execution& execution) const {
  const Value json = operands_[0]->eval(execution);
  if (json.is_null()) return json;
  FunctionContext& context = execution.functions;
  const Value written = make_text(context.arena, json_text(json));
  if (!needs_length_coercion(type(), typmod())) return written;
  return coerce_length(context, type(), typmod(), written, Coercion::assignment);
}

Value JsonTestExpr::evaluate(Execution& execution) const {
  const Value value = operands_[0]->eval(execution);
  if (value.is_null()) return value;
  const TypeId type = operands_[0]->type();
  if (type == TypeId::bytea) verify_utf8(as_text(value.as_bytes()));
  const std::string_view text = is_json_type(type)      ? json_text(value)
                                : type == TypeId::bytea ? as_text(value.as_bytes())
                                                        : value.as_text();
  // jsonb never has a key twice.
  const bool is_checked = without_collation(type) == TypeId::jsonb;
  const JsonKeys keys = is_checked ? JsonKeys::any : words_.keys;
  return Value::from_bool(for_bytes(text.size(), [&] {
    return is_json(text, words_.kind, keys, execution.functions.arena.account());
  }));
}

JsonConstructorExpr::JsonConstructorExpr(TypeId type, Words words, std::vector<ExprPtr> operands)
    : OperandsExpr(type, kNoTypmod, std::move(operands)), words_(std::move(words)) {}

Value JsonConstructorExpr::finished(Execution& execution, std::string_view json) const {
  FunctionContext& context = execution.functions;
  return without_collation(type()) == TypeId::jsonb ? as_jsonb_value(context, json)
                                                    : make_text(context.arena, json);
}

Value JsonConstructorExpr::array(Execution& execution) const {
  FunctionContext& context = execution.functions;
  std::string out = "[";
  MemoryShare share;
  for (const ExprPtr& operand : operands_) {
    const Value value = operand->eval(execution);
    if (value.is_null() && words_.nulls == Nulls::absent) continue;
    if (out.size() > 1) out += ", ";
    add_json(context, operand->type(), value, out);
    share.set(context.arena.account(), out.capacity());
  }
  out += ']';
  return finished(execution, out);
}

Value JsonConstructorExpr::object(Execution& execution) const {
  FunctionContext& context = execution.functions;
  std::string out = "{";
  std::set<std::string> seen;
  MemoryShare share;
  for (std::size_t i = 0; i + 1 < operands_.size(); i += 2) {
    const Value name = operands_[i]->eval(execution);
    const Value value = operands_[i + 1]->eval(execution);
    if (name.is_null()) {
      throw SqlError{sqlstate::null_value_not_allowed, "null value not allowed for object key"};
    }
    std::string key;
    // An untyped literal as a key counts as text.
    const TypeId type_of_key = operands_[i]->type();
    json_key_text(context, type_of_key == TypeId::unknown ? TypeId::text : type_of_key, name, key);
    if (words_.keys == JsonKeys::unique && !seen.insert(key).second) {
      if (without_collation(type()) == TypeId::jsonb) refuse_repeated_key();
      refuse_repeated_key(key);
    }
    if (value.is_null() && words_.nulls == Nulls::absent) continue;
    if (out.size() > 1) out += ", ";
    append_json_string(key, out);
    out += " : ";
    add_json(context, operands_[i + 1]->type(), value, out);
    share.set(context.arena.account(), out.capacity());
  }
  out += '}';
  return finished(execution, out);
}

Value JsonConstructorExpr::evaluate(Execution& execution) const {
  if (words_.kind == Kind::array) return array(execution);
  if (words_.kind == Kind::object) return object(execution);
  const Value value = operands_[0]->eval(execution);
  if (value.is_null()) return value;
  FunctionContext& context = execution.functions;
  const TypeId source = operands_[0]->type();
  if (words_.kind == Kind::scalar) {
    std::string out;
    add_json(context, source, value, out);
    return make_text(context.arena, out);
  }
  if (is_json_type(source)) {
    return without_collation(source) == type() ? value : make_text(context.arena, json_text(value));
  }
  // JSON(text WITH UNIQUE KEYS).
  const std::string_view text = value.as_text();
  check_json(text, TypeId::json);
  if (has_repeated_keys(json_trimmed(text), context.arena.account())) refuse_repeated_key();
  return make_text(context.arena, text);
}

ExprPtr copy_json_expression(const Expr& expr, std::vector<ExprPtr> operands) {
  if (const auto* input = dynamic_cast<const JsonInputExpr*>(&expr)) {
    return std::make_unique<JsonInputExpr>(std::move(operands[0]), input->conversions(),
                                           input->format());
  }
  if (dynamic_cast<const JsonOutputExpr*>(&expr) != nullptr) {
    return std::make_unique<JsonOutputExpr>(expr.type(), expr.typmod(), std::move(operands[0]));
  }
  if (const auto* test = dynamic_cast<const JsonTestExpr*>(&expr)) {
    return std::make_unique<JsonTestExpr>(test->words(), std::move(operands));
  }
  if (const auto* made = dynamic_cast<const JsonConstructorExpr*>(&expr)) {
    return std::make_unique<JsonConstructorExpr>(expr.type(), made->words(), std::move(operands));
  }
  if (const auto* path = dynamic_cast<const JsonPathExpr*>(&expr)) {
    return std::make_unique<JsonPathExpr>(expr.type(), expr.typmod(), path->words(),
                                          std::move(operands));
  }
  return nullptr;
}

}  // namespace swizzle::sql

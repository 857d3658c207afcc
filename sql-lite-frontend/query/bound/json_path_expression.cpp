#include <fmt/format.h>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/json_expression.h"
#include "sql-lite-frontend/types/json/json_building.h"
#include "sql-lite-frontend/types/jsonpath/path_cache.h"
#include "sql-lite-frontend/types/jsonpath/path_run.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

/// Evaluation of JSON_EXISTS, JSON_QUERY and JSON_VALUE.
namespace swizzle::sql {
namespace {

constexpr SqlState kNoItem{"22035"};
constexpr SqlState kSeveralItems{"22034"};
constexpr SqlState kNoScalar{"2203F"};

/// Returns the behavior's name in error messages.
std::string_view behavior_words(JsonPathExpr::Behavior::Kind kind) {
  using enum JsonPathExpr::Behavior::Kind;
  switch (kind) {
    case null:
      return "NULL";
    case error:
      return "ERROR";
    case empty_array:
      return "EMPTY ARRAY";
    case empty_object:
      return "EMPTY OBJECT";
    case true_:
      return "TRUE";
    case false_:
      return "FALSE";
    case unknown:
      return "UNKNOWN";
    case value:
      return "DEFAULT";
  }
  return {};
}

/// Returns the text that JSON_VALUE converts; nothing for null.
std::optional<std::string> scalar_text(FunctionContext& context, const PathItem& item,
                                       TypeId wanted) {
  const TypeId plain = without_collation(wanted);
  const bool is_json = plain == TypeId::json || plain == TypeId::jsonb;
  if (item.moment) {
    // Nothing in the text of a moment needs an escape.
    if (is_json) return '"' + item.moment->text + '"';
    std::string text;
    output_text(context, item.moment->type, item.moment->value, text);
    return text;
  }
  const JsonValue& json = *item.json;
  if (json.kind == JsonKind::null) return std::nullopt;
  if (is_json) return std::string{json.raw};
  if (json.kind == JsonKind::boolean) return json.text == "true" ? "t" : "f";
  return json.text;
}

std::string of_column(const std::string& column) {
  return column.empty() ? "" : fmt::format(" of column \"{}\"", column);
}

std::string path_of(const std::string& column, std::string_view function) {
  return column.empty() ? fmt::format("JSON path expression in {}", function)
                        : fmt::format("JSON path expression for column \"{}\"", column);
}

}  // namespace

/// A run of the path over the document, with the variables' values set.
struct JsonPathExpr::Found {
  std::shared_ptr<const PathTree> tree;
  PathRun run;
  Found(FunctionContext& context, const Value& document, const Value& path)
      : tree(path_tree(path, context.arena.account())),
        run(context, *tree, json_text(document), PathRun::NamedVariables{}) {}
};

Value JsonPathExpr::answer(Execution& execution, const Behavior& behavior,
                           std::string_view clause) const {
  FunctionContext& context = execution.functions;
  const auto populated = [&](std::string_view json) {
    return populate_from_json(context, type(), typmod(), json, words_.quotes);
  };
  try {
    switch (behavior.kind) {
      case Behavior::Kind::null:
      case Behavior::Kind::unknown:
      case Behavior::Kind::error:
        return is_domain(type())
                   ? enter_domain(context, type(), Value::null(), Coercion::assignment)
                   : Value::null();
      case Behavior::Kind::empty_array:
        return populated("[]");
      case Behavior::Kind::empty_object:
        return populated("{}");
      case Behavior::Kind::true_:
      case Behavior::Kind::false_:
        return result_of_exists(execution, behavior.kind == Behavior::Kind::true_);
      case Behavior::Kind::value:
        break;
    }
  } catch (const SqlError& error) {
    if (!is_about_definition(error.state())) throw;
    throw sql_error(sqlstate::datatype_mismatch,
                    "could not coerce {} expression ({}) to the RETURNING type", clause,
                    behavior_words(behavior.kind))
        .with_detail(error.what());
  }
  const Expr& given = *operands_[behavior.operand];
  const Value value = given.eval(execution);
  if (given.type() == type() || value.is_null()) return value;
  try {
    // Other types were converted by now: only JSON and domains remain.
    if (without_collation(given.type()) == TypeId::jsonb) return populated(json_text(value));
    if (!is_domain(type())) return value;
    return enter_domain(context, type(), value, Coercion::assignment);
  } catch (const SqlError& error) {
    if (!is_about_definition(error.state())) throw;
    throw sql_error(sqlstate::datatype_mismatch,
                    "could not coerce {} expression ({}) to the RETURNING type", clause,
                    behavior_words(behavior.kind))
        .with_detail(error.what());
  }
}

Value JsonPathExpr::empty(Execution& execution) const {
  if (words_.on_empty.kind != Behavior::Kind::error) {
    return answer(execution, words_.on_empty, "ON EMPTY");
  }
  throw SqlError{kNoItem, "no SQL/JSON item found for specified path" + of_column(words_.column)};
}

Value JsonPathExpr::result_of_exists(Execution& execution, bool exists) const {
  if (type() == TypeId::bool_) return Value::from_bool(exists);
  if (base_type(type()) == TypeId::int4) {
    const Value number = Value::from_int(exists ? 1 : 0);
    return is_domain(type())
               ? enter_domain(execution.functions, type(), number, Coercion::assignment)
               : number;
  }
  return populate_from_json(execution.functions, type(), typmod(), exists ? "true" : "false",
                            words_.quotes);
}

Value JsonPathExpr::evaluate(Execution& execution) const {
  FunctionContext& context = execution.functions;
  const Value document = operands_[0]->eval(execution);
  const Value path = operands_[1]->eval(execution);
  if (document.is_null() || path.is_null()) return Value::null();
  Found found{context, document, path};
  for (std::size_t i = 0; i < words_.variables.size(); ++i) {
    const Expr& given = *operands_[2 + i];
    found.run.add_variable(words_.variables[i], without_collation(base_type(given.type())),
                           given.eval(execution));
  }
  const auto failures = throws() ? PathRun::Failures::thrown : PathRun::Failures::kept;
  std::optional<std::string> text;
  if (words_.kind == Kind::exists) {
    const std::optional<bool> exists = found.run.exists(failures);
    if (!exists) return on_error(execution);
    try {
      return result_of_exists(execution, *exists);
    } catch (const SqlError& error) {
      if (throws() || !is_about_definition(error.state())) throw;
    }
    return on_error(execution);
  }
  const PathRun::Outcome outcome = found.run.items(failures);
  const PathItems& items = outcome.found;
  if (outcome.failed) return on_error(execution);
  const bool wraps = words_.wrapper == Wrapper::always ||
                     (words_.wrapper == Wrapper::conditional && items.size() > 1);
  if (items.empty()) return empty(execution);
  if (items.size() > 1 && !wraps) {
    if (!throws()) return on_error(execution);
    if (words_.kind == Kind::value) {
      throw SqlError{kSeveralItems,
                     path_of(words_.column, "JSON_VALUE") + " must return single scalar item"};
    }
    throw SqlError{kSeveralItems, path_of(words_.column, "JSON_QUERY") +
                                      " must return single item when no wrapper is requested"}
        .with_hint("Use the WITH WRAPPER clause to wrap SQL/JSON items into an array.");
  }
  if (words_.kind == Kind::value) {
    const PathItem& item = items.front();
    if (item.json != nullptr && !item.json->is_scalar()) {
      if (!throws()) return on_error(execution);
      throw SqlError{kNoScalar,
                     path_of(words_.column, "JSON_VALUE") + " must return single scalar item"};
    }
    text = scalar_text(context, item, type());
  } else {
    std::string& json = text.emplace();
    if (wraps) json += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) json += ", ";
      found.run.append(items[i], json);
    }
    if (wraps) json += ']';
  }
  try {
    if (!text) {
      return is_domain(type()) ? enter_domain(context, type(), Value::null(), Coercion::assignment)
                               : Value::null();
    }
    if (words_.kind == Kind::query) {
      return populate_from_json(context, type(), typmod(), *text, words_.quotes);
    }
    if (!is_domain(type())) return input_text(context, type(), typmod(), *text);
    return enter_domain(context, type(), input_text(context, base_type(type()), typmod(), *text),
                        Coercion::assignment);
  } catch (const SqlError& error) {
    if (throws() || !is_about_definition(error.state())) throw;
  }
  return on_error(execution);
}

}  // namespace swizzle::sql

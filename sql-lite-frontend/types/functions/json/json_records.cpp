#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/json/sql_json.h"
#include "sql-lite-frontend/types/null_values.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

/// json_populate_record, json_to_record and their set-returning forms: objects as rows of a
/// composite type or of a column definition list.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Reads JSON arrays into an SQL array: collects the elements of all levels in row-major order.
class ArrayReader {
 public:
  ArrayReader(FunctionContext& context, TypeId array, std::int32_t typmod, std::string_view column)
      : context_(context), type_(element_type(array)), typmod_(typmod), column_(column) {}

  Value read(std::string_view json) {
    take(json, 0);
    if (std::ranges::any_of(dimensions_, [](const auto& d) { return d.length == 0; })) {
      return make_array(context_.arena, type_, {});
    }
    return make_array(context_.arena, type_, dimensions_, elements_);
  }

 private:
  void take(std::string_view json, std::size_t depth);
  [[noreturn]] void refuse_ragged() const {
    throw SqlError{sqlstate::invalid_text_representation, "malformed JSON array"}.with_detail(
        "Multidimensional arrays must have sub-arrays with matching dimensions.");
  }
  [[noreturn]] void refuse_scalar() const;

  FunctionContext& context_;
  TypeId type_;
  std::int32_t typmod_;
  std::string_view column_;
  std::vector<ArrayDimension> dimensions_;
  std::vector<std::size_t> path_;
  std::vector<Value> elements_;
};

Value read_composite(FunctionContext& context, TypeId type, const Value& base,
                     std::string_view json);

Value read_value(FunctionContext& context, TypeId type, std::int32_t typmod, std::string_view json,
                 std::string_view column) {
  if (is_domain(type)) {
    const Value value = read_value(context, base_type(type), kNoTypmod, json, column);
    return enter_domain(context, type, value, Coercion::assignment);
  }
  const JsonKind kind = json_kind(json);
  if (kind == JsonKind::null) return Value::null();
  if (type == TypeId::json) return make_text(context.arena, json);
  if (type == TypeId::jsonb) return make_jsonb(context.arena, canonical_json(json));
  if (is_array(type) && kind != JsonKind::string) {
    return ArrayReader{context, type, typmod, column}.read(json);
  }
  if (kind == JsonKind::object && is_composite(type)) {
    return read_composite(context, type, Value::null(), json);
  }
  if (kind == JsonKind::string) return input_text(context, type, typmod, json_string_value(json));
  return input_text(context, type, typmod, json);
}

void ArrayReader::refuse_scalar() const {
  std::string where;
  for (const std::size_t at : path_) where += fmt::format("[{}]", at);
  SqlError error{sqlstate::invalid_text_representation, "expected JSON array"};
  if (column_.empty()) {
    if (where.empty()) throw error;
    throw std::move(error).with_hint(fmt::format("See the array element {}.", where));
  }
  throw std::move(error).with_hint(
      where.empty() ? fmt::format("See the value of key \"{}\".", column_)
                    : fmt::format("See the array element {} of key \"{}\".", where, column_));
}

void ArrayReader::take(std::string_view json, std::size_t depth) {
  if (json_kind(json) != JsonKind::array) refuse_scalar();
  const auto parts = json_elements(json, context_.arena.account());
  const auto length = static_cast<std::int32_t>(parts.size());
  const bool is_first = depth == dimensions_.size();
  if (is_first) {
    if (depth == kMaxArrayDimensions) {
      throw sql_error(sqlstate::program_limit_exceeded,
                      "number of array dimensions ({}) exceeds the maximum allowed ({})", depth + 1,
                      kMaxArrayDimensions);
    }
    if (!elements_.empty()) refuse_ragged();
    dimensions_.push_back({length, 1});
  }
  if (dimensions_[depth].length != length) refuse_ragged();
  path_.push_back(0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    path_.back() = i;
    // The first scalar determines the number of dimensions.
    const bool may_be_nested = elements_.empty() || depth + 1 < dimensions_.size();
    const bool is_nested = may_be_nested && json_kind(parts[i]) == JsonKind::array &&
                           type_ != TypeId::json && type_ != TypeId::jsonb;
    if (is_nested) {
      take(parts[i], depth + 1);
    } else if (depth + 1 < dimensions_.size()) {
      refuse_scalar();
    } else {
      elements_.push_back(read_value(context_, type_, typmod_, parts[i], column_));
    }
  }
  path_.pop_back();
}

[[noreturn]] void refuse_as_row(JsonKind kind) {
  throw sql_error(sqlstate::invalid_parameter_value, "cannot call populate_composite on {}",
                  kind == JsonKind::array ? "an array" : "a scalar");
}

Value read_record(FunctionContext& context, std::string_view json) {
  const RowShape& row = *context.call.row;
  std::vector<Value> fields;
  for (std::size_t i = 0; i < row.types.size(); ++i) {
    const auto part = json_member(json, row.names[i]);
    fields.push_back(part ? read_value(context, row.types[i], row.typmods[i], *part, row.names[i])
                          : null_of(context, row.types[i]));
  }
  return make_record(context.arena, row.types, fields);
}

/// Makes a row of a composite type: fields missing in the object are taken from the base.
Value read_composite(FunctionContext& context, TypeId type, const Value& base,
                     std::string_view json) {
  check_stack();
  const auto shape =
      context.session.names == nullptr ? nullptr : context.session.names->row_shape(type);
  if (shape == nullptr) {
    throw sql_error(sqlstate::feature_not_supported,
                    "could not determine row type for result of json_populate_record")
        .with_hint(
            "Provide a non-null record argument, or call the function in the FROM clause using a "
            "column definition list.");
  }
  std::optional<RecordView> before;
  if (!base.is_null()) before.emplace(base);
  std::vector<Value> fields;
  for (std::size_t i = 0; i < shape->types.size(); ++i) {
    const auto part = json_member(json, shape->names[i]);
    if (part) {
      fields.push_back(
          read_value(context, shape->types[i], shape->typmods[i], *part, shape->names[i]));
    } else if (before) {
      fields.push_back(i < before->size() ? before->field(i) : Value::null());
    } else {
      fields.push_back(null_of(context, shape->types[i]));
    }
  }
  return make_record(context.arena, shape->types, fields);
}

/// The same for a composite type or a domain over one.
Value read_result(FunctionContext& context, TypeId type, const Value& base, std::string_view json) {
  const Value row = read_composite(context, base_type(type), base, json);
  return is_domain(type) ? enter_domain(context, type, row, Coercion::assignment) : row;
}

Value populate(FunctionContext& context, Arguments a) {
  if (a[1].is_null()) return a[0];
  const std::string_view json = json_trimmed(json_text(a[1]));
  const JsonKind kind = json_kind(json);
  if (kind == JsonKind::null) return a[0];
  if (kind != JsonKind::object) refuse_as_row(kind);
  return read_result(context, context.call.arguments[0], a[0], json);
}

/// json_populate_record_valid(): true if populate() succeeds. Errors that are not about the object
/// are thrown.
Value can_populate(FunctionContext& context, Arguments a) {
  if (a[1].is_null()) return Value::null();
  try {
    populate(context, a);
  } catch (const SqlError& error) {
    if (!is_about_definition(error.state())) throw;
    return Value::from_bool(false);
  }
  return Value::from_bool(true);
}

class PopulatedRecords final : public SetCursor {
 public:
  PopulatedRecords(TypeId type, const Value& base, CountedVector<std::string_view> objects)
      : type_(type), base_(base), objects_(std::move(objects)) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (at_ == objects_.size()) return std::nullopt;
    return read_result(context, type_, base_, objects_[at_++]);
  }

 private:
  TypeId type_;
  Value base_;
  CountedVector<std::string_view> objects_;
  std::size_t at_ = 0;
};

template <TypeId type>
std::unique_ptr<SetCursor> populate_set(FunctionContext& context, Arguments a) {
  constexpr std::string_view kName =
      type == TypeId::json ? "json_populate_recordset" : "jsonb_populate_recordset";
  const TypeId row = context.call.arguments[0];
  if (a[1].is_null()) {
    return std::make_unique<PopulatedRecords>(row, a[0], CountedVector<std::string_view>{});
  }
  const std::string_view json = json_trimmed(json_text(a[1]));
  const JsonKind kind = json_kind(json);
  if (kind != JsonKind::array) {
    std::string_view what = kind == JsonKind::object ? "an object" : "a scalar";
    if (type == TypeId::jsonb) what = "a non-array";
    throw sql_error(sqlstate::invalid_parameter_value, "cannot call {} on {}", kName, what);
  }
  auto objects = json_elements(json, context.arena.account());
  for (const std::string_view object : objects) {
    if (json_kind(object) == JsonKind::object) continue;
    throw sql_error(sqlstate::invalid_parameter_value, "argument of {} must be an array of objects",
                    kName);
  }
  return std::make_unique<PopulatedRecords>(row, a[0], std::move(objects));
}

void require_columns(const FunctionContext& context, std::string_view name) {
  if (context.call.row == nullptr) refuse_row_without_columns(name);
}

class Records final : public SetCursor {
 public:
  explicit Records(CountedVector<std::string_view> objects) : objects_(std::move(objects)) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (at_ == objects_.size()) return std::nullopt;
    return read_record(context, objects_[at_++]);
  }

 private:
  CountedVector<std::string_view> objects_;
  std::size_t at_ = 0;
};

template <TypeId type>
std::unique_ptr<SetCursor> to_record(FunctionContext& context, Arguments a) {
  require_columns(context, type == TypeId::json ? "json_to_record" : "jsonb_to_record");
  const std::string_view json = json_trimmed(json_text(a[0]));
  const JsonKind kind = json_kind(json);
  if (kind != JsonKind::object) refuse_as_row(kind);
  return std::make_unique<Records>(CountedVector<std::string_view>{json});
}

template <TypeId type>
std::unique_ptr<SetCursor> to_record_set(FunctionContext& context, Arguments a) {
  constexpr std::string_view kName =
      type == TypeId::json ? "json_to_recordset" : "jsonb_to_recordset";
  require_columns(context, kName);
  if (a[0].is_null()) return std::make_unique<Records>(CountedVector<std::string_view>{});
  const std::string_view json = json_trimmed(json_text(a[0]));
  const JsonKind kind = json_kind(json);
  if (kind != JsonKind::array) {
    std::string_view what = kind == JsonKind::object ? "an object" : "a scalar";
    if (type == TypeId::jsonb) what = "a non-array";
    throw sql_error(sqlstate::invalid_parameter_value, "cannot call {} on {}", kName, what);
  }
  auto objects = json_elements(json, context.arena.account());
  for (const std::string_view object : objects) {
    if (json_kind(object) == JsonKind::object) continue;
    throw sql_error(sqlstate::invalid_parameter_value, "argument of {} must be an array of objects",
                    kName);
  }
  return std::make_unique<Records>(std::move(objects));
}

constexpr SetEntry kSets[] = {
    {"json_to_record(json)", &to_record<TypeId::json>},
    {"jsonb_to_record(jsonb)", &to_record<TypeId::jsonb>},
    {"json_to_recordset(json)", &to_record_set<TypeId::json>},
    {"jsonb_to_recordset(jsonb)", &to_record_set<TypeId::jsonb>},
    {"json_populate_recordset(anyelement,json,bool)", &populate_set<TypeId::json>},
    {"jsonb_populate_recordset(anyelement,jsonb)", &populate_set<TypeId::jsonb>},
};
constexpr ScalarEntry kScalars[] = {
    {"json_populate_record(anyelement,json,bool)", &populate},
    {"jsonb_populate_record(anyelement,jsonb)", &populate},
    {"jsonb_populate_record_valid(anyelement,jsonb)", &can_populate},
};

}  // namespace

Value populate_from_json(FunctionContext& context, TypeId type, std::int32_t typmod,
                         std::string_view json, JsonQuotes quotes) {
  if (is_domain(type)) {
    const Value value = populate_from_json(context, base_type(type), typmod, json, quotes);
    return enter_domain(context, type, value, Coercion::assignment);
  }
  const JsonKind kind = json_kind(json);
  if (quotes == JsonQuotes::omitted && kind == JsonKind::string) {
    return input_text(context, type, typmod, json_string_value(json));
  }
  const TypeId plain = without_collation(type);
  if (plain == TypeId::json) return make_text(context.arena, json);
  if (plain == TypeId::jsonb) return make_jsonb(context.arena, canonical_json(json));
  if (is_array(type)) return ArrayReader{context, type, typmod, {}}.read(json);
  if (is_composite(type)) {
    if (kind != JsonKind::object) refuse_as_row(kind);
    return read_composite(context, type, Value::null(), json);
  }
  return input_text(context, type, typmod, json);
}

std::span<const SetEntry> json_record_functions() {
  return kSets;
}
std::span<const ScalarEntry> json_populate_functions() {
  return kScalars;
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/routines/extensions/hstore_records.h"

#include <algorithm>
#include <deque>

#include "sql-lite-frontend/types/extension/hstore.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Returns the fields of a row, from its type or from the value itself.
RowShape shape_of_row(FunctionContext& context, TypeId type, const Value& row) {
  ObjectNames* const names = context.session.names;
  if (names != nullptr && is_composite(base_type(type))) {
    if (const auto known = names->row_shape(base_type(type))) return *known;
  }
  RowShape shape;
  if (row.is_null()) return shape;
  const RecordView view{row};
  shape.names = view.names();
  for (std::size_t i = 0; i < view.size(); ++i) shape.types.push_back(view.type(i));
  shape.typmods.assign(shape.types.size(), kNoTypmod);
  return shape;
}

}  // namespace

Value hstore_from_record(FunctionContext& context, std::span<const Value> arguments) {
  const Value& row = arguments[0];
  const TypeId type = context.call.arguments.empty() ? TypeId::record : context.call.arguments[0];
  const RowShape shape = shape_of_row(context, type, row);
  if (row.is_null() && shape.types.empty()) return row;
  std::deque<std::string> texts;
  std::vector<HstorePair> pairs;
  std::optional<RecordView> view;
  if (!row.is_null()) view.emplace(row);
  for (std::size_t i = 0; i < shape.types.size(); ++i) {
    HstorePair pair{shape.names[i], std::nullopt};
    const Value field = view && i < view->size() ? view->field(i) : Value::null();
    if (!field.is_null()) pair.value = texts.emplace_back(to_text(context, view->type(i), field));
    pairs.push_back(pair);
  }
  return make_hstore(context.arena, std::move(pairs));
}

Value hstore_populate_record(FunctionContext& context, std::span<const Value> arguments) {
  const Value& row = arguments[0];
  if (arguments[1].is_null()) return row;
  const TypeId type = context.call.arguments[0];
  if (!is_composite(base_type(type)) && shape_of(type) != Shape::record) {
    throw SqlError{sqlstate::datatype_mismatch, "first argument must be a rowtype"};
  }
  const HstoreView with{arguments[1]};
  if (with.size() == 0 && !row.is_null()) return row;
  const RowShape shape = shape_of_row(context, type, row);
  std::optional<RecordView> view;
  if (!row.is_null()) view.emplace(row);
  std::vector<Value> fields;
  for (std::size_t i = 0; i < shape.types.size(); ++i) {
    const auto at = with.find(shape.names[i]);
    if (!at) {
      fields.push_back(view && i < view->size() ? view->field(i) : Value::null());
      continue;
    }
    const auto text = with.pair(*at).value;
    fields.push_back(text ? input_text(context, shape.types[i], shape.typmods[i], *text)
                          : Value::null());
  }
  return make_record(context.arena, shape.types, fields);
}

namespace {

/// -12.5e3, as JSON has numbers.
bool is_json_number(std::string_view text) {
  const auto take_digits = [&text] {
    const std::size_t before = text.size();
    while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
    return text.size() < before;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool begins_with_zero = text.starts_with('0');
  if (begins_with_zero) {
    text.remove_prefix(1);
  } else if (!take_digits()) {
    return false;
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!take_digits()) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (!take_digits()) return false;
  }
  return text.empty();
}

enum class Loose : bool { no, yes };
std::string json_of(const Value& value, Loose loose) {
  std::string out = "{";
  for (const HstorePair& pair : HstoreView{value}.pairs()) {
    if (out.size() > 1) out += ", ";
    append_json_string(pair.key, out);
    out += ": ";
    if (!pair.value) {
      out += "null";
    } else if (loose == Loose::yes && (*pair.value == "t" || *pair.value == "f")) {
      out += *pair.value == "t" ? "true" : "false";
    } else if (loose == Loose::yes && is_json_number(*pair.value)) {
      out += *pair.value;
    } else {
      append_json_string(*pair.value, out);
    }
  }
  return out + "}";
}

}  // namespace

Value hstore_to_json(FunctionContext& context, std::span<const Value> arguments) {
  return make_text(context.arena, json_of(arguments[0], Loose::no));
}
Value hstore_to_json_loose(FunctionContext& context, std::span<const Value> arguments) {
  return make_text(context.arena, json_of(arguments[0], Loose::yes));
}
Value hstore_to_jsonb(FunctionContext& context, std::span<const Value> arguments) {
  return make_jsonb(context.arena, canonical_json(json_of(arguments[0], Loose::no)));
}
Value hstore_to_jsonb_loose(FunctionContext& context, std::span<const Value> arguments) {
  return make_jsonb(context.arena, canonical_json(json_of(arguments[0], Loose::yes)));
}

}  // namespace swizzle::sql

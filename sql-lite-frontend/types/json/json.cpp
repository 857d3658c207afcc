#include "sql-lite-frontend/types/json/json.h"

#include <fmt/format.h>

#include <vector>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/json/json_building.h"
#include "sql-lite-frontend/types/json/json_key.h"
#include "sql-lite-frontend/types/json/json_order.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

Value json_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  verify_utf8(text);
  if (type == TypeId::jsonb) return as_jsonb_value(context, text);
  check_json(text, type);
  return make_text(context.arena, text);
}

bool is_number(TypeId type) {
  return type == TypeId::int2 || type == TypeId::int4 || type == TypeId::int8 ||
         type == TypeId::float4 || type == TypeId::float8 || type == TypeId::numeric;
}

/// Appends one dimension of an array, starting with element number `next`.
void append_dimension(FunctionContext& context, const ArrayView& view, std::size_t dimension,
                      std::size_t& next, std::string& out) {
  out += '[';
  for (std::int32_t i = 0; i < view.dimension(dimension).length; ++i) {
    if (i > 0) out += ',';
    if (dimension + 1 < view.dimension_count()) {
      append_dimension(context, view, dimension + 1, next, out);
    } else {
      append_json(context, view.element_type(), view.element(next++), out);
    }
  }
  out += ']';
}

/// Appends a row as an object. `line_feed` is written before each field but the first.
void append_row(FunctionContext& context, TypeId type, const Value& value,
                std::string_view line_feed, std::string& out) {
  const RecordView record{value};
  std::vector<std::string> names = record.names();
  if (is_composite(type) && context.session.names != nullptr) {
    const auto shape = context.session.names->row_shape(type);
    if (shape && shape->names.size() == names.size()) names = shape->names;
  }
  out += '{';
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (i > 0) out += ',';
    if (i > 0) out += line_feed;
    append_json_string(names[i], out);
    out += ':';
    append_json(context, record.type(i), record.field(i), out);
  }
  out += '}';
}

}  // namespace

void append_pretty_row(FunctionContext& context, const Value& row, std::string& out) {
  append_row(context, context.call.arguments.empty() ? TypeId::record : context.call.arguments[0],
             row, "\n ", out);
}

void append_json_string(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t from = at;
    while (at < text.size() && stands_for_itself(text[at])) ++at;
    out.append(text, from, at - from);
    if (at == text.size()) break;
    switch (text[at]) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(text[at]));
    }
  }
  out += '"';
}

void json_scalar_text(FunctionContext& context, TypeId type, const Value& value,
                      std::string& text) {
  type = base_type(type);
  if (type == TypeId::bool_) {
    text += value.as_bool() ? "true" : "false";
    return;
  }
  if (type != TypeId::date && type != TypeId::timestamp && type != TypeId::timestamptz) {
    return output_text(context, type, value, text);
  }
  struct IsoDates {
    explicit IsoDates(DateStyle& shown) : style(shown) { style = DateStyle::iso; }
    IsoDates(const IsoDates&) = delete;
    IsoDates& operator=(const IsoDates&) = delete;
    ~IsoDates() { style = before; }
    DateStyle& style;
    DateStyle before = style;
  };
  const IsoDates iso{context.session.format.date_style};
  const std::size_t begin = text.size();
  output_text(context, type, value, text);
  if (const auto blank = text.find(' ', begin); type != TypeId::date && blank != text.npos) {
    text[blank] = 'T';
  }
  if (type != TypeId::timestamptz) return;
  // ISO 8601 in JSON shows minutes in every offset: "+01" becomes "+01:00".
  constexpr std::string_view kBeforeChrist = " BC";
  const std::size_t end = text.size() - (text.ends_with(kBeforeChrist) ? kBeforeChrist.size() : 0);
  constexpr std::size_t kHours = 3;
  if (end >= begin + kHours && (text[end - kHours] == '+' || text[end - kHours] == '-')) {
    text.insert(end, ":00");
  }
}

void json_key_text(FunctionContext& context, TypeId type, const Value& value, std::string& text) {
  const TypeId base = base_type(type);
  if (is_array(base) || shape_of(base) == Shape::record || base == TypeId::json ||
      base == TypeId::jsonb) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "key value must be scalar, not array, composite, or json"};
  }
  json_scalar_text(context, type, value, text);
}

void append_json(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  check_stack();
  type = base_type(type);
  if (value.is_null()) {
    out += "null";
    return;
  }
  if (type == TypeId::bool_) {
    out += value.as_bool() ? "true" : "false";
    return;
  }
  if (shape_of(type) == Shape::record) return append_row(context, type, value, "", out);
  if (is_array(type)) {
    const ArrayView view{value};
    std::size_t next = 0;
    if (view.size() == 0) {
      out += "[]";
    } else {
      append_dimension(context, view, 0, next, out);
    }
    return;
  }
  std::string text;
  json_scalar_text(context, type, value, text);
  if (type == TypeId::json || type == TypeId::jsonb ||
      (is_number(type) && text.find_first_of("NI") == std::string::npos)) {
    out += text;
    return;
  }
  append_json_string(text, out);
}

constexpr TypeCodec kJsonCodec{
    json_input,
    [](FunctionContext&, TypeId, const Value& value, std::string& out) { out += json_text(value); },
    [](FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
      // jsonb's binary form is a version, 1, and the text.
      if (type == TypeId::jsonb) {
        if (bytes.empty() || bytes[0] != std::byte{1}) {
          throw SqlError{sqlstate::feature_not_supported, "unsupported jsonb version number"};
        }
        bytes = bytes.subspan(1);
      }
      return json_input(context, type, typmod, as_text(bytes));
    },
    [](FunctionContext&, TypeId type, const Value& value, std::string& out) {
      if (type == TypeId::jsonb) out += '\1';
      out += json_text(value);
    }};

namespace {

std::uint64_t hash_jsonb(const Value& value, std::uint64_t seed) {
  std::string key;
  append_jsonb_key(key, json_text(value));
  return hash_bytes(as_bytes(key), seed);
}

constexpr TypeOrder kJsonbOrder{
    .compare = [](const Value& a,
                  const Value& b) { return compare_jsonb(json_text(a), json_text(b)); },
    .hash = &hash_jsonb,
    .put_key = [](std::string& key,
                  const Value& value) { append_jsonb_key(key, json_text(value)); },
    .take_key = [](Bytes& key, TypeId, Arena& arena) { return take_jsonb_key(key, arena); }};

}  // namespace

constinit const Type builtin::json{.id = TypeId::json,
                                   .array = TypeId::json_array,
                                   .name = "json",
                                   .sql_name = "json",
                                   .shape = Shape::text,
                                   .io = kJsonCodec,
                                   .order = without_equality(kTextOrder)};
constinit const Type builtin::jsonb{.id = TypeId::jsonb,
                                    .array = TypeId::jsonb_array,
                                    .name = "jsonb",
                                    .sql_name = "jsonb",
                                    .shape = Shape::text,
                                    .io = kJsonCodec,
                                    .order = kJsonbOrder};

}  // namespace swizzle::sql

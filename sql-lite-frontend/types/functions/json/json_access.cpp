#include <charconv>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_errors.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/json/jsonb_lookup.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Accessors of json values, whose text is kept as entered. OfJsonb has the same set for jsonb.
struct OfJson {
  using Part = std::string_view;
  static Part whole(const Value& value) {
    require_readable_strings(value.as_text());
    return json_trimmed(value.as_text());
  }
  static std::string_view text(Part part) { return part; }
  static std::optional<Part> member(Part json, std::string_view key) {
    return json_member(json, key);
  }
  static std::optional<Part> element(Part json, std::int32_t at) { return json_element(json, at); }
  static Value value(Arena& arena, Part part) { return make_text(arena, part); }
};
struct OfJsonb {
  using Part = Jsonb;
  static Part whole(const Value& value) { return jsonb_of(value); }
  static std::string_view text(const Part& part) { return part.text; }
  static std::optional<Part> member(const Part& json, std::string_view key) {
    return jsonb_member(json, key);
  }
  static std::optional<Part> element(const Part& json, std::int32_t at) {
    return jsonb_element(json, at);
  }
  static Value value(Arena& arena, const Part& part) { return make_jsonb(arena, part); }
};

/// Result of an access: -> returns JSON, ->> text.
enum class As : std::uint8_t { json, text };

template <class Of, As as>
Value result_of(FunctionContext& context, const std::optional<typename Of::Part>& part) {
  if (!part) return Value::null();
  if constexpr (as == As::json) {
    return Of::value(context.arena, *part);
  } else {
    const std::string_view text = Of::text(*part);
    if (text == "null") return Value::null();
    if (text.front() == '"') {
      if (text.contains('\\')) return make_text(context.arena, json_string_value(text));
      return make_text(context.arena, text.substr(1, text.size() - 2));
    }
    return make_text(context.arena, text);
  }
}

template <class Of, As as>
Value field(FunctionContext& context, Arguments a) {
  return result_of<Of, as>(context, Of::member(Of::whole(a[0]), a[1].as_text()));
}
template <As as>
Value element(FunctionContext& context, Arguments a) {
  return result_of<OfJson, as>(context, OfJson::element(OfJson::whole(a[0]), a[1].as_int4()));
}

/// The operators -> and ->> with a number. A scalar of jsonb counts as an array of one element, as
/// in PostgreSQL, which stores it that way.
template <As as>
Value binary_element(FunctionContext& context, Arguments a) {
  const Jsonb json = jsonb_of(a[0]);
  const std::int32_t index = a[1].as_int4();
  if (!is_json_scalar(json_kind(json.text))) {
    return result_of<OfJsonb, as>(context, jsonb_element(json, index));
  }
  return index == 0 || index == -1 ? result_of<OfJsonb, as>(context, json) : Value::null();
}

/// Follows one step of a path: a key, or a number for an array.
template <class Of>
std::optional<typename Of::Part> step_into(const typename Of::Part& json, std::string_view step) {
  if (json_kind(Of::text(json)) != JsonKind::array) return Of::member(json, step);
  std::int32_t index = 0;
  const char* const end = step.data() + step.size();
  const char* const begin = step.starts_with('+') ? step.data() + 1 : step.data();
  const auto [stop, error] = std::from_chars(begin, end, index);
  if (error != std::errc{} || stop != end || begin == end) return std::nullopt;
  return Of::element(json, index);
}

template <class Of, As as>
Value at_path(FunctionContext& context, Arguments a) {
  const ArrayView path{a[1]};
  std::optional part = Of::whole(a[0]);
  for (std::size_t i = 0; i < path.size() && part; ++i) {
    const Value step = path.element(i);
    if (step.is_null()) return Value::null();
    part = step_into<Of>(*part, step.as_text());
  }
  return result_of<Of, as>(context, part);
}

Value kind_name(FunctionContext& context, Arguments a) {
  return make_text(context.arena, json_kind_name(json_kind(json_text(a[0]))));
}

std::int64_t elements_in(const FunctionContext& context, std::string_view json) {
  return static_cast<std::int64_t>(json_elements(json, context.arena.account()).size());
}
template <TypeId type>
Value array_length(FunctionContext& context, Arguments a) {
  const std::string_view json = json_trimmed(json_text(a[0]));
  switch (json_kind(json)) {
    case JsonKind::array:
      return Value::from_int(type == TypeId::jsonb ? jsonb_size(jsonb_of(a[0]))
                                                   : elements_in(context, json));
    case JsonKind::object:
      throw SqlError{sqlstate::invalid_parameter_value, "cannot get array length of a non-array"};
    default:
      throw SqlError{sqlstate::invalid_parameter_value, "cannot get array length of a scalar"};
  }
}

bool has_key(const Arena& arena, const Jsonb& json, std::string_view key) {
  switch (json_kind(json.text)) {
    case JsonKind::object:
      return jsonb_member(json, key).has_value();
    case JsonKind::array:
      for (const std::string_view part : json_elements(json.text, arena.account())) {
        if (part.front() == '"' && json_string_value(part) == key) return true;
      }
      return false;
    case JsonKind::string:
      return json_string_value(json.text) == key;
    default:
      return false;
  }
}
Value exists(FunctionContext& context, Arguments a) {
  return Value::from_bool(has_key(context.arena, jsonb_of(a[0]), a[1].as_text()));
}
/// The operator ?| stops at a key that exists, ?& at one that does not.
template <bool wanted>
Value exists_some(FunctionContext& context, Arguments a) {
  const Jsonb json = jsonb_of(a[0]);
  const ArrayView keys{a[1]};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Value key = keys.element(i);
    if (!key.is_null() && has_key(context.arena, json, key.as_text()) == wanted) {
      return Value::from_bool(wanted);
    }
  }
  return Value::from_bool(!wanted);
}
Value contains(FunctionContext&, Arguments a) {
  return Value::from_bool(jsonb_contains(jsonb_of(a[0]), json_text(a[1])));
}
Value contained(FunctionContext&, Arguments a) {
  return Value::from_bool(jsonb_contains(jsonb_of(a[1]), json_text(a[0])));
}

/// Returns keys, or the elements of an array. Copies its arguments, because the caller resets the
/// context's arena between rows.
class PartsCursor final : public SetCursor {
 public:
  explicit PartsCursor(CountedVector<Value> values) : values_(std::move(values)) {
    arena_.count_in(values_.get_allocator().account());
    for (Value& value : values_) value = value.copy_to(arena_);
  }
  std::optional<Value> next(FunctionContext&) override {
    if (next_ == values_.size()) return std::nullopt;
    return values_[next_++];
  }

 private:
  Arena arena_;
  CountedVector<Value> values_;
  std::size_t next_ = 0;
};

/// Throws 22023. json and jsonb have different messages.
[[noreturn]] void refuse_elements(bool is_jsonb, std::string_view name, JsonKind kind) {
  const bool is_object = kind == JsonKind::object;
  if (is_jsonb) {
    throw_error(sqlstate::invalid_parameter_value, "cannot extract elements from {}",
                is_object ? "an object" : "a scalar");
  }
  throw_error(sqlstate::invalid_parameter_value, "cannot call {} on a {}", name,
              is_object ? "non-array" : "scalar");
}

template <TypeId type, As as>
std::unique_ptr<SetCursor> elements(FunctionContext& context, Arguments a) {
  const std::string_view json = json_trimmed(json_text(a[0]));
  if (const JsonKind kind = json_kind(json); kind != JsonKind::array) {
    refuse_elements(type == TypeId::jsonb,
                    as == As::json ? "json_array_elements" : "json_array_elements_text", kind);
  }
  CountedValues values = counted_values(context.arena);
  for (const std::string_view part : json_elements(json, context.arena.account())) {
    if constexpr (type == TypeId::jsonb && as == As::json) {
      values.push_back(make_jsonb(context.arena, part));
    } else {
      values.push_back(result_of<OfJson, as>(context, part));
    }
  }
  return std::make_unique<PartsCursor>(std::move(values));
}

template <TypeId type>
std::unique_ptr<SetCursor> object_keys(FunctionContext& context, Arguments a) {
  const std::string_view json = json_trimmed(json_text(a[0]));
  if constexpr (type == TypeId::json) require_readable_strings(json);
  if (json_kind(json) != JsonKind::object) {
    throw_error(sqlstate::invalid_parameter_value, "cannot call {}_object_keys on {}",
                format_type(type), json_kind(json) == JsonKind::array ? "an array" : "a scalar");
  }
  CountedValues values = counted_values(context.arena);
  for (const JsonMember& member : json_members(json)) {
    values.push_back(make_text(context.arena, json_string_value(member.key)));
  }
  return std::make_unique<PartsCursor>(std::move(values));
}

constexpr ScalarEntry kJsonAccessEntries[] = {
    {"json_object_field(json,text)", &field<OfJson, As::json>},
    {"json_object_field_text(json,text)", &field<OfJson, As::text>},
    {"json_array_element(json,int4)", &element<As::json>},
    {"json_array_element_text(json,int4)", &element<As::text>},
    {"json_extract_path(json,_text)", &at_path<OfJson, As::json>},
    {"json_extract_path_text(json,_text)", &at_path<OfJson, As::text>},
    {"json_array_length(json)", &array_length<TypeId::json>},
    {"json_typeof(json)", &kind_name},
    {"jsonb_object_field(jsonb,text)", &field<OfJsonb, As::json>},
    {"jsonb_object_field_text(jsonb,text)", &field<OfJsonb, As::text>},
    {"jsonb_array_element(jsonb,int4)", &binary_element<As::json>},
    {"jsonb_array_element_text(jsonb,int4)", &binary_element<As::text>},
    {"jsonb_extract_path(jsonb,_text)", &at_path<OfJsonb, As::json>},
    {"jsonb_extract_path_text(jsonb,_text)", &at_path<OfJsonb, As::text>},
    {"jsonb_array_length(jsonb)", &array_length<TypeId::jsonb>},
    {"jsonb_typeof(jsonb)", &kind_name},
    {"jsonb_exists(jsonb,text)", &exists},
    {"jsonb_exists_any(jsonb,_text)", &exists_some<true>},
    {"jsonb_exists_all(jsonb,_text)", &exists_some<false>},
    {"jsonb_contains(jsonb,jsonb)", &contains},
    {"jsonb_contained(jsonb,jsonb)", &contained},
};

constexpr SetEntry kJsonAccessSets[] = {
    {"json_array_elements(json)", &elements<TypeId::json, As::json>},
    {"json_array_elements_text(json)", &elements<TypeId::json, As::text>},
    {"json_object_keys(json)", &object_keys<TypeId::json>},
    {"jsonb_array_elements(jsonb)", &elements<TypeId::jsonb, As::json>},
    {"jsonb_array_elements_text(jsonb)", &elements<TypeId::jsonb, As::text>},
    {"jsonb_object_keys(jsonb)", &object_keys<TypeId::jsonb>},
};

}  // namespace

std::span<const ScalarEntry> json_access_functions() {
  return kJsonAccessEntries;
}
std::span<const SetEntry> json_set_functions() {
  return kJsonAccessSets;
}

}  // namespace swizzle::sql

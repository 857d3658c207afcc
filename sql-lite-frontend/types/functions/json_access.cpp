#include <algorithm>
#include <charconv>
#include <optional>

#include "sql-lite-frontend/types/array.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/json.h"
#include "sql-lite-frontend/types/json_value.h"
#include "sql-lite-frontend/types/numeric.h"
#include "sql-lite-frontend/types/record.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Looking into json and jsonb: ->, ->>, #>, #>>, @>, ?, and the functions beside them.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using Kind = JsonValue::Kind;

enum class Shown : std::uint8_t { as_json, as_text };

/// A part of a value; NULL for none, and as text also for JSON's null.
template <Shown shown>
Value part(FunctionContext& context, const JsonValue* value) {
  if (value == nullptr) return Value::null();
  if (shown == Shown::as_json) return make_text(context.arena, value->raw);
  if (value->kind == Kind::null) return Value::null();
  return make_text(context.arena,
                   value->kind == Kind::string ? std::string_view{value->text} : value->raw);
}

template <Shown shown>
Value field(FunctionContext& context, Arguments a) {
  const JsonValue value = take_json_apart(a[0].as_text());
  return part<shown>(context, value.member(a[1].as_text()));
}

template <Shown shown, TypeId type>
Value element(FunctionContext& context, Arguments a) {
  const JsonValue value = take_json_apart(a[0].as_text());
  const std::int32_t index = a[1].as_int4();
  // To jsonb a scalar is a list of one.
  if (type == TypeId::jsonb && value.is_scalar() && (index == 0 || index == -1)) {
    return part<shown>(context, &value);
  }
  return part<shown>(context, value.item(index));
}

std::optional<std::int64_t> index_in(std::string_view text) {
  std::int64_t index = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), index);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return index;
}

/// Null where the path leads nowhere.
const JsonValue* follow(const JsonValue& root, const ArrayView& path) {
  const JsonValue* at = &root;
  for (std::size_t i = 0; at != nullptr && i < path.size(); ++i) {
    const Value step = path.element(i);
    if (step.is_null()) return nullptr;
    if (at->kind == Kind::object) {
      at = at->member(step.as_text());
    } else {
      const auto index = index_in(step.as_text());
      at = index ? at->item(*index) : nullptr;
    }
  }
  return at;
}

template <Shown shown>
Value extract(FunctionContext& context, Arguments a) {
  const JsonValue value = take_json_apart(a[0].as_text());
  return part<shown>(context, follow(value, ArrayView{a[1]}));
}

Value type_of(FunctionContext& context, Arguments a) {
  constexpr std::string_view kNames[] = {"null", "boolean", "number", "string", "array", "object"};
  const JsonValue value = take_json_apart(a[0].as_text());
  return make_text(context.arena, kNames[static_cast<std::size_t>(value.kind)]);
}

Value array_length(FunctionContext&, Arguments a) {
  const JsonValue value = take_json_apart(a[0].as_text());
  if (value.kind != Kind::array) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   value.is_scalar() ? "cannot get array length of a scalar"
                                     : "cannot get array length of a non-array"};
  }
  return Value::from_int(static_cast<std::int64_t>(value.items.size()));
}

/// A key of an object, or a string in an array.
bool has(const JsonValue& value, std::string_view key) {
  if (value.kind == Kind::object) return value.member(key) != nullptr;
  if (value.kind == Kind::string) return value.text == key;
  return std::ranges::any_of(value.items, [&](const JsonValue& item) {
    return item.kind == Kind::string && item.text == key;
  });
}

Value exists(FunctionContext&, Arguments a) {
  return Value::from_bool(has(take_json_apart(a[0].as_text()), a[1].as_text()));
}

template <bool all>
Value exists_several(FunctionContext&, Arguments a) {
  const JsonValue value = take_json_apart(a[0].as_text());
  const ArrayView keys{a[1]};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Value key = keys.element(i);
    if (key.is_null()) continue;
    if (has(value, key.as_text()) != all) return Value::from_bool(!all);
  }
  return Value::from_bool(all);
}

bool same(FunctionContext& context, const JsonValue& a, const JsonValue& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::number:
      return a.text == b.text || numeric_compare(numeric_from_text(context.arena, a.text),
                                                 numeric_from_text(context.arena, b.text)) == 0;
    case Kind::array:
      return std::ranges::equal(a.items, b.items, [&](const JsonValue& x, const JsonValue& y) {
        return same(context, x, y);
      });
    case Kind::object:
      return std::ranges::equal(a.members, b.members, [&](const auto& x, const auto& y) {
        return x.first == y.first && same(context, x.second, y.second);
      });
    case Kind::null:
    case Kind::boolean:
    case Kind::string:
      break;
  }
  return a.text == b.text;
}

bool contains(FunctionContext& context, const JsonValue& a, const JsonValue& b);

bool array_contains(FunctionContext& context, const JsonValue& array, const JsonValue& wanted) {
  return std::ranges::any_of(array.items, [&](const JsonValue& item) {
    return wanted.is_scalar() ? same(context, item, wanted) : contains(context, item, wanted);
  });
}

bool contains(FunctionContext& context, const JsonValue& a, const JsonValue& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Kind::object) {
    return std::ranges::all_of(b.members, [&](const auto& wanted) {
      const JsonValue* found = a.member(wanted.first);
      return found != nullptr && contains(context, *found, wanted.second);
    });
  }
  if (a.kind == Kind::array) {
    return std::ranges::all_of(
        b.items, [&](const JsonValue& wanted) { return array_contains(context, a, wanted); });
  }
  return same(context, a, b);
}

bool contains_text(FunctionContext& context, std::string_view outer, std::string_view inner) {
  const JsonValue a = take_json_apart(outer);
  const JsonValue b = take_json_apart(inner);
  // An array contains a scalar that is one of its elements.
  if (a.kind == Kind::array && b.is_scalar()) return array_contains(context, a, b);
  return contains(context, a, b);
}

Value contains_value(FunctionContext& context, Arguments a) {
  return Value::from_bool(contains_text(context, a[0].as_text(), a[1].as_text()));
}
Value contained_value(FunctionContext& context, Arguments a) {
  return Value::from_bool(contains_text(context, a[1].as_text(), a[0].as_text()));
}

template <bool wanted>
Value equal(FunctionContext& context, Arguments a) {
  const bool is_same =
      same(context, take_json_apart(a[0].as_text()), take_json_apart(a[1].as_text()));
  return Value::from_bool(is_same == wanted);
}

void strip_nulls_in(JsonValue& value) {
  std::erase_if(value.members, [](const auto& member) { return member.second.kind == Kind::null; });
  for (auto& [name, member] : value.members) strip_nulls_in(member);
  for (JsonValue& item : value.items) strip_nulls_in(item);
}

Value strip_nulls(FunctionContext& context, Arguments a) {
  JsonValue value = take_json_apart(a[0].as_text());
  strip_nulls_in(value);
  return make_text(context.arena, print_json(value));
}

void print_pretty(const JsonValue& value, std::size_t depth, std::string& out) {
  const auto line = [&](std::size_t level) {
    out += '\n';
    out.append(level * 4, ' ');
  };
  if (value.kind == Kind::array) {
    out += '[';
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out += ',';
      line(depth + 1);
      print_pretty(value.items[i], depth + 1, out);
    }
    line(depth);
    out += ']';
  } else if (value.kind == Kind::object) {
    out += '{';
    for (std::size_t i = 0; i < value.members.size(); ++i) {
      if (i > 0) out += ',';
      line(depth + 1);
      append_json_string(value.members[i].first, out);
      out += ": ";
      print_pretty(value.members[i].second, depth + 1, out);
    }
    line(depth);
    out += '}';
  } else {
    out += value.raw;
  }
}

Value pretty(FunctionContext& context, Arguments a) {
  std::string out;
  print_pretty(take_json_apart(a[0].as_text()), 0, out);
  return make_text(context.arena, out);
}

// What a set-returning function gives is made at once: the value is there as a whole anyway.
struct Row {
  std::optional<std::string> key;
  std::optional<std::string> value;
};

class Rows final : public SetCursor {
 public:
  Rows(std::vector<Row> rows, TypeId value_type) : rows_(std::move(rows)), type_(value_type) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (at_ == rows_.size()) return std::nullopt;
    const Row& row = rows_[at_++];
    const Value value = row.value ? make_text(context.arena, *row.value) : Value::null();
    if (!row.key) return value;
    const TypeId types[] = {TypeId::text, type_};
    const Value fields[] = {make_text(context.arena, *row.key), value};
    return make_record(context.arena, types, fields);
  }

 private:
  std::vector<Row> rows_;
  TypeId type_;
  std::size_t at_ = 0;
};

template <Shown shown>
std::optional<std::string> shown_value(const JsonValue& value) {
  if (shown == Shown::as_json) return std::string{value.raw};
  if (value.kind == Kind::null) return std::nullopt;
  return value.kind == Kind::string ? value.text : std::string{value.raw};
}

template <Shown shown>
std::unique_ptr<SetCursor> elements(FunctionContext&, Arguments a) {
  const JsonValue value = take_json_apart(a[0].as_text());
  if (value.kind != Kind::array) {
    throw SqlError{sqlstate::invalid_parameter_value,
                   value.kind == Kind::object ? "cannot extract elements from an object"
                                              : "cannot extract elements from a scalar"};
  }
  std::vector<Row> rows;
  for (const JsonValue& item : value.items)
    rows.push_back({std::nullopt, shown_value<shown>(item)});
  return std::make_unique<Rows>(std::move(rows), TypeId::text);
}

template <Shown shown, TypeId type>
std::unique_ptr<SetCursor> each(FunctionContext&, Arguments a) {
  const JsonValue value = take_json_apart(a[0].as_text());
  if (value.kind != Kind::object) {
    const bool array = value.kind == Kind::array;
    if (type == TypeId::json) {
      throw SqlError{
          sqlstate::invalid_parameter_value,
          array ? "cannot deconstruct an array as an object" : "cannot deconstruct a scalar"};
    }
    throw sql_error(sqlstate::invalid_parameter_value, "cannot call {} on a non-object",
                    shown == Shown::as_text ? "jsonb_each_text" : "jsonb_each");
  }
  std::vector<Row> rows;
  for (const auto& [name, member] : value.members)
    rows.push_back({name, shown_value<shown>(member)});
  return std::make_unique<Rows>(std::move(rows), shown == Shown::as_text ? TypeId::text : type);
}

template <TypeId type>
std::unique_ptr<SetCursor> keys(FunctionContext&, Arguments a) {
  const JsonValue value = take_json_apart(a[0].as_text());
  if (value.kind != Kind::object) {
    throw sql_error(sqlstate::invalid_parameter_value, "cannot call {} on {}",
                    type == TypeId::json ? "json_object_keys" : "jsonb_object_keys",
                    value.kind == Kind::array ? "an array" : "a scalar");
  }
  std::vector<Row> rows;
  for (const auto& [name, member] : value.members) rows.push_back({std::nullopt, name});
  return std::make_unique<Rows>(std::move(rows), TypeId::text);
}

constexpr ScalarEntry kScalars[] = {
    {"json_object_field(json,text)", &field<Shown::as_json>},
    {"json_object_field_text(json,text)", &field<Shown::as_text>},
    {"json_array_element(json,int4)", &element<Shown::as_json, TypeId::json>},
    {"json_array_element_text(json,int4)", &element<Shown::as_text, TypeId::json>},
    {"json_extract_path(json,_text)", &extract<Shown::as_json>},
    {"json_extract_path_text(json,_text)", &extract<Shown::as_text>},
    {"jsonb_object_field(jsonb,text)", &field<Shown::as_json>},
    {"jsonb_object_field_text(jsonb,text)", &field<Shown::as_text>},
    {"jsonb_array_element(jsonb,int4)", &element<Shown::as_json, TypeId::jsonb>},
    {"jsonb_array_element_text(jsonb,int4)", &element<Shown::as_text, TypeId::jsonb>},
    {"jsonb_extract_path(jsonb,_text)", &extract<Shown::as_json>},
    {"jsonb_extract_path_text(jsonb,_text)", &extract<Shown::as_text>},
    {"json_typeof(json)", &type_of},
    {"jsonb_typeof(jsonb)", &type_of},
    {"json_array_length(json)", &array_length},
    {"jsonb_array_length(jsonb)", &array_length},
    {"jsonb_exists(jsonb,text)", &exists},
    {"jsonb_exists_any(jsonb,_text)", &exists_several<false>},
    {"jsonb_exists_all(jsonb,_text)", &exists_several<true>},
    {"jsonb_contains(jsonb,jsonb)", &contains_value},
    {"jsonb_contained(jsonb,jsonb)", &contained_value},
    {"jsonb_eq(jsonb,jsonb)", &equal<true>},
    {"jsonb_ne(jsonb,jsonb)", &equal<false>},
    {"jsonb_strip_nulls(jsonb)", &strip_nulls},
    {"jsonb_pretty(jsonb)", &pretty},
};

constexpr SetEntry kSets[] = {
    {"json_array_elements(json)", &elements<Shown::as_json>},
    {"json_array_elements_text(json)", &elements<Shown::as_text>},
    {"json_object_keys(json)", &keys<TypeId::json>},
    {"json_each(json)", &each<Shown::as_json, TypeId::json>},
    {"json_each_text(json)", &each<Shown::as_text, TypeId::json>},
    {"jsonb_array_elements(jsonb)", &elements<Shown::as_json>},
    {"jsonb_array_elements_text(jsonb)", &elements<Shown::as_text>},
    {"jsonb_object_keys(jsonb)", &keys<TypeId::jsonb>},
    {"jsonb_each(jsonb)", &each<Shown::as_json, TypeId::jsonb>},
    {"jsonb_each_text(jsonb)", &each<Shown::as_text, TypeId::jsonb>},
};

}  // namespace

std::span<const ScalarEntry> json_access_functions() {
  return kScalars;
}
std::span<const SetEntry> json_sets() {
  return kSets;
}

}  // namespace swizzle::sql

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_value.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"

/// Functions that return a changed jsonb:
/// , -, #-, jsonb_set, and casts from jsonb.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using Kind = JsonKind;

[[noreturn]] void invalid(std::string message) {
  throw SqlError{sqlstate::invalid_parameter_value, std::move(message)};
}

/// jsonb's order of keys: by length, then by bytes.
bool key_before(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

void put_member(JsonValue& object, const std::string& key, JsonValue value) {
  const auto at = std::ranges::lower_bound(object.members, key, key_before,
                                           [](const auto& member) { return member.first; });
  if (at != object.members.end() && at->first == key) {
    at->second = std::move(value);
  } else {
    object.members.emplace(at, key, std::move(value));
  }
}

Value shown(FunctionContext& context, const JsonValue& value) {
  return make_jsonb(context.arena, print_json(value));
}

Value concat(FunctionContext& context, Arguments a) {
  JsonValue left = take_json_apart(json_text(a[0]), context.arena.account());
  JsonValue right = take_json_apart(json_text(a[1]), context.arena.account());
  if (left.kind == Kind::object && right.kind == Kind::object) {
    for (auto& [key, value] : right.members) put_member(left, key, std::move(value));
    return shown(context, left);
  }
  // Otherwise concatenate two arrays; a value that is no array counts as an array of one.
  JsonValue joined;
  joined.kind = Kind::array;
  for (JsonValue* side : {&left, &right}) {
    if (side->kind != Kind::array) {
      joined.items.push_back(std::move(*side));
      continue;
    }
    for (JsonValue& item : side->items) joined.items.push_back(std::move(item));
  }
  return shown(context, joined);
}

void remove_key(JsonValue& value, std::string_view key) {
  std::erase_if(value.members, [&](const auto& member) { return member.first == key; });
  std::erase_if(value.items, [&](const JsonValue& item) {
    return item.kind == Kind::string && item.text == key;
  });
}

void remove_item(JsonValue& array, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(array.items.size());
  if (index < 0) index += size;
  if (index >= 0 && index < size) array.items.erase(array.items.begin() + index);
}

Value delete_key(FunctionContext& context, Arguments a) {
  JsonValue value = take_json_apart(json_text(a[0]), context.arena.account());
  if (value.is_scalar()) invalid("cannot delete from scalar");
  remove_key(value, a[1].as_text());
  return shown(context, value);
}

Value delete_keys(FunctionContext& context, Arguments a) {
  JsonValue value = take_json_apart(json_text(a[0]), context.arena.account());
  if (value.is_scalar()) invalid("cannot delete from scalar");
  const ArrayView keys{a[1]};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Value key = keys.element(i);
    if (!key.is_null()) remove_key(value, key.as_text());
  }
  return shown(context, value);
}

Value delete_index(FunctionContext& context, Arguments a) {
  JsonValue value = take_json_apart(json_text(a[0]), context.arena.account());
  if (value.is_scalar()) invalid("cannot delete from scalar");
  if (value.kind == Kind::object) invalid("cannot delete from object using integer index");
  remove_item(value, a[1].as_int4());
  return shown(context, value);
}

/// One step of a path; numbered from 1 in errors.
struct Step {
  std::string_view text;
  std::size_t position;
  bool is_null;
  [[nodiscard]] std::int64_t index() const {
    std::int64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
      throw sql_error(sqlstate::invalid_text_representation,
                      "path element at position {} is not an integer: \"{}\"", position, text);
    }
    return number;
  }
};

std::vector<Step> steps_in(const Value& path) {
  const ArrayView view{path};
  std::vector<Step> steps;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value step = view.element(i);
    const bool is_null = step.is_null();
    steps.push_back({is_null ? std::string_view{} : step.as_text(), i + 1, is_null});
  }
  return steps;
}

/// Returns the current step. Throws if it is NULL: an error only once the step is reached, as in
/// PostgreSQL.
const Step& reached(std::span<const Step> path) {
  const Step& step = path.front();
  if (step.is_null) {
    throw_error(sqlstate::null_value_not_allowed, "path element at position {} is null",
                step.position);
  }
  return step;
}

bool is_empty(const JsonValue& value) {
  return value.members.empty() && value.items.empty();
}

void delete_at(JsonValue& value, std::span<const Step> path) {
  check_stack();
  const Step& step = reached(path);
  if (value.kind == Kind::object) {
    if (path.size() == 1) return remove_key(value, step.text);
    for (auto& [key, member] : value.members) {
      if (key == step.text) delete_at(member, path.subspan(1));
    }
  } else if (value.kind == Kind::array) {
    const std::int64_t index = step.index();
    if (path.size() == 1) return remove_item(value, index);
    if (auto* item = const_cast<JsonValue*>(value.item(index))) delete_at(*item, path.subspan(1));
  }
}

Value delete_path(FunctionContext& context, Arguments a) {
  JsonValue value = take_json_apart(json_text(a[0]), context.arena.account());
  if (value.is_scalar()) invalid("cannot delete path in scalar");
  if (is_empty(value)) return a[0];
  const std::vector<Step> steps = steps_in(a[1]);
  if (steps.empty()) return a[0];
  delete_at(value, steps);
  return shown(context, value);
}

enum class Missing : std::uint8_t { leave, create };

void set_at(JsonValue& value, std::span<const Step> path, const JsonValue& wanted,
            Missing missing) {
  check_stack();
  const Step& step = reached(path);
  const bool last = path.size() == 1;
  if (value.kind == Kind::object) {
    const bool there = value.member(step.text) != nullptr;
    if (last && (there || missing == Missing::create)) {
      return put_member(value, std::string{step.text}, wanted);
    }
    for (auto& [key, member] : value.members) {
      if (key == step.text && !last) set_at(member, path.subspan(1), wanted, missing);
    }
  } else if (value.kind == Kind::array) {
    const std::int64_t index = step.index();
    auto* item = const_cast<JsonValue*>(value.item(index));
    if (item != nullptr) {
      if (!last) return set_at(*item, path.subspan(1), wanted, missing);
      *item = wanted;
    } else if (last && missing == Missing::create) {
      value.items.insert(index < 0 ? value.items.begin() : value.items.end(), wanted);
    }
  }
}

Value set_path(FunctionContext& context, Arguments a) {
  JsonValue value = take_json_apart(json_text(a[0]), context.arena.account());
  if (value.is_scalar()) invalid("cannot set path in scalar");
  const bool creates = a.size() < 4 || a[3].as_bool();
  if (is_empty(value) && !creates) return a[0];
  const std::vector<Step> steps = steps_in(a[1]);
  if (steps.empty()) return a[0];
  set_at(value, steps, take_json_apart(json_text(a[2]), context.arena.account()),
         creates ? Missing::create : Missing::leave);
  return shown(context, value);
}

enum class Side : std::uint8_t { before, after };

void insert_at(JsonValue& value, std::span<const Step> path, const JsonValue& added, Side side) {
  check_stack();
  const Step& step = reached(path);
  const bool last = path.size() == 1;
  if (value.kind == Kind::object) {
    const bool there = value.member(step.text) != nullptr;
    if (last && there) {
      throw SqlError{sqlstate::invalid_parameter_value, "cannot replace existing key"}.with_hint(
          "Try using the function jsonb_set to replace key value.");
    }
    if (last) return put_member(value, std::string{step.text}, added);
    for (auto& [key, member] : value.members) {
      if (key == step.text) insert_at(member, path.subspan(1), added, side);
    }
  } else if (value.kind == Kind::array) {
    const std::int64_t index = step.index();
    if (!last) {
      auto* item = const_cast<JsonValue*>(value.item(index));
      if (item != nullptr) insert_at(*item, path.subspan(1), added, side);
      return;
    }
    const auto size = static_cast<std::int64_t>(value.items.size());
    std::int64_t at = index < 0 ? index + size : index;
    // An index beyond either end inserts at that end.
    if (at < 0) {
      at = 0;
    } else if (at >= size) {
      at = size;
    } else if (side == Side::after) {
      ++at;
    }
    value.items.insert(value.items.begin() + at, added);
  }
}

Value insert_path(FunctionContext& context, Arguments a) {
  JsonValue value = take_json_apart(json_text(a[0]), context.arena.account());
  if (value.is_scalar()) invalid("cannot set path in scalar");
  const std::vector<Step> steps = steps_in(a[1]);
  if (steps.empty()) return a[0];
  insert_at(value, steps, take_json_apart(json_text(a[2]), context.arena.account()),
            a[3].as_bool() ? Side::after : Side::before);
  return shown(context, value);
}

/// jsonb_set_lax(): null_value_treatment says what an SQL NULL as the new value does.
Value set_path_lax(FunctionContext& context, Arguments a) {
  if (a[0].is_null() || a[1].is_null() || a[3].is_null()) return Value::null();
  const auto invalid_treatment = [] {
    throw SqlError{sqlstate::invalid_parameter_value,
                   "null_value_treatment must be \"delete_key\", \"return_target\", "
                   "\"use_json_null\", or \"raise_exception\""};
  };
  if (a[4].is_null()) invalid_treatment();
  if (!a[2].is_null()) return set_path(context, a.first(4));
  const std::string_view treatment = a[4].as_text();
  if (treatment == "return_target") return a[0];
  if (treatment == "delete_key") return delete_path(context, a.first(2));
  if (treatment == "raise_exception") {
    throw SqlError{sqlstate::null_value_not_allowed, "JSON value must not be null"}
        .with_detail("Exception was raised because null_value_treatment is \"raise_exception\".")
        .with_hint(
            "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL "
            "is not passed.");
  }
  if (treatment != "use_json_null") invalid_treatment();
  const Value with_null[] = {a[0], a[1], Value::from_text("null"), a[3]};
  return set_path(context, with_null);
}

/// Returns the scalar; nothing for JSON's null. Throws unless it is of the kind that the target
/// type of the cast needs.
std::optional<JsonValue> scalar_of(const Value& json, Kind wanted, TypeId type) {
  constexpr std::string_view kNames[] = {"object", "array", "string", "numeric", "boolean", "null"};
  JsonValue value = take_json_apart(json_text(json), nullptr);
  if (value.kind == wanted) return value;
  if (value.kind == Kind::null) return std::nullopt;
  throw_error(sqlstate::invalid_parameter_value, "cannot cast jsonb {} to type {}",
              kNames[static_cast<std::size_t>(value.kind)], format_type(type));
}

Value to_numeric(FunctionContext& context, Arguments a) {
  const auto scalar = scalar_of(a[0], Kind::number, TypeId::numeric);
  return scalar ? numeric_from_text(context.arena, scalar->text) : Value::null();
}
Value to_bool(FunctionContext&, Arguments a) {
  const auto scalar = scalar_of(a[0], Kind::boolean, TypeId::bool_);
  return scalar ? Value::from_bool(scalar->text == "true") : Value::null();
}
template <TypeId type, class Integer>
Value to_integer(FunctionContext& context, Arguments a) {
  const auto scalar = scalar_of(a[0], Kind::number, type);
  if (!scalar) return Value::null();
  const Value number = numeric_from_text(context.arena, scalar->text);
  return Value::from_int(numeric_to_int(number, std::numeric_limits<Integer>::min(),
                                        std::numeric_limits<Integer>::max(), format_type(type)));
}
template <TypeId type>
Value to_float(FunctionContext& context, Arguments a) {
  const auto scalar = scalar_of(a[0], Kind::number, type);
  return scalar ? input_text(context, type, kNoTypmod, scalar->text) : Value::null();
}

constexpr ScalarEntry kJsonChangeEntries[] = {
    {"jsonb_concat(jsonb,jsonb)", &concat},
    {"jsonb_delete(jsonb,text)", &delete_key},
    {"jsonb_delete(jsonb,_text)", &delete_keys},
    {"jsonb_delete(jsonb,int4)", &delete_index},
    {"jsonb_delete_path(jsonb,_text)", &delete_path},
    {"jsonb_set(jsonb,_text,jsonb,bool)", &set_path},
    {"jsonb_set_lax(jsonb,_text,jsonb,bool,text)", &set_path_lax},
    {"jsonb_insert(jsonb,_text,jsonb,bool)", &insert_path},
    {"numeric(jsonb)", &to_numeric},
    {"bool(jsonb)", &to_bool},
    {"int2(jsonb)", &to_integer<TypeId::int2, std::int16_t>},
    {"int4(jsonb)", &to_integer<TypeId::int4, std::int32_t>},
    {"int8(jsonb)", &to_integer<TypeId::int8, std::int64_t>},
    {"float4(jsonb)", &to_float<TypeId::float4>},
    {"float8(jsonb)", &to_float<TypeId::float8>},
};

}  // namespace

std::span<const ScalarEntry> json_change_functions() {
  return kJsonChangeEntries;
}

}  // namespace swizzle::sql

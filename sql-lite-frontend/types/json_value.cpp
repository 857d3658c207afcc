#include "sql-lite-frontend/types/json_value.h"

#include <algorithm>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json.h"

namespace swizzle::sql {
namespace {

void print(const JsonValue& value, std::string& out) {
  check_stack();
  switch (value.kind) {
    case JsonKind::string:
      return append_json_string(value.text, out);
    case JsonKind::array: {
      out += '[';
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out += ", ";
        print(value.items[i], out);
      }
      out += ']';
      return;
    }
    case JsonKind::object: {
      out += '{';
      for (std::size_t i = 0; i < value.members.size(); ++i) {
        if (i > 0) out += ", ";
        append_json_string(value.members[i].first, out);
        out += ": ";
        print(value.members[i].second, out);
      }
      out += '}';
      return;
    }
    case JsonKind::null:
    case JsonKind::boolean:
    case JsonKind::number:
      out += value.text;
      return;
  }
}

}  // namespace

JsonValue::JsonValue() = default;
JsonValue::JsonValue(const JsonValue& other) : kind(other.kind), raw(other.raw), text(other.text) {
  check_stack();
  items = other.items;
  members = other.members;
}
JsonValue::JsonValue(JsonValue&&) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue& other) {
  return *this = JsonValue{other};
}
JsonValue& JsonValue::operator=(JsonValue&&) noexcept = default;

/// However deep the value is: containers within are taken out before they end themselves.
JsonValue::~JsonValue() {
  std::vector<JsonValue> inner;
  const auto take_from = [&](JsonValue& value) {
    const auto take = [&](JsonValue& part) {
      if (!part.items.empty() || !part.members.empty()) inner.push_back(std::move(part));
    };
    std::ranges::for_each(value.items, take);
    std::ranges::for_each(value.members, take, &std::pair<std::string, JsonValue>::second);
  };
  take_from(*this);
  while (!inner.empty()) {
    JsonValue last = std::move(inner.back());
    inner.pop_back();
    take_from(last);
  }
}

const JsonValue* JsonValue::member(std::string_view name) const {
  for (auto at = members.rbegin(); at != members.rend(); ++at) {
    if (at->first == name) return &at->second;
  }
  return nullptr;
}

const JsonValue* JsonValue::item(std::int64_t index) const {
  const auto size = static_cast<std::int64_t>(items.size());
  if (index < 0) index += size;
  return index >= 0 && index < size ? &items[static_cast<std::size_t>(index)] : nullptr;
}

JsonValue take_json_apart(std::string_view text) {
  check_stack();
  JsonValue value;
  value.raw = json_trimmed(text);
  value.kind = json_kind(value.raw);
  switch (value.kind) {
    case JsonKind::object:
      for (const JsonMember& member : json_members(value.raw)) {
        value.members.emplace_back(json_string_value(member.key), take_json_apart(member.value));
      }
      break;
    case JsonKind::array:
      for (const std::string_view element : json_elements(value.raw)) {
        value.items.push_back(take_json_apart(element));
      }
      break;
    case JsonKind::string:
      value.text = json_string_value(value.raw);
      break;
    case JsonKind::number:
    case JsonKind::boolean:
    case JsonKind::null:
      value.text = value.raw;
      break;
  }
  return value;
}

std::string print_json(const JsonValue& value) {
  std::string out;
  print(value, out);
  return out;
}

}  // namespace swizzle::sql

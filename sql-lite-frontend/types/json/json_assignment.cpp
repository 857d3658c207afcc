#include "sql-lite-frontend/types/json/json_assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json_value.h"
#include "sql-lite-frontend/types/json/jsonb_lookup.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Path = std::span<const std::string>;

/// Returns the integer as strtol() reads it, with leading blanks; nothing if the step is no
/// integer.
std::optional<std::int32_t> number_of(std::string_view step) {
  while (!step.empty() && (step.front() == ' ' || (step.front() >= '\t' && step.front() <= '\r'))) {
    step.remove_prefix(1);
  }
  if (step.starts_with('+') && !step.starts_with("+-")) step.remove_prefix(1);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), number);
  if (error != std::errc{} || end != step.data() + step.size()) return std::nullopt;
  return number;
}

class JsonAssigning {
 public:
  JsonAssigning(Path path, JsonValue value) : path_(path), value_(std::move(value)) {}

  void assign(JsonValue& into, std::size_t level) {
    check_stack();
    if (into.is_scalar()) {
      throw sql_error(sqlstate::invalid_parameter_value, "cannot replace existing key")
          .with_detail("The path assumes key is a composite object, but it is a scalar value.");
    }
    if (into.kind == JsonKind::object) {
      assign_member(into, level);
    } else {
      assign_item(into, level);
    }
  }

 private:
  [[nodiscard]] bool is_last(std::size_t level) const noexcept { return level + 1 == path_.size(); }
  /// Returns a new value for a step whose value did not exist.
  JsonValue made(std::size_t level) {
    if (level == path_.size()) return value_;
    JsonValue value;
    value.kind = number_of(path_[level]) ? JsonKind::array : JsonKind::object;
    assign(value, level);
    return value;
  }
  void put(JsonValue& at, std::size_t level) {
    if (is_last(level)) {
      at = value_;
    } else {
      assign(at, level + 1);
    }
  }
  void assign_member(JsonValue& object, std::size_t level) {
    const std::string& key = path_[level];
    // Members are sorted as jsonb's keys: by length, then by bytes.
    const auto before = [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    };
    const auto at = std::ranges::lower_bound(object.members, key, before,
                                             [](const auto& member) { return member.first; });
    if (at != object.members.end() && at->first == key) return put(at->second, level);
    object.members.emplace(at, key, made(level + 1));
  }
  void assign_item(JsonValue& array, std::size_t level) {
    const auto number = number_of(path_[level]);
    if (!number) {
      throw_error(sqlstate::invalid_text_representation,
                  "path element at position {} is not an integer: \"{}\"", level + 1, path_[level]);
    }
    const auto size = static_cast<std::int64_t>(array.items.size());
    std::int64_t index = *number;
    if (index < -size) {
      throw_error(sqlstate::invalid_parameter_value,
                  "path element at position {} is out of range: {}", level + 1, index);
    }
    if (index < 0) index += size;
    if (index < size) return put(array.items[static_cast<std::size_t>(index)], level);
    JsonValue nothing;
    nothing.raw = "null";
    nothing.text = "null";
    for (std::int64_t i = size; i < index; ++i) {
      yield_point(10);
      array.items.push_back(nothing);
    }
    array.items.push_back(made(level + 1));
  }

  Path path_;
  JsonValue value_;
};

/// Fast path: returns the text with the part replaced, or with a new last-level member inserted.
/// Returns nothing in all other cases, including errors, which the caller's slow path reports.
std::optional<std::string> spliced(const Jsonb& whole, Path path, std::string_view value) {
  const std::string_view json = whole.text;
  Jsonb at = whole;
  for (std::size_t level = 0; level < path.size(); ++level) {
    const bool is_last = level + 1 == path.size();
    Jsonb found;
    std::string added;
    if (json_kind(at.text) == JsonKind::object) {
      const auto place = jsonb_place(at, path[level]);
      if (!place || (!place->is_there && !is_last)) return std::nullopt;
      found = place->value;
      if (!place->is_there) {
        const char* const before = found.text.data();
        const bool is_first = before == at.text.data() + 1;
        const bool is_end = before == at.text.data() + at.text.size() - 1;
        added = fmt::format("{}\"{}\": {}{}", is_end && !is_first ? ", " : "", path[level], value,
                            is_end ? "" : ", ");
      }
    } else {
      const auto number = number_of(path[level]);
      const auto element = number ? jsonb_element(at, *number) : std::nullopt;
      if (!element) return std::nullopt;
      found = *element;
    }
    if (!is_last) {
      at = found;
      continue;
    }
    const std::string_view part = found.text;
    std::string text;
    text.reserve(json.size() + value.size() + added.size());
    text.append(json.data(), part.data());
    text += added.empty() ? value : std::string_view{added};
    text.append(part.data() + part.size(), json.data() + json.size());
    return text;
  }
  return std::nullopt;
}

}  // namespace

Value json_at(Arena& arena, const Value& json, Path path) {
  Jsonb at = jsonb_of(json);
  for (const std::string& step : path) {
    std::optional<Jsonb> found;
    if (json_kind(at.text) == JsonKind::object) {
      found = jsonb_member(at, step);
    } else if (const auto number = number_of(step)) {
      found = jsonb_element(at, *number);
    }
    if (!found) return Value::null();
    at = *found;
  }
  return make_jsonb(arena, at);
}

Value json_assign(Arena& arena, const Value& json, Path path, bool begins_list,
                  const Value& value) {
  if (!json.is_null()) {
    const std::string_view given = value.is_null() ? "null" : json_text(value);
    if (const auto text = spliced(jsonb_of(json), path, given)) return make_jsonb(arena, *text);
  }
  return json_assign_apart(arena, json, path, begins_list, value);
}

Value json_assign_apart(Arena& arena, const Value& json, Path path, bool begins_list,
                        const Value& value) {
  MemoryAccount* const account = arena.account();
  JsonValue whole;
  count_in(whole.items, account);
  count_in(whole.members, account);
  whole.kind = begins_list ? JsonKind::array : JsonKind::object;
  if (!json.is_null()) whole = take_json_apart(json_text(json), account);
  const std::string_view given = value.is_null() ? "null" : json_text(value);
  JsonAssigning{path, take_json_apart(given, account)}.assign(whole, 0);
  return make_jsonb(arena, print_json(whole));
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/types/json/json_parts.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json_containment.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kBlanks = " \t\n\r";
constexpr std::size_t kWorkOfHash = 60;
constexpr std::size_t kWorkOfMember = 20;

std::size_t skip_blanks(std::string_view json, std::size_t at) noexcept {
  const std::size_t found = json.find_first_not_of(kBlanks, at);
  return found == std::string_view::npos ? json.size() : found;
}

/// Returns the position after the string that begins at `at`.
std::size_t skip_string(std::string_view json, std::size_t at) noexcept {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

/// Returns the position after the value that begins at `at`. Costs the value's length, so a
/// descent through all levels by this alone is quadratic in the depth; JsonEnds avoids that.
std::size_t skip_value(std::string_view json, std::size_t at) {
  const std::size_t begin = at;
  if (json[at] == '"') return skip_string(json, at);
  if (json[at] != '{' && json[at] != '[') {
    const std::size_t end = json.find_first_of(",]} \t\n\r", at);
    return end == std::string_view::npos ? json.size() : end;
  }
  int depth = 0;
  while (at < json.size()) {
    const char letter = json[at];
    if (letter == '"') {
      at = skip_string(json, at);
      continue;
    }
    ++at;
    if (letter == '{' || letter == '[') ++depth;
    if ((letter == '}' || letter == ']') && --depth == 0) break;
  }
  yield_point(at - begin);
  return at;
}

/// Ends of all arrays and objects of a text, found in one pass, so that a descent through all
/// levels stays linear.
class JsonEnds {
 public:
  JsonEnds() = default;
  /// Builds nothing for short texts: scanning them is as fast.
  explicit JsonEnds(std::string_view json) {
    constexpr std::size_t kShort = 512;
    if (json.size() < kShort) return;
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < json.size();) {
      const char letter = json[at];
      if (letter == '"') {
        at = skip_string(json, at);
        continue;
      }
      ++at;
      if (letter == '{' || letter == '[') {
        open.push_back(begins_.size());
        begins_.push_back(json.data() + at - 1);
        ends_.push_back(json.data() + json.size());
      } else if ((letter == '}' || letter == ']') && !open.empty()) {
        ends_[open.back()] = json.data() + at;
        open.pop_back();
      }
    }
    yield_point(json.size());
  }
  /// Returns the position after the value that begins at `at`, in a part of the text.
  [[nodiscard]] std::size_t behind(std::string_view json, std::size_t at) const {
    const auto found = std::ranges::lower_bound(begins_, json.data() + at);
    if (found == begins_.end() || *found != json.data() + at) return skip_value(json, at);
    yield_point(kWorkOfMember);
    return static_cast<std::size_t>(ends_[static_cast<std::size_t>(found - begins_.begin())] -
                                    json.data());
  }

 private:
  std::vector<const char*> begins_;  // ascending
  std::vector<const char*> ends_;
};

std::vector<JsonMember> members_of(std::string_view json, const JsonEnds& ends) {
  std::vector<JsonMember> members;
  std::size_t at = skip_blanks(json, skip_blanks(json, 0) + 1);
  while (at < json.size() && json[at] == '"') {
    yield_point(kWorkOfMember);
    const std::size_t key_end = skip_string(json, at);
    const std::size_t value = skip_blanks(json, skip_blanks(json, key_end) + 1);
    const std::size_t value_end = ends.behind(json, value);
    members.push_back({json.substr(at, key_end - at), json.substr(value, value_end - value)});
    // Skip the comma or the closing brace.
    at = skip_blanks(json, skip_blanks(json, value_end) + 1);
  }
  return members;
}

using Elements = CountedVector<std::string_view>;

Elements elements_of(std::string_view json, const JsonEnds& ends, MemoryAccount* account) {
  Elements elements{CountedAllocator<std::string_view>{account}};
  std::size_t at = skip_blanks(json, skip_blanks(json, 0) + 1);
  while (at < json.size() && json[at] != ']') {
    yield_point(kWorkOfMember);
    const std::size_t end = ends.behind(json, at);
    elements.push_back(json.substr(at, end - at));
    const std::size_t behind = skip_blanks(json, end);
    if (behind >= json.size() || json[behind] == ']') break;
    at = skip_blanks(json, behind + 1);
  }
  return elements;
}

/// Returns the canonical spelling of a scalar: equal numbers such as 1.0 and 1 share it.
std::string plain_scalar(std::string_view scalar) {
  std::string text{scalar};
  if (json_kind(scalar) != JsonKind::number) return text;
  if (text.find('.') != std::string::npos) {
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
  }
  return text == "-0" ? std::string{"0"} : text;
}

bool same_scalar(std::string_view left, std::string_view right) {
  if (left == right) return true;
  if (json_kind(left) != JsonKind::number || json_kind(right) != JsonKind::number) return false;
  return plain_scalar(left) == plain_scalar(right);
}

bool is_scalar(std::string_view json) noexcept {
  return is_json_scalar(json_kind(json));
}

/// Containment (@>) of one jsonb value in another.
class Containment {
 public:
  Containment(std::string_view whole, std::string_view part)
      : whole_ends_(whole), part_ends_(part) {}

  [[nodiscard]] bool holds(std::string_view whole, std::string_view part) const {
    check_stack();
    const JsonKind whole_kind = json_kind(whole);
    const JsonKind part_kind = json_kind(part);
    if (whole_kind == JsonKind::object && part_kind == JsonKind::object) {
      return object_holds(whole, part);
    }
    if (whole_kind == JsonKind::array && part_kind == JsonKind::array) {
      return array_holds(whole, part);
    }
    // As in PostgreSQL, an outermost array contains a scalar that is one of its elements.
    if (whole_kind == JsonKind::array && is_scalar(part)) {
      return std::ranges::any_of(elements_of(whole, whole_ends_, nullptr),
                                 [&](std::string_view element) {
                                   return is_scalar(element) && same_scalar(element, part);
                                 });
    }
    return is_scalar(whole) && is_scalar(part) && same_scalar(whole, part);
  }

 private:
  [[nodiscard]] bool array_holds(std::string_view whole, std::string_view part) const {
    std::unordered_set<std::string> scalars;
    std::vector<std::string_view> others;
    for (const std::string_view element : elements_of(whole, whole_ends_, nullptr)) {
      yield_point(kWorkOfHash);
      if (is_scalar(element)) {
        scalars.insert(plain_scalar(element));
      } else {
        others.push_back(element);
      }
    }
    return std::ranges::all_of(
        elements_of(part, part_ends_, nullptr), [&](std::string_view wanted) {
          yield_point(kWorkOfHash);
          if (is_scalar(wanted)) return scalars.contains(plain_scalar(wanted));
          return std::ranges::any_of(
              others, [&](std::string_view element) { return holds(element, wanted); });
        });
  }

  [[nodiscard]] bool object_holds(std::string_view whole, std::string_view part) const {
    // jsonb spells equal keys alike.
    std::unordered_map<std::string_view, std::string_view> members;
    for (const JsonMember& member : members_of(whole, whole_ends_)) {
      yield_point(kWorkOfHash);
      members[member.key] = member.value;
    }
    return std::ranges::all_of(members_of(part, part_ends_), [&](const JsonMember& wanted) {
      yield_point(kWorkOfHash);
      const auto found = members.find(wanted.key);
      if (found == members.end()) return false;
      const std::string_view value = found->second;
      if (is_scalar(wanted.value) || is_scalar(value)) return same_scalar(value, wanted.value);
      return holds(value, wanted.value);
    });
  }

  const JsonEnds whole_ends_;
  const JsonEnds part_ends_;
};

}  // namespace

JsonKind json_kind(std::string_view json) noexcept {
  const std::size_t at = skip_blanks(json, 0);
  switch (at < json.size() ? json[at] : '0') {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    default:
      return JsonKind::number;
  }
}

std::string_view json_kind_name(JsonKind kind) noexcept {
  constexpr std::string_view kNames[] = {"object", "array", "string", "number", "boolean", "null"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view json_trimmed(std::string_view json) noexcept {
  json.remove_prefix(skip_blanks(json, 0));
  return json.substr(0, json.find_last_not_of(kBlanks) + 1);
}

std::vector<JsonMember> json_members(std::string_view json) {
  return members_of(json, {});
}

CountedVector<std::string_view> json_elements(std::string_view json, MemoryAccount* account) {
  return elements_of(json, {}, account);
}

std::optional<std::string_view> json_member(std::string_view json, std::string_view key) {
  std::optional<std::string_view> found;
  if (json_kind(json) != JsonKind::object) return found;
  for (const JsonMember& member : json_members(json)) {
    if (json_string_value(member.key) == key) found = member.value;
  }
  return found;
}

std::optional<std::string_view> json_element(std::string_view json, std::int32_t index) {
  if (json_kind(json) != JsonKind::array) return std::nullopt;
  const auto elements = json_elements(json, nullptr);
  const std::int64_t at =
      index >= 0 ? index : static_cast<std::int64_t>(elements.size()) + std::int64_t{index};
  if (at < 0 || at >= static_cast<std::int64_t>(elements.size())) return std::nullopt;
  return elements[static_cast<std::size_t>(at)];
}

bool jsonb_contains(const Jsonb& whole, std::string_view part) {
  if (const auto found = contains_few(whole, part)) return *found;
  return Containment{whole.text, part}.holds(whole.text, part);
}

}  // namespace swizzle::sql

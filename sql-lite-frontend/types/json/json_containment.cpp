#include "sql-lite-frontend/types/json/json_containment.h"

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/jsonb_directory.h"
#include "sql-lite-frontend/types/json/jsonb_lookup.h"
#include "sql-lite-frontend/types/json/jsonb_parts.h"

namespace swizzle::sql {
namespace {

/// Larger parts are left to the general algorithm: each element of the part is compared with every
/// element of the whole.
constexpr std::size_t kMostPartBytes = 256;
constexpr int kMostDepth = 4;

bool is_scalar(std::string_view json) noexcept {
  return json[0] != '{' && json[0] != '[';
}
bool is_number(std::string_view json) noexcept {
  return json[0] == '-' || (json[0] >= '0' && json[0] <= '9');
}
std::string_view without_zeros(std::string_view number) noexcept {
  if (number.find('.') == std::string_view::npos) return number;
  number = number.substr(0, number.find_last_not_of('0') + 1);
  return number.ends_with('.') ? number.substr(0, number.size() - 1) : number;
}
bool same_scalar(std::string_view left, std::string_view right) noexcept {
  if (left == right) return true;
  return is_number(left) && is_number(right) && without_zeros(left) == without_zeros(right);
}

bool contains(const Jsonb& whole, std::string_view part, bool is_top);

/// True if the value equals or contains `wanted`.
bool holds(const Jsonb& has, std::string_view wanted) {
  if (is_scalar(wanted) || is_scalar(has.text)) {
    return is_scalar(wanted) && is_scalar(has.text) && same_scalar(has.text, wanted);
  }
  return has.text[0] == wanted[0] && contains(has, wanted, false);
}

bool any_element_holds(const Jsonb& whole, std::string_view wanted) {
  yield_point(whole.text.size());
  for (JsonbParts has{whole.text}; has.next();) {
    const bool looks_up = !whole.directory.empty() && !is_scalar(has.value());
    const Jsonb element = looks_up ? JsonbDirectory{whole}.part(has.value()) : Jsonb{has.value()};
    if (holds(element, wanted)) return true;
  }
  return false;
}

bool array_contains(const Jsonb& whole, std::string_view part) {
  for (JsonbParts wanted{part}; wanted.next();) {
    if (!any_element_holds(whole, wanted.value())) return false;
  }
  return true;
}

/// Looks each key of the part up in the whole's directory. Pre: nothing in the part is escaped.
bool looked_up_object_contains(const Jsonb& whole, std::string_view part) {
  for (JsonbParts wanted{part}; wanted.next();) {
    const std::string_view key = wanted.key().substr(1, wanted.key().size() - 2);
    const auto has = jsonb_member(whole, key);
    if (!has || !holds(*has, wanted.value())) return false;
  }
  return true;
}

/// Merges the two objects in one pass: both have their keys in jsonb's order.
bool passed_object_contains(std::string_view whole, std::string_view part) {
  yield_point(whole.size());
  JsonbParts has{whole};
  for (JsonbParts wanted{part}; wanted.next();) {
    do {
      if (!has.next()) return false;
    } while (has.key() != wanted.key());
    if (!holds({has.value()}, wanted.value())) return false;
  }
  return true;
}

bool contains(const Jsonb& whole, std::string_view part, bool is_top) {
  check_stack();
  if (is_scalar(part)) {
    if (is_scalar(whole.text)) return same_scalar(whole.text, part);
    return whole.text[0] == '[' && is_top && any_element_holds(whole, part);
  }
  if (whole.text[0] != part[0]) return false;
  if (part[0] == '[') return array_contains(whole, part);
  return whole.directory.empty() ? passed_object_contains(whole.text, part)
                                 : looked_up_object_contains(whole, part);
}

/// True if the part is short, shallow and without escapes.
bool is_simple(std::string_view part) noexcept {
  if (part.empty() || part.size() > kMostPartBytes) return false;
  int depth = 0;
  for (const char c : part) {
    if (c == '\\') return false;
    if ((c == '{' || c == '[') && ++depth > kMostDepth) return false;
    if (c == '}' || c == ']') --depth;
  }
  return true;
}

}  // namespace

std::optional<bool> contains_few(const Jsonb& whole, std::string_view part) {
  if (whole.text.empty() || !is_simple(part)) return std::nullopt;
  return contains(whole, part, true);
}

}  // namespace swizzle::sql

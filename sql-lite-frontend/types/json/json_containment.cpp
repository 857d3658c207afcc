#include "sql-lite-frontend/types/json/json_containment.h"

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/jsonb_parts.h"

namespace swizzle::sql {
namespace {

/// So much of a part is compared with each element of the whole.
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

bool contains(std::string_view whole, std::string_view part, bool is_top);

bool array_contains(std::string_view whole, std::string_view part) {
  for (JsonbParts wanted{part}; wanted.next();) {
    count_work(whole.size());
    bool found = false;
    for (JsonbParts has{whole}; !found && has.next();) {
      found =
          is_scalar(wanted.value())
              ? is_scalar(has.value()) && same_scalar(has.value(), wanted.value())
              : has.value()[0] == wanted.value()[0] && contains(has.value(), wanted.value(), false);
    }
    if (!found) return false;
  }
  return true;
}

/// Keys stand by their lengths, then by their bytes, in both.
bool object_contains(std::string_view whole, std::string_view part) {
  JsonbParts has{whole};
  for (JsonbParts wanted{part}; wanted.next();) {
    for (;;) {
      if (!has.next()) return false;
      if (has.key() == wanted.key()) break;
    }
    if (is_scalar(wanted.value()) || is_scalar(has.value())) {
      if (!is_scalar(wanted.value()) || !is_scalar(has.value()) ||
          !same_scalar(has.value(), wanted.value())) {
        return false;
      }
    } else if (has.value()[0] != wanted.value()[0] ||
               !contains(has.value(), wanted.value(), false)) {
      return false;
    }
  }
  return true;
}

bool contains(std::string_view whole, std::string_view part, bool is_top) {
  check_stack();
  count_work(whole.size());
  if (is_scalar(part)) {
    if (is_scalar(whole)) return same_scalar(whole, part);
    if (whole[0] != '[' || !is_top) return false;
    for (JsonbParts has{whole}; has.next();) {
      if (is_scalar(has.value()) && same_scalar(has.value(), part)) return true;
    }
    return false;
  }
  if (whole[0] != part[0]) return false;
  return part[0] == '{' ? object_contains(whole, part) : array_contains(whole, part);
}

/// Few, and nothing escaped.
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

std::optional<bool> contains_few(std::string_view whole, std::string_view part) {
  if (whole.empty() || !is_simple(part)) return std::nullopt;
  return contains(whole, part, true);
}

}  // namespace swizzle::sql

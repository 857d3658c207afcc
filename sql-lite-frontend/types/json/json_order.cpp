#include "sql-lite-frontend/types/json/json_order.h"

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json_value.h"
#include "sql-lite-frontend/types/numeric/numeric.h"

namespace swizzle::sql {
namespace {

int order(std::size_t left, std::size_t right) noexcept {
  return static_cast<int>(left > right) - static_cast<int>(left < right);
}

int rank_of(JsonKind kind) noexcept {
  switch (kind) {
    case JsonKind::null:
      return 0;
    case JsonKind::string:
      return 1;
    case JsonKind::number:
      return 2;
    case JsonKind::boolean:
      return 3;
    case JsonKind::array:
      return 4;
    case JsonKind::object:
      break;
  }
  return 5;
}

int compare_numbers(std::string_view left, std::string_view right) {
  Arena arena;
  return numeric_compare(numeric_from_text(arena, left), numeric_from_text(arena, right));
}

int compare_strings_by(CompareStrings strings, const std::string& left, const std::string& right) {
  return strings == nullptr ? left.compare(right) : strings(left, right);
}

/// Pre: both are of the same kind.
int compare_scalars(const JsonValue& left, const JsonValue& right, CompareStrings strings) {
  switch (left.kind) {
    case JsonKind::string:
      return compare_strings_by(strings, left.text, right.text);
    case JsonKind::number:
      return compare_numbers(left.raw, right.raw);
    case JsonKind::boolean:
      return order(left.raw == "true" ? 1 : 0, right.raw == "true" ? 1 : 0);
    default:
      return 0;
  }
}

int compare_values(const JsonValue& left, const JsonValue& right, CompareStrings strings) {
  check_stack();
  if (left.kind != right.kind) return rank_of(left.kind) < rank_of(right.kind) ? -1 : 1;
  if (left.is_scalar()) return compare_scalars(left, right, strings);
  if (left.kind == JsonKind::array) {
    int by = order(left.items.size(), right.items.size());
    for (std::size_t i = 0; by == 0 && i < left.items.size(); ++i) {
      by = compare_values(left.items[i], right.items[i], strings);
    }
    return by;
  }
  int by = order(left.members.size(), right.members.size());
  for (std::size_t i = 0; by == 0 && i < left.members.size(); ++i) {
    by = compare_strings_by(strings, left.members[i].first, right.members[i].first);
    if (by == 0) by = compare_values(left.members[i].second, right.members[i].second, strings);
  }
  return by;
}

bool is_empty_array(const JsonValue& value) noexcept {
  return value.kind == JsonKind::array && value.items.empty();
}

}  // namespace

int compare_jsonb(std::string_view left, std::string_view right, CompareStrings strings) {
  if (left == right) return 0;
  const JsonValue a = take_json_apart(left, nullptr);
  const JsonValue b = take_json_apart(right, nullptr);
  // Only outermost empty arrays: PostgreSQL compares an outermost scalar as an array of one
  // element, and an array with fewer elements comes first.
  if (is_empty_array(a) != is_empty_array(b)) return is_empty_array(a) ? -1 : 1;
  return compare_values(a, b, strings);
}

}  // namespace swizzle::sql

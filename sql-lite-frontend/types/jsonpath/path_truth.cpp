// Predicates of a path, whose result is yes, no or unknown.
#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/jsonpath/path_run.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/regex/regex.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

bool has_zone(TypeId type) noexcept {
  return type == TypeId::timestamptz || type == TypeId::timetz;
}
bool is_time(TypeId type) noexcept {
  return type == TypeId::time || type == TypeId::timetz;
}

}  // namespace

PathRun::Truth PathRun::of_order(PathOp op, int order) noexcept {
  bool holds = false;
  switch (op) {
    case PathOp::equal:
      holds = order == 0;
      break;
    case PathOp::not_equal:
      holds = order != 0;
      break;
    case PathOp::less:
      holds = order < 0;
      break;
    case PathOp::greater:
      holds = order > 0;
      break;
    case PathOp::less_or_equal:
      holds = order <= 0;
      break;
    default:
      holds = order >= 0;
  }
  return holds ? Truth::yes : Truth::no;
}

PathRun::Truth PathRun::truth(PathPlace place, const PathItem& item) {
  check_stack();
  const PathNode& node = path_.at(place);
  switch (node.op) {
    case PathOp::logical_and: {
      const Truth left = truth(node.left, item);
      if (left == Truth::no) return Truth::no;
      const Truth right = truth(node.right, item);
      return right == Truth::yes ? left : right;
    }
    case PathOp::logical_or: {
      const Truth left = truth(node.left, item);
      if (left == Truth::yes) return Truth::yes;
      const Truth right = truth(node.right, item);
      return right == Truth::no ? left : right;
    }
    case PathOp::logical_not: {
      const Truth of = truth(node.left, item);
      if (of == Truth::unknown) return of;
      return of == Truth::yes ? Truth::no : Truth::yes;
    }
    case PathOp::is_unknown:
      return truth(node.left, item) == Truth::unknown ? Truth::yes : Truth::no;
    case PathOp::exists: {
      const auto found = exists_or_nothing(node.left, item);
      if (!found) return Truth::unknown;
      return *found ? Truth::yes : Truth::no;
    }
    default:
      return compared(node, item);
  }
}

/// Compares each value of one side with each of the other: yes if some pair fits. Strict mode
/// returns unknown if any pair cannot be compared.
PathRun::Truth PathRun::compared(const PathNode& node, const PathItem& item) {
  const bool is_like_regex = node.op == PathOp::like_regex;
  const auto left = operand_or_nothing(node.left, item, true);
  if (!left) return Truth::unknown;
  std::optional<PathItems> right;
  if (!is_like_regex) {
    right = operand_or_nothing(node.right, item, node.op != PathOp::starts_with);
    if (!right) return Truth::unknown;
  }
  bool any = false;
  bool any_unknown = false;
  const std::size_t rights = is_like_regex ? 1 : right->size();
  for (const PathItem& one : *left) {
    for (std::size_t i = 0; i < rights; ++i) {
      yield_point(30);
      Truth holds = Truth::unknown;
      if (is_like_regex) {
        holds = is_like(node, one);
      } else if (node.op == PathOp::starts_with) {
        holds = starts_with(one, (*right)[i]);
      } else {
        holds = compare(node.op, one, (*right)[i]);
      }
      if (holds == Truth::unknown) {
        if (!is_lax()) return Truth::unknown;
        any_unknown = true;
      } else if (holds == Truth::yes) {
        if (is_lax()) return Truth::yes;
        any = true;
      }
    }
  }
  if (any) return Truth::yes;
  return any_unknown ? Truth::unknown : Truth::no;
}

PathRun::Truth PathRun::compare(PathOp op, const PathItem& left, const PathItem& right) {
  if (left.moment && right.moment) return compare_moments(op, *left.moment, *right.moment);
  const bool same =
      left.kind() == right.kind() && left.moment.has_value() == right.moment.has_value();
  if (!same) {
    const bool any_null = left.kind() == JsonKind::null || right.kind() == JsonKind::null;
    if (!any_null) return Truth::unknown;
    return op == PathOp::not_equal ? Truth::yes : Truth::no;
  }
  switch (left.kind()) {
    case JsonKind::null:
      return of_order(op, 0);
    case JsonKind::boolean:
      return of_order(op, static_cast<int>(left.json->text == "true") -
                              static_cast<int>(right.json->text == "true"));
    case JsonKind::number:
      return of_order(op, numeric_compare(number_of(left), number_of(right)));
    case JsonKind::string:
      return of_order(op, left.json->text.compare(right.json->text));
    default:
      return Truth::unknown;
  }
}

PathRun::Truth PathRun::compare_moments(PathOp op, const PathMoment& left,
                                        const PathMoment& right) {
  if (is_time(left.type) != is_time(right.type)) return Truth::unknown;
  if (has_zone(left.type) != has_zone(right.type) && zones_ == Zones::refused) {
    const PathMoment& plain = has_zone(left.type) ? right : left;
    const PathMoment& zoned = has_zone(left.type) ? left : right;
    throw sql_error(sqlstate::feature_not_supported,
                    "cannot convert value from {} to {} without time zone usage",
                    type_info(plain.type).name, type_info(zoned.type).name)
        .with_hint("Use *_tz() function for time zone support.");
  }
  // Compare as the common type of both.
  TypeId common = left.type;
  if (left.type != right.type) {
    const bool any_zone = has_zone(left.type) || has_zone(right.type);
    common =
        is_time(left.type) ? TypeId::timetz : (any_zone ? TypeId::timestamptz : TypeId::timestamp);
  }
  const auto as_common = [&](const PathMoment& moment) {
    if (moment.type == common) return moment.value;
    const std::optional<Cast> cast = find_cast(moment.type, common, CastContext::explicit_cast);
    return cast_value(context_, *cast, moment.value);
  };
  return of_order(op, compare_values(common, as_common(left), as_common(right)));
}

PathRun::Truth PathRun::starts_with(const PathItem& left, const PathItem& right) const {
  const auto is_text = [](const PathItem& item) {
    return item.json != nullptr && item.kind() == JsonKind::string;
  };
  if (!is_text(left) || !is_text(right)) return Truth::unknown;
  return left.json->text.starts_with(right.json->text) ? Truth::yes : Truth::no;
}

PathRun::Truth PathRun::is_like(const PathNode& node, const PathItem& item) {
  if (item.json == nullptr || item.kind() != JsonKind::string) return Truth::unknown;
  const CompiledRegex& regex = context_.session.regex(node.text, path_regex_flags(node.flags));
  return regex.matches(item.json->text) ? Truth::yes : Truth::no;
}

}  // namespace swizzle::sql

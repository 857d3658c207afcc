// Methods of a path on an item: .size(), .double(), .keyvalue() and others.
#include <fmt/format.h>

#include <cmath>

#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/jsonpath/path_run.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

// SQLSTATEs of SQL/JSON.
constexpr SqlState kNoArray{"22039"};
constexpr SqlState kNoObject{"2203C"};
constexpr SqlState kNotNumeric{"22036"};
constexpr SqlState kBadMoment{"22031"};

}  // namespace

void PathRun::run_method(const PathNode& node, PathPlace place, const PathItem& item,
                         PathItems& found, bool unwraps) {
  const std::string name{path_method(node.op)};
  const std::string of = "jsonpath item method ." + name + "() can only be applied to ";
  if (node.op == PathOp::type) {
    std::string kind{json_kind_name(item.kind())};
    if (item.moment) kind = format_type(item.moment->type);
    return next(node, text(kind), found);
  }
  if (node.op == PathOp::size) {
    std::int64_t size = 1;
    if (item.kind() == JsonKind::array) {
      size = static_cast<std::int64_t>(item.json->items.size());
    } else if (!is_lax()) {
      if (ignores_structure()) return;
      fail(kNoArray, of + "an array");
    }
    return next(node, number(numeric_from_int(size)), found);
  }
  if (unwrap_target(place, item, found, unwraps)) return;
  switch (node.op) {
    case PathOp::double_:
      return run_double(node, item, found);
    case PathOp::keyvalue:
      return run_keyvalue(node, item, found);
    case PathOp::datetime: {
      if (item.kind() != JsonKind::string || item.json == nullptr)
        fail(kBadMoment, of + "a string");
      if (node.truth)
        return next(node, {nullptr, read_path_moment(context_, item.json->text, node.text)}, found);
      const auto moment = read_path_moment(context_, item.json->text);
      if (!moment) {
        fail(kBadMoment, "datetime format is not recognized: \"" + item.json->text + "\"",
             "Use a datetime template argument to specify the input data format.");
      }
      return next(node, {nullptr, moment}, found);
    }
    case PathOp::abs:
    case PathOp::floor:
    case PathOp::ceiling:
      break;
    default:
      return run_conversion(node, item, found);
  }
  if (item.kind() != JsonKind::number) fail(kNotNumeric, of + "a numeric value");
  const Value value = number_of(item);
  Arena& arena = context_.arena;
  next(node,
       number(node.op == PathOp::abs     ? numeric_absolute(arena, value)
              : node.op == PathOp::floor ? numeric_floor(arena, value)
                                         : numeric_ceiling(arena, value)),
       found);
}

void PathRun::run_double(const PathNode& node, const PathItem& item, PathItems& found) {
  const auto check = [&](double value, const char* what) {
    if (!std::isfinite(value)) fail(kNotNumeric, what);
  };
  if (item.kind() == JsonKind::number) {
    const double value = numeric_to_double(number_of(item));
    check(value,
          "numeric argument of jsonpath item method .double() is out of range for type double "
          "precision");
    return next(node, item, found);
  }
  if (item.kind() != JsonKind::string || item.json == nullptr) {
    fail(kNotNumeric,
         "jsonpath item method .double() can only be applied to a string or numeric value");
  }
  double value = 0;
  try {
    value = parse_float8(item.json->text);
  } catch (const SqlError&) {
    fail(kNotNumeric,
         fmt::format("argument \"{}\" of jsonpath item method .double() is invalid for type double "
                     "precision",
                     item.json->text));
  }
  check(value, "NaN or Infinity is not allowed for jsonpath item method .double()");
  constexpr int kDigits = 15;
  next(node, number(numeric_from_double(context_.arena, value, kDigits)), found);
}

/// Finds {"id": …, "key": …, "value": …} for each member. The id differs between objects.
void PathRun::run_keyvalue(const PathNode& node, const PathItem& item, PathItems& found) {
  if (item.kind() != JsonKind::object) {
    fail(kNoObject, "jsonpath item method .keyvalue() can only be applied to an object");
  }
  const char* const begin = root_text_.data();
  const char* const at = item.json->raw.data();
  const bool is_within = at >= begin && at < begin + root_text_.size();
  const std::int64_t id = is_within ? at - begin : 10'000'000'000;
  for (const auto& [name, value] : item.json->members) {
    std::string& written = texts_.emplace_back("{\"id\": " + std::to_string(id) + ", \"key\": ");
    append_json_string(name, written);
    written += ", \"value\": ";
    written += value.raw;
    written += '}';
    next(node, made(take_json_apart(written, context_.arena.account())), found);
    if (is_enough(found)) return;
  }
}

}  // namespace swizzle::sql

// Conversions of a path: values of PASSING to variables, and the methods .integer(), .string(),
// .date() and others.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/datetime/time_types.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/jsonpath/path_run.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/resolve.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kBadConversion{"22036"};
constexpr SqlState kNoMoment{"22031"};

std::string method_name(const PathNode& node) {
  return fmt::format("jsonpath item method .{}()", path_method(node.op));
}

/// Returns a precision or scale; nothing if it is no 32-bit integer.
std::optional<std::int32_t> small_integer(std::string_view written) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (error != std::errc{} || end != written.data() + written.size()) return std::nullopt;
  return value;
}

/// Returns the text as a value of the type; nothing if it is not valid input (class 22).
std::optional<Value> try_input(FunctionContext& context, TypeId type, std::string_view text) {
  try {
    return input_text(context, type, kNoTypmod, text);
  } catch (const SqlError& error) {
    if (!error.state().code().starts_with("22")) throw;
    return std::nullopt;
  }
}

TypeId moment_type(PathOp op) {
  switch (op) {
    case PathOp::to_date:
      return TypeId::date;
    case PathOp::to_time:
      return TypeId::time;
    case PathOp::to_time_tz:
      return TypeId::timetz;
    case PathOp::to_timestamp:
      return TypeId::timestamp;
    default:
      return TypeId::timestamptz;
  }
}

bool is_converted(TypeId from, TypeId to) {
  switch (to) {
    case TypeId::date:
      return from == TypeId::timestamp || from == TypeId::timestamptz;
    case TypeId::time:
      return from == TypeId::timetz || from == TypeId::timestamp || from == TypeId::timestamptz;
    case TypeId::timetz:
      return from == TypeId::time || from == TypeId::timestamptz;
    case TypeId::timestamp:
      return from == TypeId::date || from == TypeId::timestamptz;
    default:
      return from == TypeId::date || from == TypeId::timestamp;
  }
}

bool carries_zone(TypeId type) noexcept {
  return type == TypeId::timetz || type == TypeId::timestamptz;
}

/// Returns the length of the time zone at the end of a text, "+01:00", "+01:00:30" or "+01"; 0
/// without one.
std::size_t zone_length(std::string_view text) {
  const auto sign = text.find_last_of("+-");
  return sign == std::string_view::npos ? 0 : text.size() - sign;
}

/// Returns the distance of a zone like "-01:30" from UTC.
std::int64_t zone_seconds(std::string_view zone) {
  constexpr std::int64_t kUnits[] = {3600, 60, 1};
  std::int64_t seconds = 0;
  std::size_t at = 1;
  for (const std::int64_t unit : kUnits) {
    if (at + 2 > zone.size()) break;
    seconds += unit * ((zone[at] - '0') * 10 + (zone[at + 1] - '0'));
    at += 3;
  }
  return zone.starts_with('-') ? -seconds : seconds;
}

/// Returns a moment's text in JSON's form, whose zone shows minutes. `before` is the text of the
/// value before its precision was reduced: its zone is kept.
std::string moment_text(FunctionContext& context, TypeId type, const Value& value,
                        std::string_view before) {
  std::string text;
  const std::size_t length = type == TypeId::timestamptz ? zone_length(before) : 0;
  if (length > 0) {
    constexpr std::int64_t kMicroseconds = 1'000'000;
    const std::string_view zone = before.substr(before.size() - length);
    json_scalar_text(context, TypeId::timestamp,
                     Value::from_int(value.as_int8() + zone_seconds(zone) * kMicroseconds), text);
    text += zone;
    return text;
  }
  json_scalar_text(context, type, value, text);
  constexpr std::size_t kHours = 3;  // "+01"
  if (type == TypeId::timetz && zone_length(text) == kHours) text += ":00";
  return text;
}

}  // namespace

void PathRun::add_variable(std::string_view name, TypeId type, const Value& value) {
  PathItem item;
  if (value.is_null()) {
    item = boolean(Truth::unknown);
  } else if (type == TypeId::json || type == TypeId::jsonb) {
    std::string& written = texts_.emplace_back(
        type == TypeId::json ? canonical_json(json_text(value)) : std::string{json_text(value)});
    item = made(take_json_apart(written, context_.arena.account()));
  } else if (type == TypeId::bool_) {
    item = boolean(value.as_bool() ? Truth::yes : Truth::no);
  } else if (is_time(type) && type != TypeId::interval) {
    item.moment = PathMoment{type, value, {}};
    // A variable has no zone of its own: it is told in UTC, whatever the session's is.
    item.moment->text = moment_text(context_, type, value, "+00:00");
  } else {
    std::string written;
    output_text(context_, type, value, written);
    const bool is_number = type == TypeId::numeric || type == TypeId::int2 ||
                           type == TypeId::int4 || type == TypeId::int8 || type == TypeId::float4 ||
                           type == TypeId::float8;
    item = is_number ? number(numeric_from_text(context_.arena, written)) : text(written);
  }
  named_.emplace_back(std::string{name}, std::move(item));
}

Value PathRun::whole_number(const PathNode& node, const PathItem& item) {
  const bool is_text = item.kind() == JsonKind::string && item.json != nullptr;
  if (item.kind() != JsonKind::number && !is_text) {
    fail(kBadConversion, method_name(node) + " can only be applied to a string or numeric value");
  }
  const bool is_small = node.op == PathOp::to_integer;
  const TypeId type = is_small ? TypeId::int4 : TypeId::int8;
  std::optional<Value> value;
  if (is_text) {
    value = try_input(context_, type, item.json->text);
  } else {
    try {
      value = Value::from_int(numeric_to_int(number_of(item), is_small ? INT32_MIN : INT64_MIN,
                                             is_small ? INT32_MAX : INT64_MAX,
                                             is_small ? "integer" : "bigint"));
    } catch (const SqlError& error) {
      if (!error.state().code().starts_with("22")) throw;
    }
  }
  if (value) return numeric_from_int(value->as_int8());
  fail(kBadConversion, fmt::format("argument \"{}\" of {} is invalid for type {}", item.json->text,
                                   method_name(node), is_small ? "integer" : "bigint"));
}

Value PathRun::decimal_number(const PathNode& node, const PathItem& item) {
  const bool is_text = item.kind() == JsonKind::string && item.json != nullptr;
  if (item.kind() != JsonKind::number && !is_text) {
    fail(kBadConversion, method_name(node) + " can only be applied to a string or numeric value");
  }
  const auto refuse = [&] {
    fail(kBadConversion, fmt::format("argument \"{}\" of {} is invalid for type numeric",
                                     item.json->text, method_name(node)));
  };
  const std::optional<Value> read = try_input(context_, TypeId::numeric, item.json->text);
  if (!read) refuse();
  std::string shown;
  append_numeric(shown, *read);
  if (shown == "NaN" || shown.ends_with("Infinity")) {
    fail(kBadConversion, "NaN or Infinity is not allowed for " + method_name(node));
  }
  if (node.text.empty()) return *read;
  const auto precision = small_integer(node.text);
  if (!precision) {
    fail(kBadConversion,
         fmt::format("precision of {} is out of range for type integer", method_name(node)));
  }
  const auto scale = node.flags.empty() ? std::optional{0} : small_integer(node.flags);
  if (!scale) {
    fail(kBadConversion,
         fmt::format("scale of {} is out of range for type integer", method_name(node)));
  }
  constexpr std::int32_t kMostDigits = 1000;
  if (*precision < 1 || *precision > kMostDigits) {
    fail(sqlstate::invalid_parameter_value,
         fmt::format("NUMERIC precision {} must be between 1 and {}", *precision, kMostDigits));
  }
  if (*scale < -kMostDigits || *scale > kMostDigits) {
    fail(sqlstate::invalid_parameter_value,
         fmt::format("NUMERIC scale {} must be between {} and {}", *scale, -kMostDigits,
                     kMostDigits));
  }
  constexpr std::int32_t kScaleBits = 0x7ff;
  constexpr std::int32_t kHeader = 4;
  const std::int32_t typmod = ((*precision << 16) | (*scale & kScaleBits)) + kHeader;
  try {
    return coerce_length(context_, TypeId::numeric, typmod, *read, Coercion::assignment);
  } catch (const SqlError& error) {
    if (!error.state().code().starts_with("22")) throw;
  }
  refuse();
  return {};
}

PathRun::Truth PathRun::truth_of(const PathNode& node, const PathItem& item) {
  std::optional<Value> value;
  if (item.kind() == JsonKind::boolean) {
    value = Value::from_bool(item.json->text == "true");
  } else if (item.kind() == JsonKind::number) {
    if (const auto number = try_input(context_, TypeId::int4, item.json->text)) {
      value = Value::from_bool(number->as_int8() != 0);
    }
  } else if (item.kind() == JsonKind::string && item.json != nullptr) {
    value = try_input(context_, TypeId::bool_, item.json->text);
  } else {
    fail(kBadConversion,
         method_name(node) + " can only be applied to a boolean, string, or numeric value");
  }
  if (value) return value->as_bool() ? Truth::yes : Truth::no;
  fail(kBadConversion, fmt::format("argument \"{}\" of {} is invalid for type boolean",
                                   item.json->text, method_name(node)));
}

std::string PathRun::string_of(const PathNode& node, const PathItem& item) {
  if (item.moment) return item.moment->text;
  const JsonKind kind = item.kind();
  if (kind == JsonKind::string || kind == JsonKind::number || kind == JsonKind::boolean) {
    return item.json->text;
  }
  fail(kBadConversion,
       method_name(node) + " can only be applied to a boolean, string, numeric, or datetime value");
}

PathMoment PathRun::moment_of(const PathNode& node, const PathItem& item) {
  if (item.kind() != JsonKind::string || item.json == nullptr) {
    fail(kNoMoment, method_name(node) + " can only be applied to a string");
  }
  std::optional<std::int32_t> precision;
  if (!node.text.empty()) {
    precision = small_integer(node.text);
    if (!precision) {
      fail(kNoMoment,
           fmt::format("time precision of {} is out of range for type integer", method_name(node)));
    }
  }
  std::optional<PathMoment> read = read_path_moment(context_, item.json->text);
  const TypeId type = moment_type(node.op);
  if (!read || (read->type != type && !is_converted(read->type, type))) {
    fail(kNoMoment,
         fmt::format("{} format is not recognized: \"{}\"", path_method(node.op), item.json->text));
  }
  if (read->type != type) {
    const bool needs_zone = carries_zone(read->type) != carries_zone(type);
    if (needs_zone && zones_ == Zones::refused) {
      throw sql_error(sqlstate::feature_not_supported,
                      "cannot convert value from {} to {} without time zone usage",
                      type_info(read->type).name, type_info(type).name)
          .with_hint("Use *_tz() function for time zone support.");
    }
    const auto cast = find_cast(read->type, type, CastContext::explicit_cast);
    if (!cast || cast->function == nullptr) {
      throw_error(sqlstate::feature_not_supported, "no conversion from {} to {}",
                  type_info(read->type).name, type_info(type).name);
    }
    read->value = cast->function->scalar(context_, {&read->value, 1});
    read->type = type;
    read->text.clear();
  }
  if (precision) {
    constexpr std::int32_t kMostDigits = 6;
    read->value = coerce_length(context_, type, std::min(*precision, kMostDigits), read->value,
                                Coercion::assignment);
    read->text = moment_text(context_, type, read->value, read->text);
  }
  if (read->text.empty()) read->text = moment_text(context_, type, read->value, {});
  return *read;
}

void PathRun::run_conversion(const PathNode& node, const PathItem& item, PathItems& found) {
  switch (node.op) {
    case PathOp::to_bigint:
    case PathOp::to_integer:
      return next(node, number(whole_number(node, item)), found);
    case PathOp::to_number:
    case PathOp::to_decimal:
      return next(node, number(decimal_number(node, item)), found);
    case PathOp::to_boolean:
      return next(node, boolean(truth_of(node, item)), found);
    case PathOp::to_string:
      return next(node, text(string_of(node, item)), found);
    default:
      return next(node, {nullptr, moment_of(node, item)}, found);
  }
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/types/functions/datetime/datetime_unit.h"

#include <string>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

std::string lower_case(std::string_view text) {
  std::string out{text};
  for (char& c : out) c = to_lower(c);
  return out;
}

}  // namespace

DateTimeUnit find_datetime_unit(std::string_view spelled) {
  const std::string name = lower_case(spelled);
  const DateTimeUnit length = find_interval_unit(name);
  if (length != DateTimeUnit::unknown) return length;
  constexpr std::pair<std::string_view, DateTimeUnit> kNames[] = {
      {"isoyear", DateTimeUnit::isoyear},
      {"dow", DateTimeUnit::dow},
      {"isodow", DateTimeUnit::isodow},
      {"doy", DateTimeUnit::doy},
      {"julian", DateTimeUnit::julian},
      {"jd", DateTimeUnit::julian},
      {"j", DateTimeUnit::julian},
      {"epoch", DateTimeUnit::epoch},
      {"timezone", DateTimeUnit::timezone},
      {"timezone_hour", DateTimeUnit::timezone_hour},
      {"timezone_h", DateTimeUnit::timezone_hour},
      {"timezone_minute", DateTimeUnit::timezone_minute},
      {"timezone_m", DateTimeUnit::timezone_minute}};
  for (const auto& [text, field] : kNames)
    if (text == name) return field;
  return DateTimeUnit::unknown;
}

void refuse_datetime_unit(std::string_view name, DateTimeUnit field, TypeId type) {
  const std::string lower = lower_case(name);
  if (field == DateTimeUnit::unknown)
    throw_error(sqlstate::invalid_parameter_value, "unit \"{}\" not recognized for type {}", lower,
                format_type(type));
  throw_error(sqlstate::feature_not_supported, "unit \"{}\" not supported for type {}", lower,
              format_type(type));
}

}  // namespace swizzle::sql

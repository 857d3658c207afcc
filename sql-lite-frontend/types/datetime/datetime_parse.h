#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql {

/// Token of a date, time or interval text.
struct DateTimeToken {
  enum class Kind : std::uint8_t {
    number,   ///< digits, perhaps with a fraction
    date,     ///< with '-', '/' or '.' inside
    time,     ///< with ':'
    word,     ///< letters
    zone,     ///< a sign and digits
    special,  ///< a sign and letters: "-infinity"
  };
  Kind kind;
  std::string text;  ///< lower case
};

/// Splits a text into tokens. Nothing if it contains an invalid character.
std::optional<std::vector<DateTimeToken>> tokenize_date_time(std::string_view text);

/// Reason for a failed parse; throw_date_time_error() turns it into an error.
enum class DateTimeFault : std::uint8_t {
  bad_format,
  field_overflow,
  month_day_overflow,  ///< perhaps a matter of DateStyle
  interval_overflow,
  zone_overflow,
};
[[noreturn]] void throw_date_time_error(DateTimeFault fault, std::string_view text,
                                        std::string_view type_name);

struct ParsedDateTime {
  enum class Kind : std::uint8_t { fields, infinity, minus_infinity, epoch };
  Kind kind = Kind::fields;
  bool has_date = false;
  bool has_time = false;
  CivilDate date;
  TimeOfDay time;
  /// The time zone in the text: one of these, or neither.
  std::optional<std::int32_t> seconds_east;
  std::shared_ptr<const TimeZone> zone;
  std::optional<ZoneAbbreviation> abbreviation;  ///< instead of `zone`: its meaning has changed
};

/// Parses a text as PostgreSQL's date and timestamp input does. `type_name` is for messages.
ParsedDateTime parse_date_time(FunctionContext& context, std::string_view text,
                               std::string_view type_name);
/// Parses as time input does: the date is optional.
ParsedDateTime parse_time(FunctionContext& context, std::string_view text,
                          std::string_view type_name);

/// Returns the session's time zone.
const TimeZone& session_zone(const FunctionContext& context) noexcept;
/// Returns the transaction's start in the session's local time.
std::int64_t local_transaction_time(const FunctionContext& context) noexcept;

/// Parses "+02", "-08:30", "+05:30:15", "+0530" to seconds east. Nothing if it is no offset; does
/// not throw.
std::optional<std::int32_t> parse_zone_offset(std::string_view text) noexcept;

/// Parses an interval. `typmod` names the field of a bare number ("5" as INTERVAL HOUR).
Interval parse_interval(FunctionContext& context, std::string_view text, std::int32_t typmod);

}  // namespace swizzle::sql

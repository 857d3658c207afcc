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

/// One piece of a date, time or interval text.
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

/// Cuts a text into tokens. Nothing if a character has no place in one.
std::optional<std::vector<DateTimeToken>> tokenize_date_time(std::string_view text);

/// Reason of a failed read; throw_date_time_error() turns it into an error.
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
  /// The zone in the text; neither if there is none.
  std::optional<std::int32_t> seconds_east;
  std::shared_ptr<const TimeZone> zone;
  const ZoneAbbreviation* abbreviation = nullptr;  ///< instead of `zone`: its meaning has changed
};

/// Reads a text as PostgreSQL's date and timestamp input does. `type_name` is for messages.
ParsedDateTime parse_date_time(FunctionContext& context, std::string_view text,
                               std::string_view type_name);
/// Reads as time input does: a date may be missing.
ParsedDateTime parse_time(FunctionContext& context, std::string_view text,
                          std::string_view type_name);

/// Zone and offset of "now" in the session.
const TimeZone& session_zone(const FunctionContext& context) noexcept;
/// The transaction's start on the session's clock.
std::int64_t local_transaction_time(const FunctionContext& context) noexcept;

/// "+02", "-08:30", "+05:30:15", "+0530": seconds east. Nothing if it is not one; throws nothing.
std::optional<std::int32_t> parse_zone_offset(std::string_view text) noexcept;

/// Reads an interval. `typmod` names the field of a bare number ("5" as INTERVAL HOUR).
Interval parse_interval(FunctionContext& context, std::string_view text, std::int32_t typmod);

}  // namespace swizzle::sql

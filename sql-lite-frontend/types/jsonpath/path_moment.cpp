// Input of .datetime(): by a template, or else in the ISO forms that SQL/JSON names, matched as
// PostgreSQL's templates for them match.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/datetime/datetime_format.h"
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime/datetime_reader.h"
#include "sql-lite-frontend/types/jsonpath/path_run.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

struct Date {
  int year = 0;
  int month = 0;
  int day = 0;
};
struct Time {
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::string_view fraction = {};  ///< its digits
};
struct Zone {
  char sign = '+';
  int hour = 0;
  int minute = 0;
  std::optional<ZoneAbbreviation> abbreviation = {};  ///< in place of the others
};

class MomentReader {
 public:
  MomentReader(std::string_view text, const TimeZone& session) : rest_(text), session_(session) {}

  /// Skips blanks; returns true at the end of the text.
  [[nodiscard]] bool at_end() {
    after_blank_ = rest_.starts_with(' ');
    skip_blanks();
    return rest_.empty();
  }
  /// Reads a date. Consumes nothing if there is none.
  std::optional<Date> date() {
    const std::string_view before = rest_;
    const auto year = number();
    const auto month = year && take('-') ? number() : std::nullopt;
    const auto day = month && take('-') ? number() : std::nullopt;
    if (day) return Date{*year, *month, *day};
    rest_ = before;
    return std::nullopt;
  }
  bool joint() { return after_blank_ || take('T'); }
  std::optional<Time> time() {
    const auto hour = number();
    const auto minute = hour && take(':') ? number() : std::nullopt;
    const auto second = minute && take(':') ? number() : std::nullopt;
    if (!second) return std::nullopt;
    Time time{*hour, *minute, *second};
    if (take('.')) {
      constexpr std::size_t kMost = 6;
      std::size_t digits = 0;
      while (digits < rest_.size() && is_digit(rest_[digits])) ++digits;
      if (digits == 0 || digits > kMost) return std::nullopt;
      time.fraction = rest_.substr(0, digits);
      rest_.remove_prefix(digits);
    }
    return time;
  }
  /// Reads a zone. As in PostgreSQL, a blank stands for the sign +.
  std::optional<Zone> zone() {
    Zone zone;
    std::size_t letters = 0;
    while (letters < rest_.size() && is_alpha(rest_[letters])) ++letters;
    if (letters > 0) {
      if (after_blank_) return std::nullopt;
      zone.abbreviation = find_zone_abbreviation(session_, rest_.substr(0, letters));
      if (!zone.abbreviation) return std::nullopt;
      rest_.remove_prefix(letters);
      return zone;
    }
    if (!after_blank_ && take('-')) {
      zone.sign = '-';
    } else if (!after_blank_ && !take('+')) {
      return std::nullopt;
    }
    const auto hour = number();
    if (!hour) return std::nullopt;
    zone.hour = *hour;
    if (!take(':')) return zone;
    const auto minute = number();
    if (!minute) return std::nullopt;
    zone.minute = *minute;
    return zone;
  }

 private:
  void skip_blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<int> number() {
    constexpr std::size_t kMost = 8;
    skip_blanks();
    std::string_view text = rest_;
    if (text.starts_with('+')) text.remove_prefix(1);
    std::size_t digits = 0;
    int value = 0;
    for (; digits < text.size() && is_digit(text[digits]); ++digits) {
      if (digits == kMost) return std::nullopt;
      value = value * 10 + (text[digits] - '0');
    }
    if (digits == 0) return std::nullopt;
    rest_ = text.substr(digits);
    return value;
  }

  std::string_view rest_;
  const TimeZone& session_;
  bool after_blank_ = false;
};

bool is_valid(const Time& time) noexcept {
  return time.hour < 24 && time.minute < 60 && time.second < 60;
}
bool is_valid(const Zone& zone) noexcept {
  return zone.hour < 16 && zone.minute < 60;
}

std::string shown(const Time& time) {
  std::string text = fmt::format("{:02}:{:02}:{:02}", time.hour, time.minute, time.second);
  const std::size_t digits = time.fraction.find_last_not_of('0') + 1;
  if (digits != 0) text.append(".").append(time.fraction.substr(0, digits));
  return text;
}
std::string shown_offset(std::int32_t seconds_east) {
  const std::int32_t minutes = std::abs(seconds_east) / 60;
  return fmt::format("{}{:02}:{:02}", seconds_east < 0 ? '-' : '+', minutes / 60, minutes % 60);
}
std::string shown(const Zone& zone) {
  return fmt::format("{}{:02}:{:02}", zone.sign, zone.hour, zone.minute);
}

/// Returns the offset that an abbreviation has at a time that is written without it.
std::int32_t offset_at(FunctionContext& context, const ZoneAbbreviation& abbreviation,
                       std::string_view text, bool has_date) {
  if (abbreviation.zone.empty() || !has_date) return abbreviation.seconds_east;
  try {
    const Value local = input_text(context, TypeId::timestamp, kNoTypmod, text);
    return abbreviation.at_local(local.as_int8());
  } catch (const SqlError&) {
    return abbreviation.seconds_east;  // its text is no moment either
  }
}

}  // namespace

std::optional<PathMoment> read_path_moment(FunctionContext& context, std::string_view text) {
  MomentReader reader{text, session_zone(context)};
  const auto date = reader.date();
  std::string shown_text;
  std::string_view era;
  TypeId type = TypeId::date;
  if (date) {
    // Year 0 is 1 BC.
    shown_text =
        fmt::format("{:04}-{:02}-{:02}", date->year == 0 ? 1 : date->year, date->month, date->day);
    if (date->year == 0) era = " BC";
  }
  if (!date || !reader.at_end()) {
    if (date && !reader.joint()) return std::nullopt;
    const auto time = reader.time();
    if (!time || !is_valid(*time)) return std::nullopt;
    if (date) shown_text += 'T';
    shown_text += shown(*time);
    type = date ? TypeId::timestamp : TypeId::time;
    if (!reader.at_end()) {
      const auto zone = reader.zone();
      if (!zone || !is_valid(*zone) || !reader.at_end()) return std::nullopt;
      shown_text += zone->abbreviation
                        ? shown_offset(offset_at(context, *zone->abbreviation,
                                                 shown_text + std::string{era}, date.has_value()))
                        : shown(*zone);
      type = date ? TypeId::timestamptz : TypeId::timetz;
    }
  }
  shown_text += era;
  try {
    const Value value = input_text(context, type, kNoTypmod, shown_text);
    return PathMoment{type, value, std::move(shown_text)};
  } catch (const SqlError&) {
    return std::nullopt;
  }
}

namespace {

/// Returns the type that the fields of a template make.
TypeId type_of_fields(const ReadMoment& read) {
  if (read.has_date && read.has_time)
    return read.has_zone ? TypeId::timestamptz : TypeId::timestamp;
  if (read.has_time) return read.has_zone ? TypeId::timetz : TypeId::time;
  if (!read.has_date) {
    throw SqlError{sqlstate::invalid_datetime_format, "datetime format is not dated and not timed"};
  }
  if (read.has_zone)
    throw SqlError{sqlstate::invalid_datetime_format, "datetime format is zoned but not timed"};
  return TypeId::date;
}

PathMoment moment_of(FunctionContext& context, std::string_view text, const ReadMoment& read) {
  const TypeId type = type_of_fields(read);
  if (read.has_zone && !read.seconds_east) {
    throw_error(sqlstate::invalid_datetime_format, "missing time zone in input string for type {}",
                type_info(type).name);
  }
  const auto require = [&](bool fits) {
    if (fits) return;
    if (type == TypeId::date)
      throw_error(sqlstate::datetime_field_overflow, "date out of range: \"{}\"", text);
    throw_error(sqlstate::datetime_field_overflow, "{} out of range", type_info(type).name);
  };
  const std::int64_t west =
      read.has_zone ? -std::int64_t{*read.seconds_east} * kMicrosPerSecond : 0;
  std::string shown;
  if (read.has_date) {
    std::int64_t days = read.days;
    std::int64_t time = 0;
    if (read.has_time) {
      const std::optional<std::int64_t> read_time = read.timestamp();
      require(read_time && is_valid_timestamp(*read_time) && is_valid_timestamp(*read_time + west));
      const std::int64_t local = round_micros(*read_time, read.precision);
      days = floor_div(local, kMicrosPerDay);
      time = floor_mod(local, kMicrosPerDay);
    } else {
      require(is_valid_date(days));
    }
    const CivilDate date = civil_from_days(days);
    shown = fmt::format("{:04}-{:02}-{:02}", date.year > 0 ? date.year : 1 - date.year, date.month,
                        date.day);
    if (read.has_time) {
      shown += 'T';
      append_time(shown, time);
    }
    if (read.has_zone) shown += shown_offset(*read.seconds_east);
    if (date.year <= 0) shown += " BC";
  } else {
    append_time(shown, round_micros(read.time, read.precision));
    if (read.has_zone) shown += shown_offset(*read.seconds_east);
  }
  const Value value = input_text(context, type, kNoTypmod, shown);
  return {type, value, std::move(shown)};
}

/// True for errors of the value, which become a PathFailure; others, such as cancel, are thrown on.
bool is_about_value(const SqlError& error) {
  const SqlState state = error.state();
  return state.code().starts_with("22") || state == sqlstate::feature_not_supported;
}

}  // namespace

PathMoment read_path_moment(FunctionContext& context, std::string_view text,
                            std::string_view format) {
  const TemplateNodes nodes =
      parse_datetime_template(format, context.arena.account(), TemplateRules::standard);
  try {
    return moment_of(context, text,
                     read_by_template(text, nodes, TemplateRules::standard, session_zone(context)));
  } catch (SqlError& error) {
    if (!is_about_value(error)) throw;
    throw PathFailure{std::move(error)};
  }
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/types/datetime/datetime_parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Kind = DateTimeToken::Kind;

constexpr std::int32_t kMaxZoneHours = 15;

std::int64_t to_number(std::string_view digits) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error != std::errc{} || out > INT32_MAX) throw DateTimeFault::field_overflow;
  return out;
}

/// ".789" in microseconds, rounded.
std::int64_t fraction_micros(std::string_view fraction) {
  if (fraction.size() <= 1) return 0;
  double value = 0;
  const std::string text = "0" + std::string{fraction};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) throw DateTimeFault::bad_format;
  return std::llrint(value * 1e6);
}

int month_from_word(std::string_view word) {
  for (int month = 1; month <= 12; ++month) {
    const std::string_view name = month_name(month);
    if (equals_ignoring_case(word, name) || equals_ignoring_case(word, name.substr(0, 3)))
      return month;
  }
  return word == "sept" ? 9 : 0;
}

bool is_weekday(std::string_view word) {
  for (int day = 0; day < 7; ++day) {
    const std::string_view name = weekday_name(day);
    if (equals_ignoring_case(word, name) || equals_ignoring_case(word, name.substr(0, 3)))
      return true;
  }
  return word == "tues" || word == "weds" || word == "thur" || word == "thurs";
}

/// Collects the fields of one text. Throws DateTimeFault.
class Parser {
 public:
  Parser(FunctionContext& context, std::string_view text) : context_{context}, text_{text} {}

  ParsedDateTime parse(bool date_required) {
    time_only_ = !date_required;
    auto tokens = tokenize_date_time(text_);
    if (!tokens || tokens->empty()) throw DateTimeFault::bad_format;
    for (std::size_t i = 0; i < tokens->size(); ++i) take((*tokens)[i], i + 1 == tokens->size());
    if (out_.kind != ParsedDateTime::Kind::fields) return out_;
    finish(date_required);
    return out_;
  }

 private:
  void take(const DateTimeToken& token, bool last) {
    switch (token.kind) {
      case Kind::date:
        return take_date_token(token.text);
      case Kind::time:
        if (prefix_ == 't') prefix_ = 0;
        return take_time(token.text);
      case Kind::zone:
        return take_zone(token.text, last);
      case Kind::number:
        return take_number_token(token.text);
      case Kind::word:
        return take_word(token.text);
      case Kind::special:
        if (token.text == "-infinity") return set_kind(ParsedDateTime::Kind::minus_infinity);
        if (token.text == "+infinity") return set_kind(ParsedDateTime::Kind::infinity);
        throw DateTimeFault::bad_format;
    }
  }

  [[nodiscard]] bool has_whole_date() const { return has_year_ && has_month_ && has_day_; }

  void set_kind(ParsedDateTime::Kind kind) {
    if (out_.has_time || has_year_ || has_month_ || has_day_) throw DateTimeFault::bad_format;
    out_.kind = kind;
    // Neither a time nor a zone may follow.
    has_year_ = has_month_ = has_day_ = out_.has_time = true;
    out_.seconds_east = 0;
  }

  void take_date_token(std::string_view text) {
    if (!has_whole_date() && prefix_ == 0 && !looks_like_zone(text)) return take_date(text);
    if (prefix_ == 'j' && is_digit(text.front())) {
      // "J2452271-08": a day's number with a zone.
      const std::size_t dash = text.find('-');
      if (dash == std::string_view::npos) throw DateTimeFault::bad_format;
      take_number_token(text.substr(0, dash));
      return take_zone(text.substr(dash), true);
    }
    if (is_digit(text.front()) || prefix_ != 0) {
      // "hhmmss-08": a run-together time with its zone.
      prefix_ = 0;
      const std::size_t dash = text.find('-');
      if (dash == std::string_view::npos || out_.has_time) throw DateTimeFault::bad_format;
      take_run_together(text.substr(0, dash));
      return take_zone(text.substr(dash), true);
    }
    take_zone_name(text);
  }

  // A date token that starts with letters is a date only if they name a month.
  [[nodiscard]] static bool looks_like_zone(std::string_view text) {
    if (!is_alpha(text.front())) return false;
    std::size_t size = 0;
    while (size < text.size() && is_alpha(text[size])) ++size;
    return month_from_word(text.substr(0, size)) == 0;
  }

  void take_zone_name(std::string_view name) {
    if (out_.zone || out_.seconds_east) throw DateTimeFault::bad_format;
    out_.zone = TimeZone::find(name);
    if (!out_.zone)
      throw_error(sqlstate::invalid_parameter_value, "time zone \"{}\" not recognized", name);
  }

  void take_date(std::string_view text) {
    std::vector<std::string_view> fields;
    std::size_t at = 0;
    while (at < text.size()) {
      std::size_t end = at;
      if (is_digit(text[at]))
        while (end < text.size() && is_digit(text[end])) ++end;
      else if (is_alpha(text[at]))
        while (end < text.size() && is_alpha(text[end])) ++end;
      if (end > at)
        fields.push_back(text.substr(at, end - at));
      else
        ++end;
      at = end;
    }
    // "1999-08-Jan" ends after its second number.
    const bool ends_in_field = is_digit(text.back()) || is_alpha(text.back());
    if (fields.size() > 3 || !ends_in_field) throw DateTimeFault::bad_format;
    for (auto& field : fields) {
      if (!is_alpha(field.front())) continue;
      const int month = month_from_word(field);
      if (month == 0 || has_month_) throw DateTimeFault::bad_format;
      set_month(month);
      text_month_ = true;
      field = {};
    }
    for (const auto field : fields)
      if (!field.empty()) take_number(field, {});
  }

  void take_number_token(std::string_view text) {
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view fraction =
        point == std::string_view::npos ? std::string_view{} : text.substr(point);
    if (prefix_ == 'j') {
      prefix_ = 0;
      if (has_year_ || has_month_ || has_day_) throw DateTimeFault::bad_format;
      const std::int64_t julian = to_number(whole);
      set_date(civil_from_days(julian - kJulianEpoch));
      if (fraction.size() > 1) set_time(fraction_micros(fraction) * 86400);
      return;
    }
    if (prefix_ == 't') {
      prefix_ = 0;
      return take_run_together_time(whole, fraction);
    }
    if (time_only_ && !has_whole_date() && !out_.has_time &&
        (whole.size() == 4 || whole.size() == 6))
      return take_run_together_time(whole, fraction);
    if (whole.size() == 4 && fraction.size() == 4 && !has_year_ && !has_month_ && !has_day_) {
      // "1999.008": a year and the day in it.
      set_year(to_number(whole), 4);
      return take_number(fraction.substr(1), {});
    }
    if (!fraction.empty()) {
      // "20010203.040506" or, once there is a date, "040506.789".
      if (!has_whole_date() && whole.size() >= 6)
        return take_date_digits(whole), take_run_together_time(fraction.substr(1), {});
      if (has_whole_date() && !out_.has_time) return take_run_together_time(whole, fraction);
      return take_number(whole, fraction);
    }
    if (whole.size() > 4 && !has_whole_date() && !has_year_ && !has_month_ && !has_day_) {
      if (whole.size() == 5) return take_number(whole, {});
      return take_date_digits(whole);
    }
    if (has_whole_date() && !out_.has_time && (whole.size() == 4 || whole.size() == 6))
      return take_run_together_time(whole, {});
    take_number(whole, fraction);
  }

  void take_run_together(std::string_view text) {
    const std::size_t point = text.find('.');
    take_run_together_time(text.substr(0, point),
                           point == std::string_view::npos ? "" : text.substr(point));
  }

  // yyyymmdd, yymmdd.
  void take_date_digits(std::string_view digits) {
    if (digits.size() < 6) throw DateTimeFault::bad_format;
    const std::size_t size = digits.size();
    set_day(static_cast<int>(to_number(digits.substr(size - 2))));
    set_month(static_cast<int>(to_number(digits.substr(size - 4, 2))));
    set_year(to_number(digits.substr(0, size - 4)), size - 4);
  }

  // hhmmss, hhmm.
  void take_run_together_time(std::string_view digits, std::string_view fraction) {
    if (out_.has_time) throw DateTimeFault::bad_format;
    TimeOfDay time;
    if (digits.size() == 6) time.second = static_cast<int>(to_number(digits.substr(4, 2)));
    if (digits.size() == 6 || digits.size() == 4) {
      time.hour = static_cast<int>(to_number(digits.substr(0, 2)));
      time.minute = static_cast<int>(to_number(digits.substr(2, 2)));
    } else {
      throw DateTimeFault::bad_format;
    }
    time.microsecond = static_cast<int>(fraction_micros(fraction));
    set_time_fields(time);
  }

  void take_number(std::string_view digits, std::string_view fraction) {
    if (!fraction.empty()) throw DateTimeFault::bad_format;
    const std::int64_t value = to_number(digits);
    // "2001-103": a day of the year.
    if (digits.size() == 3 && has_year_ && !has_month_ && !has_day_ && value >= 1 && value <= 366) {
      day_of_year_ = static_cast<int>(value);
      has_month_ = has_day_ = true;
      return;
    }
    const DateOrder order = context_.session.format.date_order;
    if (!has_year_ && !has_month_ && !has_day_) {
      if (digits.size() >= 3 || order == DateOrder::ymd) return set_year(value, digits.size());
      if (order == DateOrder::dmy) return set_day(static_cast<int>(value));
      return set_month(static_cast<int>(value));
    }
    if (has_year_ && !has_month_ && !has_day_) return set_month(static_cast<int>(value));
    if (!has_year_ && has_month_ && !has_day_) {
      if (text_month_ && (digits.size() >= 3 || order == DateOrder::ymd))
        return set_year(value, digits.size());
      return set_day(static_cast<int>(value));
    }
    if (has_year_ && has_month_ && !has_day_) {
      if (text_month_ && digits.size() >= 3 && two_digit_year_) {
        // "01-Feb-2003" with YMD: the number parsed as year is the day.
        set_day(static_cast<int>(out_.date.year));
        has_year_ = false;
        return set_year(value, digits.size());
      }
      return set_day(static_cast<int>(value));
    }
    if (!has_year_ && !has_month_ && has_day_) return set_month(static_cast<int>(value));
    if (!has_year_) return set_year(value, digits.size());
    if (has_whole_date() && !out_.has_time && (digits.size() == 4 || digits.size() == 6))
      return take_run_together_time(digits, {});
    throw DateTimeFault::bad_format;
  }

  void set_year(std::int64_t year, std::size_t digits) {
    if (has_year_) throw DateTimeFault::bad_format;
    out_.date.year = year;
    two_digit_year_ = digits <= 2;
    has_year_ = true;
  }
  void set_month(int month) {
    if (has_month_) throw DateTimeFault::bad_format;
    out_.date.month = month;
    has_month_ = true;
  }
  void set_day(int day) {
    if (has_day_) throw DateTimeFault::bad_format;
    out_.date.day = day;
    has_day_ = true;
  }
  void set_date(const CivilDate& date) {
    if (has_year_ || has_month_ || has_day_) throw DateTimeFault::bad_format;
    out_.date = date;
    has_year_ = has_month_ = has_day_ = true;
    exact_year_ = true;
  }
  void set_time(std::int64_t micros) { set_time_fields(time_from_micros(micros)); }
  void set_time_fields(const TimeOfDay& time) {
    if (out_.has_time) throw DateTimeFault::bad_format;
    out_.time = time;
    out_.has_time = true;
  }

  void take_time(std::string_view text) {
    TimeOfDay time;
    int* parts[] = {&time.hour, &time.minute, &time.second};
    std::size_t part = 0;
    std::size_t at = 0;
    while (true) {
      std::size_t end = at;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end == at || part == 3) throw DateTimeFault::bad_format;
      const std::int64_t number = to_number(text.substr(at, end - at));
      *parts[part++] = static_cast<int>(number);
      at = end;
      if (at == text.size()) break;
      if (text[at] == '.') {
        // "mm:ss.f" is how an interval reads it; a time of day has hours first.
        if (part == 2) {
          time.second = time.minute;
          time.minute = time.hour;
          time.hour = 0;
        } else if (part != 3) {
          throw DateTimeFault::bad_format;
        }
        const std::int64_t micros = fraction_micros(text.substr(at));
        time.microsecond = static_cast<int>(micros);
        break;
      }
      ++at;
      if (at == text.size()) {  // a trailing colon
        if (part == 1) throw DateTimeFault::bad_format;
        break;
      }
    }
    if (part == 1) throw DateTimeFault::bad_format;
    if (time.minute > 59 || time.second > 60) throw DateTimeFault::field_overflow;
    set_time_fields(time);
  }

  void take_zone(std::string_view text, bool) {
    if (out_.zone || out_.seconds_east) throw DateTimeFault::bad_format;
    const auto offset = parse_zone_offset(text);
    if (!offset) throw DateTimeFault::bad_format;
    if (std::abs(*offset) > (kMaxZoneHours + 1) * 3600 - 1) throw DateTimeFault::zone_overflow;
    if (!out_.has_time && !has_whole_date()) throw DateTimeFault::bad_format;
    out_.seconds_east = offset;
  }

  void take_word(std::string_view word) {
    if (word == "j" || word == "jd" || word == "julian") return set_prefix('j');
    if (word == "t") return set_prefix('t');
    if (take_relative(word)) return;
    if (word == "infinity") return set_kind(ParsedDateTime::Kind::infinity);
    if (word == "epoch") return set_kind(ParsedDateTime::Kind::epoch);
    if (word == "am" || word == "pm") {
      meridiem_ = word[0];
      return;
    }
    if (word == "ad" || word == "bc") {
      before_christ_ = word[0] == 'b';
      return;
    }
    if (word == "at" || word == "on" || is_weekday(word)) return;
    if (word == "dst" && out_.seconds_east) {
      *out_.seconds_east += 3600;
      return;
    }
    if (const int month = month_from_word(word)) {
      // "01 Feb 2003" under MDY: the number before was the day.
      if (has_month_ && !text_month_ && !has_day_) {
        const int day = out_.date.month;
        has_month_ = false;
        set_day(day);
      }
      set_month(month);
      text_month_ = true;
      return;
    }
    if (const auto zone = find_zone_abbreviation(session_zone(context_), word)) {
      if (out_.zone || out_.seconds_east) throw DateTimeFault::bad_format;
      out_.seconds_east = zone->seconds_east;
      if (!zone->zone.empty()) out_.abbreviation = *zone;
      return;
    }
    if (word == "allballs") {
      set_time(0);
      out_.seconds_east = 0;
      return;
    }
    if (auto zone = TimeZone::find(word)) {
      if (out_.zone || out_.seconds_east) throw DateTimeFault::bad_format;
      out_.zone = std::move(zone);
      return;
    }
    throw DateTimeFault::bad_format;
  }

  void set_prefix(char prefix) {
    if (prefix_ != 0) throw DateTimeFault::bad_format;
    prefix_ = prefix;
  }

  bool take_relative(std::string_view word) {
    const bool now = word == "now";
    if (!now && word != "today" && word != "tomorrow" && word != "yesterday") return false;
    const std::int64_t local = local_transaction_time(context_);
    std::int64_t day = floor_div(local, kMicrosPerDay);
    if (word == "tomorrow") ++day;
    if (word == "yesterday") --day;
    set_date(civil_from_days(day));
    if (now) {
      set_time(floor_mod(local, kMicrosPerDay));
      const auto offset = session_zone(context_).at_utc(context_.session.transaction_timestamp);
      out_.seconds_east = offset.seconds_east;
    } else {
      relative_day_ = true;
    }
    return true;
  }

  void finish(bool date_required) {
    if (prefix_ != 0) throw DateTimeFault::bad_format;
    if (has_whole_date()) {
      out_.has_date = true;
      check_date();
    } else if (date_required || has_year_ || has_month_ || has_day_) {
      throw DateTimeFault::bad_format;
    }
    if (time_only_ && !out_.has_time) throw DateTimeFault::bad_format;
    if (meridiem_ != 0) apply_meridiem();
    const TimeOfDay& t = out_.time;
    if (t.hour > 24 || t.minute > 59 || t.second > 60 || micros_from_time(t) > kMicrosPerDay)
      throw DateTimeFault::field_overflow;
    // A zone with daylight saving time needs a date; see the caller.
  }

  void apply_meridiem() {
    if (!out_.has_time) throw DateTimeFault::bad_format;
    if (out_.time.hour > 12) throw DateTimeFault::field_overflow;
    if (meridiem_ == 'a' && out_.time.hour == 12) out_.time.hour = 0;
    if (meridiem_ == 'p' && out_.time.hour != 12) out_.time.hour += 12;
  }

  void check_date() {
    CivilDate& d = out_.date;
    if (!exact_year_) {
      if (before_christ_) {
        if (d.year <= 0) throw DateTimeFault::field_overflow;
        d.year = 1 - d.year;
      } else if (two_digit_year_) {
        d.year += d.year < 70 ? 2000 : 1900;
      } else if (d.year <= 0) {
        throw DateTimeFault::field_overflow;
      }
    }
    if (day_of_year_ > 0) {
      d = civil_from_days(days_from_civil({d.year, 1, 1}) + day_of_year_ - 1);
      return;
    }
    if (d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31)
      throw DateTimeFault::month_day_overflow;
    if (d.day > days_in_month(d.year, d.month)) throw DateTimeFault::field_overflow;
  }

  FunctionContext& context_;
  std::string_view text_;
  ParsedDateTime out_;
  bool has_year_ = false;
  bool has_month_ = false;
  bool has_day_ = false;
  bool text_month_ = false;
  bool two_digit_year_ = false;
  bool exact_year_ = false;
  bool before_christ_ = false;
  bool relative_day_ = false;
  bool time_only_ = false;
  int day_of_year_ = 0;
  char meridiem_ = 0;
  char prefix_ = 0;
};

}  // namespace

ParsedDateTime parse_date_time(FunctionContext& context, std::string_view text,
                               std::string_view type_name) {
  try {
    return Parser{context, text}.parse(true);
  } catch (DateTimeFault fault) {
    throw_date_time_error(fault, text, type_name);
  }
}

ParsedDateTime parse_time(FunctionContext& context, std::string_view text,
                          std::string_view type_name) {
  try {
    return Parser{context, text}.parse(false);
  } catch (DateTimeFault fault) {
    throw_date_time_error(fault, text, type_name);
  }
}

}  // namespace swizzle::sql

#include <algorithm>
#include <optional>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime_template.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i64 = std::int64_t;
using Keyword = TemplateNode::Keyword;

/// Reads a text by a template.
class Reader {
 public:
  Reader(std::string_view text, std::string_view format, MemoryAccount* account)
      : text_{text}, rest_{text}, nodes_{parse_datetime_template(format, account)} {}

  void read() {
    skip_space();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const TemplateNode& node = nodes_[i];
      if (node.keyword == Keyword::literal) {
        read_literal(node);
        continue;
      }
      if (rest_.empty()) break;
      next_is_digit_ = i + 1 < nodes_.size() && nodes_[i + 1].keyword != Keyword::literal &&
                       is_numeric(nodes_[i + 1].keyword);
      read_field(node);
      if (node.ordinal != TemplateNode::Ordinal::none)
        rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
    }
  }

  [[nodiscard]] i64 local_timestamp() const {
    i64 out = 0;
    if (__builtin_mul_overflow(days(), kMicrosPerDay, &out) ||
        __builtin_add_overflow(out, time(), &out))
      throw SqlError{sqlstate::datetime_field_overflow, "timestamp out of range"};
    return out;
  }
  [[nodiscard]] std::int32_t date() const { return checked_date(days()); }
  std::optional<std::int32_t> seconds_east;

 private:
  static bool is_numeric(Keyword keyword) {
    switch (keyword) {
      case Keyword::meridiem:
      case Keyword::meridiem_dotted:
      case Keyword::era:
      case Keyword::era_dotted:
      case Keyword::day_name:
      case Keyword::day_abbreviation:
      case Keyword::month_name:
      case Keyword::month_abbreviation:
      case Keyword::roman_month:
      case Keyword::zone_name:
      case Keyword::zone_hours:
      case Keyword::zone_offset:
        return false;
      default:
        return true;
    }
  }

  void skip_space() {
    while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
  }

  static bool is_separator(char c) {
    return c > ' ' && static_cast<unsigned char>(c) < 0x7f && !is_alpha(c) && !is_digit(c);
  }

  // A separator in the template stands for any separator, or none; letters stand for one character.
  void read_literal(const TemplateNode& node) {
    const char c = node.literal.empty() ? ' ' : node.literal[0];
    if (node.exact) {
      for (std::size_t i = 0; i < node.literal.size() && !rest_.empty(); ++i)
        rest_.remove_prefix(1);
    } else if (is_space(c) || is_separator(c)) {
      skip_space();
      if (!rest_.empty() && is_separator(rest_[0]) && !(rest_[0] == '-' && zone_follows()))
        rest_.remove_prefix(1);
      skip_space();
    } else if (!rest_.empty()) {
      rest_.remove_prefix(1);
    }
  }
  [[nodiscard]] static bool zone_follows() { return false; }

  i64 read_number(std::size_t width, std::string_view what) {
    skip_space();
    const std::string_view here = rest_;
    bool negative = false;
    if (!rest_.empty() && (rest_[0] == '-' || rest_[0] == '+')) {
      negative = rest_[0] == '-';
      rest_.remove_prefix(1);
    }
    std::size_t size = 0;
    i64 value = 0;
    const std::size_t limit = next_is_digit_ ? width : 9;
    while (size < rest_.size() && size < limit && is_digit(rest_[size]))
      value = value * 10 + (rest_[size++] - '0');
    if (size == 0)
      throw sql_error(sqlstate::invalid_datetime_format, "invalid value \"{}\" for \"{}\"",
                      here.substr(0, width), what)
          .with_detail("Value must be an integer.");
    digits_ = size;
    rest_.remove_prefix(size);
    return negative ? -value : value;
  }

  int read_name(std::string_view what, auto name_of, int first, int last, std::size_t shown) {
    skip_space();
    for (int i = first; i <= last; ++i) {
      const std::string_view name = name_of(i);
      const std::string_view wanted = shown == 0 ? name : name.substr(0, shown);
      if (rest_.size() >= wanted.size() &&
          equals_ignoring_case(rest_.substr(0, wanted.size()), wanted)) {
        rest_.remove_prefix(wanted.size());
        return i;
      }
    }
    no_such_value(what);
  }

  /// The error names what stands there, up to the next space.
  [[noreturn]] void no_such_value(std::string_view what) const {
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\n\v\f\r"));
    throw sql_error(sqlstate::invalid_datetime_format, "invalid value \"{}\" for \"{}\"", word,
                    what)
        .with_detail("The given value did not match any of the allowed values for this field.");
  }

  /// One of two words, by their first letters: the number of the one.
  int read_word(std::string_view what, std::string_view first, std::string_view second) {
    skip_space();
    for (const std::string_view word : {first, second}) {
      if (rest_.size() < word.size() || !equals_ignoring_case(rest_.substr(0, word.size()), word)) {
        continue;
      }
      rest_.remove_prefix(word.size());
      return word == first ? 0 : 1;
    }
    no_such_value(what);
  }

  void read_year(int width) {
    i64 year = read_number(static_cast<std::size_t>(width), width == 4 ? "YYYY" : "YY");
    if (digits_ < 4 && width < 4) {
      // The century nearest to 2020, in the year's own digits.
      if (year < 70)
        year += 2000;
      else if (year < 100)
        year += 1900;
      else if (year < 520)
        year += 2000;
      else if (year < 1000)
        year += 1000;
    }
    year_ = year;
  }

  void read_zone_offset() {
    skip_space();
    int sign = 1;
    if (!rest_.empty() && (rest_[0] == '-' || rest_[0] == '+')) {
      sign = rest_[0] == '-' ? -1 : 1;
      rest_.remove_prefix(1);
    }
    next_is_digit_ = true;
    zone_sign_ = sign;
    seconds_east = sign * static_cast<std::int32_t>(read_number(2, "TZH")) * 3600;
    if (rest_.starts_with(':') && rest_.size() > 2) {
      rest_.remove_prefix(1);
      *seconds_east += sign * static_cast<std::int32_t>(read_number(2, "TZM")) * 60;
    }
  }

  int read_fraction(std::size_t width, std::string_view what) {
    const bool before = next_is_digit_;
    next_is_digit_ = true;
    i64 value = read_number(width, what);
    next_is_digit_ = before;
    for (std::size_t i = digits_; i < 6; ++i) value *= 10;
    return static_cast<int>(value);
  }

  void read_field(const TemplateNode& node) {
    switch (node.keyword) {
      case Keyword::year:
        return read_year(node.width);
      case Keyword::year_with_comma: {
        next_is_digit_ = false;
        const i64 thousands = read_number(3, "Y,YYY");
        if (rest_.starts_with(',')) rest_.remove_prefix(1);
        year_ = thousands * 1000 + read_number(3, "Y,YYY");
        return;
      }
      case Keyword::iso_year:
        iso_year_ = read_number(4, "IYYY");
        return;
      case Keyword::month_number:
        month_ = static_cast<int>(read_number(2, "MM"));
        return;
      case Keyword::month_name:
        month_ = read_name("MONTH", month_name, 1, 12, 0);
        return;
      case Keyword::month_abbreviation:
        month_ = read_name("MON", month_name, 1, 12, 3);
        return;
      case Keyword::day_name:
        read_name("DAY", weekday_name, 0, 6, 0);
        return;
      case Keyword::day_abbreviation:
        read_name("DY", weekday_name, 0, 6, 3);
        return;
      case Keyword::roman_month: {
        skip_space();
        for (int i = 12; i >= 1; --i) {
          const std::string_view roman = kRomanMonths[i - 1];
          // Longer numerals first: VIII before VII before VI before V.
          if (rest_.size() >= roman.size() &&
              equals_ignoring_case(rest_.substr(0, roman.size()), roman) &&
              (rest_.size() == roman.size() || !is_alpha(rest_[roman.size()]))) {
            month_ = i;
            rest_.remove_prefix(roman.size());
            return;
          }
        }
        throw SqlError{sqlstate::invalid_datetime_format, "invalid value for \"RM\""};
      }
      case Keyword::day_of_month:
        day_ = static_cast<int>(read_number(2, "DD"));
        return;
      case Keyword::day_of_year:
        day_of_year_ = static_cast<int>(read_number(3, "DDD"));
        return;
      case Keyword::iso_week:
        iso_week_ = static_cast<int>(read_number(2, "IW"));
        return;
      case Keyword::iso_day_of_week:
        iso_day_ = static_cast<int>(read_number(1, "ID"));
        // What is no day of the week is its last one.
        if (iso_day_ < 1 || iso_day_ > 7) iso_day_ = 7;
        return;
      case Keyword::julian:
        julian_ = read_number(9, "J");
        return;
      case Keyword::hour_24:
        hour_ = read_number(2, "HH24");
        return;
      case Keyword::hour_12:
        hour_ = read_number(2, "HH12");
        twelve_hours_ = true;
        if (hour_ < 1 || hour_ > 12)
          throw sql_error(sqlstate::invalid_datetime_format,
                          "hour \"{}\" is invalid for the 12-hour clock", hour_)
              .with_hint("Use the 24-hour clock, or give an hour between 1 and 12.");
        return;
      case Keyword::minute:
        minute_ = read_number(2, "MI");
        return;
      case Keyword::second:
        second_ = read_number(2, "SS");
        return;
      case Keyword::millisecond:
        microsecond_ = read_fraction(3, "MS");
        return;
      case Keyword::microsecond:
        microsecond_ = read_fraction(6, "US");
        return;
      case Keyword::fraction:
        microsecond_ = read_fraction(static_cast<std::size_t>(node.width), "FF");
        return;
      case Keyword::second_of_day:
        second_of_day_ = read_number(5, "SSSS");
        return;
      case Keyword::meridiem:
        meridiem_ = read_word("AM", "AM", "PM") == 0 ? 'a' : 'p';
        return;
      case Keyword::meridiem_dotted:
        meridiem_ = read_word("A.M.", "A.M.", "P.M.") == 0 ? 'a' : 'p';
        return;
      case Keyword::era:
        before_christ_ = read_word("BC", "AD", "BC") == 1;
        return;
      case Keyword::era_dotted:
        before_christ_ = read_word("B.C.", "A.D.", "B.C.") == 1;
        return;
      case Keyword::zone_hours:
      case Keyword::zone_offset:
        return read_zone_offset();
      case Keyword::zone_minutes:
        seconds_east = seconds_east.value_or(0) +
                       zone_sign_ * static_cast<std::int32_t>(read_number(2, "TZM")) * 60;
        return;
      case Keyword::week_of_year:
        week_of_year_ = static_cast<int>(read_number(2, "WW"));
        return;
      case Keyword::quarter:
      case Keyword::day_of_week:
        read_number(1, "Q");
        return;
      default:
        throw SqlError{sqlstate::feature_not_supported,
                       "formatting field is only supported in to_char"};
    }
  }

  [[noreturn]] void out_of_range() const {
    throw_error(sqlstate::datetime_field_overflow, "date/time field value out of range: \"{}\"",
                text_);
  }

  [[nodiscard]] i64 days() const {
    if (julian_) return *julian_ - kJulianEpoch;
    // As in PostgreSQL, a field that is zero is one that was not given.
    if (iso_year_ && iso_week_.value_or(0) != 0) {
      return days_from_iso_week(*iso_year_, *iso_week_) + std::max(iso_day_.value_or(1), 1) - 1;
    }
    const std::optional<i64> given = iso_year_ ? iso_year_ : year_;
    i64 year = given.value_or(before_christ_ ? 1 : 0);
    if (before_christ_)
      year = 1 - year;
    else if (!given)
      year = 0;  // 1 BC, as PostgreSQL has it when no year is given
    if (given && year < 0 && !before_christ_) ++year;
    if (day_of_year_.value_or(0) != 0) {
      if (*day_of_year_ < 1 || *day_of_year_ > (is_leap_year(year) ? 366 : 365)) out_of_range();
      return days_from_civil({year, 1, 1}) + *day_of_year_ - 1;
    }
    if (week_of_year_.value_or(0) != 0)
      return days_from_civil({year, 1, 1}) + (*week_of_year_ - 1) * 7;
    const int month = month_ == 0 ? 1 : month_;
    const int day = day_ == 0 ? 1 : day_;
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) out_of_range();
    return days_from_civil({year, month, day});
  }

  [[nodiscard]] i64 time() const {
    i64 hour = hour_;
    if (twelve_hours_ && hour == 12) hour = 0;
    if (meridiem_ == 'p' && hour < 12) hour += 12;
    if (second_of_day_) return *second_of_day_ * kMicrosPerSecond + microsecond_;
    if (hour > 23 || minute_ > 59 || second_ > 59) out_of_range();
    return ((hour * 60 + minute_) * 60 + second_) * kMicrosPerSecond + microsecond_;
  }

  std::string_view text_;
  std::string_view rest_;
  TemplateNodes nodes_;
  bool next_is_digit_ = false;
  std::size_t digits_ = 0;
  std::optional<i64> year_;
  std::optional<i64> iso_year_;
  std::optional<i64> julian_;
  std::optional<i64> second_of_day_;
  std::optional<int> day_of_year_;
  std::optional<int> iso_week_;
  std::optional<int> iso_day_;
  std::optional<int> week_of_year_;
  int month_ = 1;
  int day_ = 1;
  i64 hour_ = 0;
  i64 minute_ = 0;
  i64 second_ = 0;
  int microsecond_ = 0;
  int zone_sign_ = 1;
  bool twelve_hours_ = false;
  bool before_christ_ = false;
  char meridiem_ = 0;
};

Value text_to_timestamp(FunctionContext& context, Arguments a) {
  Reader reader{a[0].as_text(), a[1].as_text(), context.arena.account()};
  reader.read();
  const i64 local = checked_timestamp(reader.local_timestamp());
  if (reader.seconds_east)
    return Value::from_int(checked_timestamp(local - *reader.seconds_east * kMicrosPerSecond));
  return Value::from_int(local_to_utc(local, session_zone(context)));
}
Value text_to_date(FunctionContext& context, Arguments a) {
  Reader reader{a[0].as_text(), a[1].as_text(), context.arena.account()};
  reader.read();
  return Value::from_int(reader.date());
}

constexpr ScalarEntry kFormattedInputEntries[] = {
    {"to_timestamp(text,text)", &text_to_timestamp},
    {"to_date(text,text)", &text_to_date},
};

}  // namespace

std::span<const ScalarEntry> formatted_input_functions() {
  return kFormattedInputEntries;
}

}  // namespace swizzle::sql

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/datetime/datetime_unit.h"
#include "sql-lite-frontend/types/datetime/interval_fields.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {

namespace {

using PieceKind = DateTimeToken::Kind;

struct Number {
  std::int64_t whole = 0;
  double fraction = 0;  ///< carries the sign
};

/// Sums up the parts of an interval. Throws DateTimeFault::interval_overflow.
class Accumulator {
 public:
  void add(DateTimeUnit unit, const Number& n) {
    using enum DateTimeUnit;
    switch (unit) {
      case microsecond:
        add_micros(n.whole, 1);
        return add_fraction_micros(n.fraction, 1);
      case millisecond:
        add_micros(n.whole, 1000);
        return add_fraction_micros(n.fraction, 1000);
      case second:
        return add_time(n, kMicrosPerSecond);
      case minute:
        return add_time(n, kMicrosPerMinute);
      case hour:
        return add_time(n, kMicrosPerHour);
      case day:
        add_days(n.whole);
        return add_fraction_micros(n.fraction, kMicrosPerDay);
      case week:
        add_days(times(n.whole, 7));
        return add_fraction_days(n.fraction, 7);
      case month:
        add_months(n.whole);
        return add_fraction_days(n.fraction, 30);
      case quarter:
        add_months(times(n.whole, 3));
        return;
      case year:
        return add_years(n, 1);
      case decade:
        return add_years(n, 10);
      case century:
        return add_years(n, 100);
      case millennium:
        return add_years(n, 1000);
      default:
        throw DateTimeFault::bad_format;
    }
  }

  [[nodiscard]] Interval result(bool negated) const {
    std::int64_t months = months_;
    std::int64_t days = days_;
    std::int64_t micros = micros_;
    if (negated) {
      months = -months;
      days = -days;
      if (micros == INT64_MIN) throw DateTimeFault::interval_overflow;
      micros = -micros;
    }
    if (months != static_cast<std::int32_t>(months) || days != static_cast<std::int32_t>(days))
      throw DateTimeFault::interval_overflow;
    return {micros, static_cast<std::int32_t>(days), static_cast<std::int32_t>(months)};
  }

  void add_micros(std::int64_t count, std::int64_t unit) {
    accumulate(micros_, times(count, unit));
  }

 private:
  static std::int64_t times(std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    if (__builtin_mul_overflow(a, b, &out)) throw DateTimeFault::interval_overflow;
    return out;
  }
  static void accumulate(std::int64_t& sum, std::int64_t part) {
    if (__builtin_add_overflow(sum, part, &sum)) throw DateTimeFault::interval_overflow;
  }
  void add_days(std::int64_t days) {
    accumulate(days_, days);
    if (days_ != static_cast<std::int32_t>(days_)) throw DateTimeFault::interval_overflow;
  }
  void add_months(std::int64_t months) { accumulate(months_, months); }
  void add_time(const Number& n, std::int64_t unit) {
    add_micros(n.whole, unit);
    add_fraction_micros(n.fraction, unit);
  }
  void add_fraction_micros(double fraction, std::int64_t unit) {
    if (fraction != 0) accumulate(micros_, std::llrint(fraction * static_cast<double>(unit)));
  }
  void add_fraction_days(double fraction, int unit) {
    if (fraction == 0) return;
    const double days = fraction * unit;
    const auto whole = static_cast<std::int64_t>(days);
    add_days(whole);
    add_fraction_micros(days - static_cast<double>(whole), kMicrosPerDay);
  }
  void add_years(const Number& n, int unit) {
    add_months(times(times(n.whole, unit), 12));
    add_months(std::llrint(n.fraction * unit * 12));
  }

  std::int64_t months_ = 0;
  std::int64_t days_ = 0;
  std::int64_t micros_ = 0;
};

std::int64_t parse_whole(std::string_view digits) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (error == std::errc::result_out_of_range) throw DateTimeFault::interval_overflow;
  if (error != std::errc{} || end != digits.data() + digits.size()) throw DateTimeFault::bad_format;
  return out;
}

double parse_fraction(std::string_view text) {
  if (text.size() <= 1) return 0;
  double out = 0;
  const std::string with_zero = "0" + std::string{text};
  const char* last = with_zero.data() + with_zero.size();
  const auto [end, error] = std::from_chars(with_zero.data(), last, out);
  if (error != std::errc{} || end != last) throw DateTimeFault::bad_format;
  return out;
}

/// "12", "-1.5", "+.5".
Number parse_number(std::string_view text) {
  const std::string_view with_sign = text;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  Number out;
  const std::string_view whole = text.substr(0, point);
  // Parsed with its sign, since the least number has no positive counterpart.
  if (!whole.empty())
    out.whole = parse_whole(negative ? with_sign.substr(0, whole.size() + 1) : whole);
  if (point != std::string_view::npos) out.fraction = parse_fraction(text.substr(point));
  if (whole.empty() && point == std::string_view::npos) throw DateTimeFault::bad_format;
  if (negative) out.fraction = -out.fraction;
  return out;
}

/// Returns the unit of a bare number at the end, by the interval's declared fields.
DateTimeUnit rightmost_unit(std::int32_t typmod) {
  using enum DateTimeUnit;
  const unsigned fields = interval_fields(typmod);
  if (fields == kAllIntervalFields) return second;
  for (const auto& [field, unit] : {std::pair{kSecondField, second},
                                    {kMinuteField, minute},
                                    {kHourField, hour},
                                    {kDayField, day},
                                    {kMonthField, month},
                                    {kYearField, year}})
    if ((fields & field) != 0) return unit;
  return second;
}

class Parser {
 public:
  Parser(std::string_view text, std::int32_t typmod, IntervalStyle style)
      : typmod_{typmod}, style_{style} {
    const auto tokens = tokenize_date_time(text);
    if (!tokens || tokens->empty()) throw DateTimeFault::bad_format;
    tokens_ = *tokens;
  }

  // Units follow their numbers, so the text is parsed backwards.
  Interval parse() {
    const bool all_negative = sql_standard_sign();
    for (std::size_t i = tokens_.size(); i-- > 0;) take(tokens_[i]);
    if (!any_ || awaits_number_) throw DateTimeFault::bad_format;
    return sum_.result(ago_ != all_negative);
  }

 private:
  /// In sql_standard style, a single leading minus negates all fields.
  [[nodiscard]] bool sql_standard_sign() {
    if (style_ != IntervalStyle::sql_standard || !tokens_.front().text.starts_with('-'))
      return false;
    for (std::size_t i = 1; i < tokens_.size(); ++i)
      if (tokens_[i].text.starts_with('-') || tokens_[i].text.starts_with('+')) return false;
    tokens_.front().text.erase(0, 1);
    return true;
  }

  void take(const DateTimeToken& token) {
    if (token.kind == PieceKind::word) return take_word(token);
    awaits_number_ = false;
    switch (token.kind) {
      case PieceKind::time:
        return take_time(token.text, false);
      case PieceKind::zone:
        if (token.text.find(':') != std::string::npos)
          return take_time(std::string_view{token.text}.substr(1), token.text[0] == '-');
        [[fallthrough]];
      case PieceKind::number:
      case PieceKind::date:
        return take_number(token.text);
      default:
        throw DateTimeFault::bad_format;
    }
  }

  void take_time(std::string_view text, bool negative) {
    std::int64_t parts[3] = {0, 0, 0};
    std::size_t count = 0;
    double fraction = 0;
    bool fractional = false;
    while (!text.empty()) {
      std::size_t end = 0;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (count == 3 || end == 0) throw DateTimeFault::bad_format;
      parts[count++] = parse_whole(text.substr(0, end));
      text.remove_prefix(end);
      if (text.starts_with('.')) {
        fraction = parse_fraction(text);
        fractional = true;
        break;
      }
      if (text.starts_with(':')) text.remove_prefix(1);
    }
    const bool minutes_first =
        count == 2 && (fractional || interval_fields(typmod_) == (kMinuteField | kSecondField));
    if (minutes_first) {
      parts[2] = parts[1];
      parts[1] = parts[0];
      parts[0] = 0;
    }
    if (parts[1] > 59 || parts[2] > 60) throw DateTimeFault::interval_overflow;
    const int sign = negative ? -1 : 1;
    claim(kHourField | kMinuteField | kAnySecond);
    sum_.add(DateTimeUnit::hour, {sign * parts[0], 0});
    sum_.add(DateTimeUnit::minute, {sign * parts[1], 0});
    sum_.add(DateTimeUnit::second, {sign * parts[2], sign * fraction});
    unit_ = DateTimeUnit::day;
  }

  void take_number(std::string_view text) {
    if (unit_ == DateTimeUnit::unknown) unit_ = rightmost_unit(typmod_);
    const std::size_t dash = text.find('-', 1);
    if (dash != std::string_view::npos) return take_year_month(text, dash);
    const Number number = parse_number(text);
    // A fraction of a second is milliseconds and microseconds too.
    const bool whole_second = unit_ != DateTimeUnit::second || number.fraction == 0;
    claim(whole_second ? field_of(unit_) : kAnySecond);
    sum_.add(unit_, number);
    // A number in front of the hours counts days: "1 2" DAY TO HOUR.
    if (unit_ == DateTimeUnit::hour) unit_ = DateTimeUnit::day;
  }

  /// "1-2": years and months.
  void take_year_month(std::string_view text, std::size_t dash) {
    const Number years = parse_number(text.substr(0, dash));
    const Number months = parse_number(text.substr(dash + 1));
    if (months.whole < 0 || months.whole >= 12 || years.fraction != 0 || months.fraction != 0)
      throw DateTimeFault::interval_overflow;
    claim(kYearField | kMonthField);
    sum_.add(DateTimeUnit::year, years);
    sum_.add(DateTimeUnit::month, {text[0] == '-' ? -months.whole : months.whole, 0});
    unit_ = DateTimeUnit::month;
  }

  void take_word(const DateTimeToken& token) {
    if (awaits_number_) throw DateTimeFault::bad_format;
    if (token.text == "ago") {
      if (&token != &tokens_.back()) throw DateTimeFault::bad_format;
      ago_ = true;
      return;
    }
    awaits_number_ = true;
    unit_ = find_interval_unit(token.text);
    if (unit_ == DateTimeUnit::unknown || unit_ == DateTimeUnit::quarter)
      throw DateTimeFault::bad_format;
  }

  static constexpr unsigned kAnySecond = kSecondField | 1U << 14 | 1U << 15;

  static unsigned field_of(DateTimeUnit unit) {
    using enum DateTimeUnit;
    switch (unit) {
      case microsecond:
        return 1U << 14;
      case millisecond:
        return 1U << 15;
      case second:
        return kSecondField;
      case minute:
        return kMinuteField;
      case hour:
        return kHourField;
      case day:
        return kDayField;
      case week:
        return 1U << 16;
      case month:
        return kMonthField;
      case year:
        return kYearField;
      case decade:
        return 1U << 17;
      case century:
        return 1U << 18;
      case millennium:
        return 1U << 19;
      default:
        throw DateTimeFault::bad_format;
    }
  }

  /// Throws if a field is given twice.
  void claim(unsigned fields) {
    if ((seen_ & fields) != 0) throw DateTimeFault::bad_format;
    seen_ |= fields;
    any_ = true;
  }

  std::int32_t typmod_;
  IntervalStyle style_;
  std::vector<DateTimeToken> tokens_;
  Accumulator sum_;
  DateTimeUnit unit_ = DateTimeUnit::unknown;
  unsigned seen_ = 0;
  bool any_ = false;
  bool ago_ = false;
  bool awaits_number_ = false;  ///< a unit has been read whose number comes
};

/// "P1Y2M3DT4H5M6.7S" and "P0001-02-03T04:05:06".
class Iso8601Parser {
 public:
  explicit Iso8601Parser(std::string_view text) : rest_{text.substr(1)} {}

  Interval parse() {
    if (rest_.empty()) throw DateTimeFault::bad_format;
    bool in_time = false;
    bool had_field = false;
    while (!rest_.empty()) {
      if (rest_.front() == 'T') {
        rest_.remove_prefix(1);
        in_time = true;
        had_field = false;
        continue;
      }
      if (!had_field && add_basic(in_time)) continue;
      const Number number = take_number();
      had_field = true;
      if (rest_.starts_with('-') || rest_.starts_with(':') || rest_.empty() ||
          (rest_.front() == 'T' && !in_time)) {
        if (!alternative(number, in_time)) return sum_.result(false);
        in_time = true;
        had_field = false;
        continue;
      }
      const char designator = rest_.front();
      rest_.remove_prefix(1);
      sum_.add(unit_of(designator, in_time), number);
    }
    return sum_.result(false);
  }

 private:
  static DateTimeUnit unit_of(char designator, bool in_time) {
    using enum DateTimeUnit;
    switch (designator) {
      case 'Y':
        return in_time ? throw DateTimeFault::bad_format : year;
      case 'M':
        return in_time ? minute : month;
      case 'W':
        return in_time ? throw DateTimeFault::bad_format : week;
      case 'D':
        return in_time ? throw DateTimeFault::bad_format : day;
      case 'H':
        return in_time ? hour : throw DateTimeFault::bad_format;
      case 'S':
        return in_time ? second : throw DateTimeFault::bad_format;
      default:
        throw DateTimeFault::bad_format;
    }
  }

  /// "00021015" before T, "103020" after it: eight digits are a date, six a time.
  bool add_basic(bool in_time) {
    using enum DateTimeUnit;
    const std::string_view sign = rest_.substr(0, rest_.front() == '-' ? 1 : 0);
    const std::string_view digits = rest_.substr(sign.size());
    const std::size_t wanted = in_time ? 6 : 8;
    std::size_t size = 0;
    while (size < digits.size() && is_digit(digits[size])) ++size;
    if (size != wanted) return false;
    std::size_t end = size;
    while (end < digits.size() && (is_digit(digits[end]) || digits[end] == '.')) ++end;
    if (end < digits.size() && (in_time || digits[end] != 'T')) return false;
    const auto add = [&](DateTimeUnit unit, std::size_t from, std::size_t count) {
      sum_.add(unit, parse_number(std::string{sign} + std::string{digits.substr(from, count)}));
    };
    add(in_time ? hour : year, 0, wanted - 4);
    add(in_time ? minute : month, wanted - 4, 2);
    add(in_time ? second : day, wanted - 2, end - (wanted - 2));
    rest_ = digits.substr(end);
    return true;
  }

  /// Parses a floating-point number as PostgreSQL does: the precision left for the fraction depends
  /// on the integer part.
  Number take_number() {
    constexpr double kMost = 1e15;
    const char first = rest_.empty() ? '\0' : rest_.front();
    if (!is_digit(first) && first != '-' && first != '.') throw DateTimeFault::bad_format;
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) throw DateTimeFault::bad_format;
    if (!(value >= -kMost && value <= kMost)) throw DateTimeFault::interval_overflow;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    Number out{.whole = static_cast<std::int64_t>(value), .fraction = 0};
    out.fraction = value - static_cast<double>(out.whole);
    return out;
  }

  /// True: a time follows, in either form.
  bool alternative(Number number, bool in_time) {
    using enum DateTimeUnit;
    constexpr DateTimeUnit kDateUnits[] = {year, month, day};
    constexpr DateTimeUnit kTimeUnits[] = {hour, minute, second};
    std::size_t part = 0;
    while (true) {
      if (part == 3) throw DateTimeFault::bad_format;
      sum_.add(in_time ? kTimeUnits[part] : kDateUnits[part], number);
      ++part;
      if (rest_.empty()) return false;
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == 'T' && !in_time) return true;
      if (c != (in_time ? ':' : '-')) {
        throw DateTimeFault::bad_format;
      }
      number = take_number();
    }
  }

  std::string_view rest_;
  Accumulator sum_;
};

}  // namespace

namespace {

/// Reads "infinity" with a sign, after "@" too.
std::optional<Interval> read_infinity(std::string_view text) {
  std::string_view word = trim_space(text);
  if (word.starts_with('@')) word = trim_space(word.substr(1));
  const bool is_minus = word.starts_with('-');
  if (is_minus || word.starts_with('+')) word = trim_space(word.substr(1));
  constexpr std::string_view kInfinity = "infinity";
  if (word.size() != kInfinity.size() ||
      !std::ranges::equal(word, kInfinity, {}, [](char c) { return to_lower(c); })) {
    return std::nullopt;
  }
  return is_minus ? kIntervalMinusInfinity : kIntervalInfinity;
}

}  // namespace

Interval parse_interval(FunctionContext& context, std::string_view text, std::int32_t typmod) {
  if (const auto infinity = read_infinity(text)) return *infinity;
  try {
    try {
      return Parser{text, typmod, context.session.format.interval_style}.parse();
    } catch (DateTimeFault fault) {
      const std::string_view body = trim_space(text);
      if (fault != DateTimeFault::bad_format || !body.starts_with('P')) throw;
      return Iso8601Parser{body}.parse();
    }
  } catch (DateTimeFault fault) {
    if (fault == DateTimeFault::field_overflow) fault = DateTimeFault::interval_overflow;
    throw_date_time_error(fault, text, "interval");
  }
}

}  // namespace swizzle::sql

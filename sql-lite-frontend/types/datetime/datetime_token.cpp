#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Kind = DateTimeToken::Kind;

bool is_alphanumeric(char c) noexcept {
  return is_alpha(c) || is_digit(c);
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : rest_{text} {}

  std::optional<std::vector<DateTimeToken>> run() {
    std::vector<DateTimeToken> tokens;
    while (!rest_.empty()) {
      if (is_space(rest_.front())) {
        rest_.remove_prefix(1);
        continue;
      }
      word_.clear();
      const auto kind = next();
      if (!kind) return std::nullopt;
      if (!word_.empty()) tokens.push_back({*kind, word_});
      if (tokens.size() > kMaxTokens) return std::nullopt;
    }
    return tokens;
  }

 private:
  static constexpr std::size_t kMaxTokens = 25;

  [[nodiscard]] char peek() const noexcept { return rest_.empty() ? '\0' : rest_.front(); }
  void take() {
    word_.push_back(to_lower(rest_.front()));
    rest_.remove_prefix(1);
  }
  template <class Predicate>
  void take_while(Predicate matches) {
    while (!rest_.empty() && matches(rest_.front())) take();
  }

  std::optional<Kind> next() {
    const char c = peek();
    if (is_digit(c)) return number_or_date();
    if (c == '.') {
      take();
      take_while(is_digit);
      return Kind::number;
    }
    if (is_alpha(c)) return word_or_date();
    if (c == '+' || c == '-') return signed_token();
    if (static_cast<unsigned char>(c) < 0x80 && c > ' ' &&
        c != '_') {  // other punctuation only separates
      rest_.remove_prefix(1);
      return Kind::word;
    }
    return std::nullopt;
  }

  std::optional<Kind> number_or_date() {
    take_while(is_digit);
    const char c = peek();
    if (c == ':') {
      take_while([](char d) { return is_digit(d) || d == ':' || d == '.'; });
      return Kind::time;
    }
    if (c != '-' && c != '/' && c != '.') return Kind::number;
    const char delimiter = c;
    take();
    if (is_digit(peek())) {
      const Kind kind = delimiter == '.' ? Kind::number : Kind::date;
      take_while(is_digit);
      if (peek() != delimiter) return kind;
      take_while([delimiter](char d) { return is_digit(d) || d == delimiter; });
      return Kind::date;
    }
    take_while([delimiter](char d) { return is_alphanumeric(d) || d == delimiter; });
    return Kind::date;
  }

  std::optional<Kind> word_or_date() {
    take_while(is_alpha);
    const char c = peek();
    bool date = c == '-' || c == '/' || c == '.';
    // "T0405" is a word and a number; "EST5EDT" and "GMT+3" are names of zones.
    if (c == '+' || is_digit(c)) date = !is_unit();
    if (!date) return Kind::word;
    take_while([](char d) {
      return is_alphanumeric(d) || d == '+' || d == '-' || d == '/' || d == '_' || d == '.' ||
             d == ':';
    });
    return Kind::date;
  }

  /// True for words that may directly precede a number in dates. After other words, e.g. zones, the
  /// number belongs to the word: "GMT+8".
  [[nodiscard]] bool is_unit() const {
    for (const std::string_view word :
         {"ad",       "allballs", "am",      "apr",       "april",    "at",       "aug",
          "august",   "bc",       "d",       "dec",       "december", "dow",      "doy",
          "dst",      "epoch",    "feb",     "february",  "fri",      "friday",   "h",
          "infinity", "isodow",   "isoyear", "j",         "jan",      "january",  "jd",
          "jul",      "julian",   "july",    "jun",       "june",     "m",        "mar",
          "march",    "may",      "mm",      "mon",       "monday",   "nov",      "november",
          "now",      "oct",      "october", "on",        "pm",       "s",        "sat",
          "saturday", "sep",      "sept",    "september", "sun",      "sunday",   "t",
          "thu",      "thur",     "thurs",   "thursday",  "today",    "tomorrow", "tue",
          "tues",     "tuesday",  "wed",     "wednesday", "weds",     "y",        "yesterday"})
      if (word_ == word) return true;
    return false;
  }

  std::optional<Kind> signed_token() {
    take();
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    if (is_digit(peek()) || peek() == '.') {
      take_while([](char d) { return is_digit(d) || d == ':' || d == '.' || d == '-'; });
      return Kind::zone;
    }
    if (is_alpha(peek())) {
      take_while(is_alpha);
      return Kind::special;
    }
    return std::nullopt;
  }

  std::string_view rest_;
  std::string word_;
};

}  // namespace

std::optional<std::vector<DateTimeToken>> tokenize_date_time(std::string_view text) {
  return Tokenizer{text}.run();
}

void throw_date_time_error(DateTimeFault fault, std::string_view text, std::string_view type_name) {
  switch (fault) {
    case DateTimeFault::field_overflow:
      throw_error(sqlstate::datetime_field_overflow, "date/time field value out of range: \"{}\"",
                  text);
    case DateTimeFault::month_day_overflow:
      throw sql_error(sqlstate::datetime_field_overflow,
                      "date/time field value out of range: \"{}\"", text)
          .with_hint("Perhaps you need a different \"DateStyle\" setting.");
    case DateTimeFault::interval_overflow:
      throw_error(sqlstate::interval_field_overflow, "interval field value out of range: \"{}\"",
                  text);
    case DateTimeFault::zone_overflow:
      throw_error(sqlstate::invalid_time_zone_displacement,
                  "time zone displacement out of range: \"{}\"", text);
    case DateTimeFault::bad_format:
      break;
  }
  throw_error(sqlstate::invalid_datetime_format, "invalid input syntax for type {}: \"{}\"",
              type_name, text);
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/types/functions/text/template_fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using i64 = std::int64_t;
using Keyword = TemplateNode::Keyword;

bool is_separator(char c) {
  return c > ' ' && static_cast<unsigned char>(c) < 0x7f && !is_alpha(c) && !is_digit(c);
}

/// How many bytes the first character has. Pre: not empty.
std::size_t character_size(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80) ++size;
  return size;
}

template <class... Args>
SqlError unreadable(fmt::format_string<Args...> message, Args&&... args) {
  return sql_error(sqlstate::invalid_datetime_format, message, std::forward<Args>(args)...);
}

constexpr const char* kNotFixedWidth =
    "If your source string is not fixed-width, try using the \"FM\" modifier.";

/// Takes fields from a text in the order of a template.
class FieldReader {
 public:
  FieldReader(std::string_view text, std::span<const TemplateNode> nodes, TemplateRules rules,
              const TimeZone& session)
      : rest_{text},
        nodes_{nodes},
        is_standard_{rules == TemplateRules::standard},
        session_{session} {}

  TemplateFields read() {
    bool is_fixed = is_standard_;
    for (; at_ < nodes_.size() && !rest_.empty(); ++at_) {
      yield_point(100);
      const TemplateNode& node = nodes_[at_];
      is_fixed |= node.fixed;
      if (node.keyword == Keyword::literal) {
        if (at_ == 0 && !is_fixed) skip_space();
        if (!rest_.empty()) read_literal(node, is_fixed);
        continue;
      }
      if (!is_fixed) skip_space();
      read_field(node);
      if (!is_fixed) {
        skipped_ = 0;
        skip_space();
      }
    }
    if (is_standard_) require_end();
    return fields_;
  }

 private:
  void skip_space() {
    for (; !rest_.empty() && is_space(rest_[0]); rest_.remove_prefix(1)) {
      last_ = rest_[0];
      ++skipped_;
    }
  }
  void take_character() {
    last_ = rest_[0];
    rest_.remove_prefix(character_size(rest_));
  }
  void require_end() {
    if (at_ < nodes_.size()) throw unreadable("input string is too short for datetime format");
    while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
    if (!rest_.empty())
      throw unreadable("trailing characters remain in input string after datetime format");
  }

  void read_literal(const TemplateNode& node, bool is_fixed) {
    const bool is_place =
        !node.quoted && (is_space(node.literal[0]) || is_separator(node.literal[0]));
    std::string_view literal = node.literal;
    if (is_place) {
      if (is_standard_) {
        if (rest_[0] != literal[0]) throw unreadable("unmatched format separator \"{}\"", literal);
        take_character();
      } else if (is_fixed) {
        take_character();
      } else {
        // It matches one such character, or none if there is none.
        --skipped_;
        if (is_space(rest_[0]) || is_separator(rest_[0])) {
          take_character();
          ++skipped_;
        }
      }
      return;
    }
    // Each character of the template consumes one of the text, up to the text's end.
    for (; !literal.empty(); literal.remove_prefix(character_size(literal))) {
      if (rest_.empty()) {
        if (is_standard_) throw unreadable("input string is too short for datetime format");
        return;
      }
      if (!is_fixed && skipped_ > 0) {
        --skipped_;
        continue;
      }
      const std::string_view wanted = literal.substr(0, character_size(literal));
      if (is_standard_ && !rest_.starts_with(wanted))
        throw unreadable("unmatched format character \"{}\"", wanted);
      take_character();
    }
  }

  /// True if a number may take all digits that follow.
  [[nodiscard]] bool is_open_number(const TemplateNode& node) const {
    if (!node.filled || node.ordinal != TemplateNode::Ordinal::none) return true;
    if (at_ + 1 == nodes_.size()) return true;
    const TemplateNode& next = nodes_[at_ + 1];
    if (next.keyword != Keyword::literal) return !traits_of(next.keyword).is_number;
    return next.literal.empty() || !is_digit(next.literal[0]);
  }

  struct Number {
    i64 value = 0;
    std::size_t size = 0;  ///< size of the consumed text, with leading blanks
  };
  /// As many digits as there are, or `width` characters.
  Number read_number(const TemplateNode& node, std::size_t width) {
    const std::string_view before = rest_;
    std::string_view text = rest_;
    while (!text.empty() && is_space(text[0])) text.remove_prefix(1);
    const std::string_view shown = text.substr(0, width);
    const bool is_open = is_open_number(node);
    if (!is_open && text.size() < width) {
      throw unreadable("source string too short for \"{}\" formatting field", node.name())
          .with_detail(
              fmt::format("Field requires {} characters, but only {} remain.", width, text.size()))
          .with_hint(kNotFixedWidth);
    }
    std::string_view digits = is_open ? text : shown;
    const bool has_sign = !digits.empty() && (digits[0] == '-' || digits[0] == '+');
    std::size_t size = has_sign ? 1 : 0;
    i64 value = 0;
    constexpr i64 kLarge = i64{1} << 40U;
    while (size < digits.size() && is_digit(digits[size]))
      value = std::min(kLarge, value * 10 + (digits[size++] - '0'));
    if (size == (has_sign ? 1U : 0U)) size = 0;
    if (!is_open && size > 0 && size < width) {
      throw unreadable("invalid value \"{}\" for \"{}\"", shown, node.name())
          .with_detail(fmt::format("Field requires {} characters, but only {} could be parsed.",
                                   width, size))
          .with_hint(kNotFixedWidth);
    }
    // Blanks that were skipped count as something, but not where all digits were wanted.
    if (size > 0 || !is_open) rest_ = text.substr(size);
    if (rest_.size() == before.size()) {
      throw unreadable("invalid value \"{}\" for \"{}\"", shown, node.name())
          .with_detail("Value must be an integer.");
    }
    if (has_sign && digits[0] == '-') value = -value;
    if (value > INT32_MAX || value < INT32_MIN) {
      throw sql_error(sqlstate::datetime_field_overflow,
                      "value for \"{}\" in source string is out of range", node.name())
          .with_detail(fmt::format("Value must be in the range {} to {}.", INT32_MIN, INT32_MAX));
    }
    last_ = before[before.size() - rest_.size() - 1];
    return {value, before.size() - rest_.size()};
  }

  static void set(i64& field, i64 value, const TemplateNode& node) {
    if (field != 0 && field != value) {
      throw unreadable("conflicting values for \"{}\" field in formatting string", node.name())
          .with_detail("This value contradicts a previous setting for the same field type.");
    }
    field = value;
  }
  void skip_ordinal(const TemplateNode& node) {
    if (node.ordinal == TemplateNode::Ordinal::none) return;
    for (int i = 0; i < 2 && !rest_.empty(); ++i) take_character();
  }
  /// How many characters it took.
  std::size_t number(i64& field, const TemplateNode& node, std::size_t width = 0) {
    const Number read = read_number(node, width != 0 ? width : node.spelling.size());
    set(field, read.value, node);
    skip_ordinal(node);
    return read.size;
  }
  void fraction(i64& field, const TemplateNode& node, std::size_t width) {
    const std::size_t taken = number(field, node, width);
    const std::size_t wanted = node.keyword == Keyword::millisecond ? 3 : 6;
    for (std::size_t i = taken; i < wanted; ++i) field *= 10;
  }

  /// Reads one of the names, in any case; returns its index.
  i64 name(const TemplateNode& node, std::span<const std::string_view> names) {
    const auto stands_here = [&](std::string_view wanted) {
      return equals_ignoring_case(rest_.substr(0, wanted.size()), wanted);
    };
    const auto found = std::ranges::find_if(names, stands_here);
    if (found == names.end()) {
      throw unreadable("invalid value \"{}\" for \"{}\"",
                       rest_.substr(0, rest_.find_first_of(" \t\n\v\f\r")), node.name())
          .with_detail("The given value did not match any of the allowed values for this field.");
    }
    last_ = rest_[found->size() - 1];
    rest_.remove_prefix(found->size());
    return found - names.begin();
  }
  static std::array<std::string_view, 12> months(std::size_t shown) {
    std::array<std::string_view, 12> names;
    for (int i = 0; i < 12; ++i)
      names[static_cast<std::size_t>(i)] = month_name(i + 1).substr(0, shown);
    return names;
  }
  static std::array<std::string_view, 7> weekdays(std::size_t shown) {
    std::array<std::string_view, 7> names;
    for (int i = 0; i < 7; ++i)
      names[static_cast<std::size_t>(i)] = weekday_name(i).substr(0, shown);
    return names;
  }

  void year(const TemplateNode& node) {
    const std::size_t taken = number(fields_.year, node);
    fields_.year_digits = node.width;
    if (node.width == 4 || taken >= 4) return;
    // The one nearest to 2020, in the year's own digits.
    i64& value = fields_.year;
    if (value < 70) {
      value += 2000;
    } else if (value < 100) {
      value += 1900;
    } else if (value < 520) {
      value += 2000;
    } else if (value < 1000) {
      value += 1000;
    }
  }
  void year_with_comma(const TemplateNode& node) {
    const auto digits = [&](std::size_t most) -> std::optional<i64> {
      std::size_t size = 0;
      i64 value = 0;
      for (; size < most && size < rest_.size() && is_digit(rest_[size]); ++size)
        value = value * 10 + (rest_[size] - '0');
      rest_.remove_prefix(size);
      return size == 0 ? std::nullopt : std::optional{value};
    };
    constexpr std::size_t kMost = 9;
    const auto thousands = digits(kMost);
    const bool has_comma = thousands && rest_.starts_with(',');
    if (has_comma) rest_.remove_prefix(1);
    const auto years = has_comma ? digits(3) : std::nullopt;
    if (!years) throw unreadable("invalid input string for \"Y,YYY\"");
    set(fields_.year, *thousands * 1000 + *years, node);
    fields_.year_digits = 4;
    skip_ordinal(node);
  }
  void zone_hours(const TemplateNode& node) {
    if (!rest_.empty() && (rest_[0] == '+' || rest_[0] == '-' || rest_[0] == ' ')) {
      fields_.zone_sign = rest_[0] == '-' ? -1 : 1;
      take_character();
    } else {
      // The sign may have been taken for a separator.
      fields_.zone_sign = skipped_ > 0 && last_ == '-' ? -1 : 1;
    }
    set(fields_.zone_hours, read_number(node, 2).value, node);
  }

  void zone_offset(const TemplateNode& node) {
    zone_hours(node);
    if (!rest_.starts_with(':')) return;
    take_character();
    set(fields_.zone_minutes, read_number(node, 2).value, node);
  }
  /// Reads the longest abbreviation that begins here, or an offset.
  void zone_name(const TemplateNode& node) {
    constexpr std::size_t kLongest = 10;
    std::size_t size = 0;
    while (size < std::min(kLongest, rest_.size()) && is_alpha(rest_[size])) ++size;
    if (size == 0) return zone_offset(node);
    for (; size > 0; --size) {
      fields_.zone = find_zone_abbreviation(session_, rest_.substr(0, size));
      if (!fields_.zone) continue;
      last_ = rest_[size - 1];
      rest_.remove_prefix(size);
      return;
    }
    throw unreadable("invalid value \"{}\" for \"{}\"", rest_, node.name())
        .with_detail("Time zone abbreviation is not recognized.");
  }

  void read_field(const TemplateNode& node) {
    const DateConvention convention = traits_of(node.keyword).convention;
    if (convention != DateConvention::none) {
      if (fields_.convention != DateConvention::none && fields_.convention != convention) {
        throw unreadable("invalid combination of date conventions")
            .with_hint(
                "Do not mix Gregorian and ISO week date conventions in a formatting template.");
      }
      fields_.convention = convention;
    }
    static constexpr std::string_view kMeridiem[] = {"am", "pm"};
    static constexpr std::string_view kMeridiemDotted[] = {"a.m.", "p.m."};
    static constexpr std::string_view kEra[] = {"ad", "bc"};
    static constexpr std::string_view kEraDotted[] = {"a.d.", "b.c."};
    static constexpr std::string_view kRoman[] = {"XII", "XI", "X",  "IX",  "VIII", "VII",
                                                  "VI",  "V",  "IV", "III", "II",   "I"};
    constexpr std::size_t kShort = 3;
    constexpr std::size_t kWhole = std::string_view::npos;
    switch (node.keyword) {
      case Keyword::literal:
        return;
      case Keyword::meridiem:
      case Keyword::meridiem_dotted:
        set(fields_.is_afternoon,
            name(node, node.keyword == Keyword::meridiem ? std::span{kMeridiem}
                                                         : std::span{kMeridiemDotted}),
            node);
        fields_.has_twelve_hours = true;
        return;
      case Keyword::era:
        return set(fields_.is_before_christ, name(node, kEra), node);
      case Keyword::era_dotted:
        return set(fields_.is_before_christ, name(node, kEraDotted), node);
      case Keyword::hour_12:
        number(fields_.hour, node, 2);
        fields_.has_twelve_hours = true;
        return;
      case Keyword::hour_24:
        number(fields_.hour, node, 2);
        return;
      case Keyword::minute:
        number(fields_.minute, node);
        return;
      case Keyword::second:
        number(fields_.second, node);
        return;
      case Keyword::millisecond:
        return fraction(fields_.millisecond, node, 3);
      case Keyword::microsecond:
        return fraction(fields_.microsecond, node, 6);
      case Keyword::fraction:
        fields_.precision = node.width;
        return fraction(fields_.microsecond, node, static_cast<std::size_t>(node.width));
      case Keyword::second_of_day:
        number(fields_.second_of_day, node);
        return;
      case Keyword::zone_hours:
        return zone_hours(node);
      case Keyword::zone_minutes:
        if (fields_.zone_sign == 0) fields_.zone_sign = 1;
        set(fields_.zone_minutes, read_number(node, 2).value, node);
        return;
      case Keyword::zone_offset:
        return zone_offset(node);
      case Keyword::zone_name:
        return zone_name(node);
      case Keyword::month_name:
        return set(fields_.month, name(node, months(kWhole)) + 1, node);
      case Keyword::month_abbreviation:
        return set(fields_.month, name(node, months(kShort)) + 1, node);
      case Keyword::roman_month:
        return set(fields_.month, 12 - name(node, kRoman), node);
      case Keyword::day_name:
      case Keyword::day_abbreviation:
        // The name is set with Sunday as 0 first, which contradicts no other value.
        set(fields_.week_day,
            name(node, weekdays(node.keyword == Keyword::day_name ? kWhole : kShort)), node);
        ++fields_.week_day;
        return;
      case Keyword::month_number:
        number(fields_.month, node);
        return;
      case Keyword::day_of_year:
        number(fields_.day_of_year, node);
        return;
      case Keyword::iso_day_of_year:
        number(fields_.day_of_year, node, 3);
        return;
      case Keyword::day_of_month:
        number(fields_.day, node);
        return;
      case Keyword::day_of_week:
        number(fields_.week_day, node);
        return;
      case Keyword::iso_day_of_week:
        number(fields_.week_day, node, 1);
        if (++fields_.week_day > 7) fields_.week_day = 1;
        return;
      case Keyword::week_of_year:
      case Keyword::iso_week:
        number(fields_.week, node);
        return;
      case Keyword::quarter: {
        // Which day of a quarter would be meant?
        i64 ignored = 0;
        number(ignored, node);
        return;
      }
      case Keyword::century:
        number(fields_.century, node);
        return;
      case Keyword::year_with_comma:
        return year_with_comma(node);
      case Keyword::year:
      case Keyword::iso_year:
        return year(node);
      case Keyword::week_of_month:
        number(fields_.week_of_month, node);
        return;
      case Keyword::julian:
        number(fields_.julian, node);
        return;
    }
  }

  std::string_view rest_;
  std::span<const TemplateNode> nodes_;
  bool is_standard_;
  const TimeZone& session_;
  std::size_t at_ = 0;
  /// How many characters more were skipped than the template has.
  int skipped_ = 0;
  char last_ = 0;  ///< last consumed character
  TemplateFields fields_;
};

}  // namespace

TemplateFields read_fields(std::string_view text, const TemplateNodes& nodes, TemplateRules rules,
                           const TimeZone& session) {
  return FieldReader{text, nodes, rules, session}.read();
}

}  // namespace swizzle::sql

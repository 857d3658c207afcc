#include "sql-lite-frontend/types/functions/numbers/number_template.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "sql-lite-frontend/types/functions/numbers/number_template_parts.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/numeric/numeric_decimal.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

using Template = NumberTemplate;
using Node = Template::Node;
using Kind = Node::Kind;
using Ordinal = Template::Ordinal;

/// Formatter of one number's digits by a template.
class Writer {
 public:
  /// `whole` and `fraction` are the rounded number's digits, `whole` empty for zero.
  Writer(const Template& pattern, std::string whole, std::string fraction, bool negative)
      : t_{pattern}, whole_{std::move(whole)}, fraction_{std::move(fraction)}, negative_{negative} {
    // A template may have more decimals than the number.
    fraction_.resize(static_cast<std::size_t>(t_.after), '0');
  }

  std::string write() {
    prepare();
    for (const Node& node : t_.nodes) show(node);
    const bool has_digits = t_.before > 0 || t_.after > 0;
    if (sign_pending_ && !t_.own_sign && has_digits) put_sign();
    return std::move(out_);
  }

 private:
  void prepare() {
    const auto width = static_cast<std::size_t>(t_.before);
    // Zero needs a place, too.
    if (std::max<std::size_t>(1, whole_.size()) > width) {
      overflow_ = true;
      whole_.assign(width, '#');
      fraction_.assign(static_cast<std::size_t>(t_.after), '#');
    }
    first_shown_ = t_.before - static_cast<int>(whole_.size());
    if (t_.first_zero >= 0) first_shown_ = std::min(first_shown_, t_.first_zero);
    // A single zero is shown unless decimals follow.
    if (t_.after == 0 && first_shown_ == t_.before && t_.before > 0) first_shown_ = t_.before - 1;
    whole_.insert(0, width - std::min(width, whole_.size()), '0');
    last_shown_ = static_cast<int>(fraction_.size());
    if (!t_.filled && !overflow_) {
      // FM cuts trailing zeros, but none at a 0 of the template or before it.
      int kept = 0;
      int place = 0;
      bool after = false;
      for (const Node& node : t_.nodes) {
        if (node.kind == Kind::point) after = true;
        if (after && (node.kind == Kind::nine || node.kind == Kind::zero)) {
          ++place;
          const bool has_digit =
              place <= last_shown_ && fraction_[static_cast<std::size_t>(place - 1)] != '0';
          if (node.kind == Kind::zero || has_digit) kept = std::min(place, last_shown_);
        }
      }
      last_shown_ = kept;
    }
    // If no decimals are left, a single zero is shown.
    if (!t_.filled && last_shown_ == 0 && first_shown_ == t_.before && t_.before > 0)
      first_shown_ = t_.before - 1;
    for (std::size_t i = 0; i < t_.nodes.size(); ++i)
      if (t_.nodes[i].kind == Kind::sign) {
        sign_behind_ =
            std::any_of(t_.nodes.begin(), t_.nodes.begin() + static_cast<std::ptrdiff_t>(i),
                        [](const Node& n) { return n.kind == Kind::nine || n.kind == Kind::zero; });
        anchored_ = !sign_behind_;
      }
    bool brackets = std::any_of(t_.nodes.begin(), t_.nodes.end(),
                                [](const Node& n) { return n.kind == Kind::brackets; });
    brackets_ = brackets;
    sign_pending_ = !t_.own_sign || anchored_ || brackets;
  }

  // Writes the sign directly before the first digit.
  void put_sign() {
    if (!sign_pending_) return;
    sign_pending_ = false;
    if (brackets_)
      out_ += negative_ ? "<" : t_.filled ? " " : "";
    else if (anchored_)
      out_ += negative_ ? "-" : "+";
    else if (negative_)
      out_ += "-";
    else if (t_.filled)
      out_ += " ";
  }

  void show(const Node& node) {
    switch (node.kind) {
      case Kind::nine:
      case Kind::zero:
        return show_digit();
      case Kind::point:
        put_sign();
        after_point_ = true;
        place_ = 0;
        if (t_.after > 0 || overflow_) out_ += '.';
        return;
      case Kind::comma:
        if (place_ > first_shown_ || after_point_)
          out_ += ',';
        else if (t_.filled)
          out_ += ' ';
        return;
      case Kind::sign:
        if (sign_behind_) out_ += negative_ ? '-' : '+';
        return;
      case Kind::sign_here:
        out_ += negative_ ? '-' : '+';
        return;
      case Kind::minus:
        if (negative_)
          out_ += '-';
        else if (t_.filled)
          out_ += ' ';
        return;
      case Kind::plus:
        if (!negative_)
          out_ += '+';
        else if (t_.filled)
          out_ += ' ';
        return;
      case Kind::brackets:
        if (negative_)
          out_ += '>';
        else if (t_.filled)
          out_ += ' ';
        return;
      case Kind::currency:
        out_ += ' ';
        return;
      case Kind::ordinal:
        if (!negative_ && t_.after == 0) out_ += ordinal_suffix(whole_, node.ordinal);
        return;
      case Kind::literal:
        out_ += node.text;
        return;
    }
  }

  void show_digit() {
    if (after_point_) {
      if (place_ < last_shown_) out_ += fraction_[static_cast<std::size_t>(place_)];
      ++place_;
      return;
    }
    if (place_ >= first_shown_) {
      put_sign();
      out_ += whole_[static_cast<std::size_t>(place_)];
    } else if (t_.filled) {
      out_ += ' ';
    }
    ++place_;
  }

  const Template& t_;
  std::string whole_;
  std::string fraction_;
  bool negative_;
  bool overflow_ = false;
  bool after_point_ = false;
  bool sign_pending_ = false;
  bool sign_behind_ = false;
  bool anchored_ = false;
  bool brackets_ = false;
  int place_ = 0;
  int first_shown_ = 0;
  int last_shown_ = 0;
  std::string out_;
};

}  // namespace

std::string roman_numeral(std::int64_t number, const Template& t) {
  if (number < 1 || number > 3999) return std::string(15, '#');
  constexpr std::pair<int, std::string_view> kSteps[] = {
      {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
      {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
  std::string out;
  for (const auto& [value, text] : kSteps)
    for (; number >= value; number -= value) out += text;
  if (t.roman_lower)
    for (char& c : out) c = to_lower(c);
  if (t.filled) out.insert(0, 15 - std::min<std::size_t>(15, out.size()), ' ');
  return out;
}

namespace {

std::string scientific(FunctionContext& context, const Value& value, const Template& t) {
  const Decimal d = to_decimal(value);
  const int exponent = d.digits.empty() ? 0 : d.decimal_weight();
  const Decimal shift = to_decimal(
      numeric_power(context.arena, numeric_from_int(10), numeric_from_int(std::abs(exponent))));
  const Value mantissa = from_decimal(
      context.arena, exponent < 0 ? multiply(d, shift, t.after) : divide(d, shift, t.after));
  std::string out = numeric_sign(value) < 0 ? "" : " ";
  append_numeric(out, mantissa);
  out += fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  return out;
}

/// Formats a number's digits by a template; `text` is the number rounded to the template's
/// decimals.
std::string lay_out(const Template& t, std::string_view text, bool negative) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  std::string whole{text.substr(0, point)};
  std::string fraction{point == std::string_view::npos ? "" : text.substr(point + 1)};
  if (whole == "0") whole.clear();
  return Writer{t, std::move(whole), std::move(fraction), negative}.write();
}

std::string show(FunctionContext& context, Value value, std::string_view format) {
  const Template t = parse_number_template(format, context.arena.account());
  if (t.roman) {
    const Value whole = numeric_round(context.arena, value, 0);
    const bool fits = whole.kind() == Value::Kind::extended &&
                      std::in_range<std::int32_t>(whole.decimal_unscaled());
    return roman_numeral(fits ? whole.decimal_unscaled() : 0, t);
  }
  if (t.scientific) return scientific(context, value, t);
  if (t.shifted > 0)
    value = numeric_multiply(
        context.arena, value,
        numeric_power(context.arena, numeric_from_int(10), numeric_from_int(t.shifted)));
  const Value rounded = numeric_round(context.arena, value, t.after);
  std::string text;
  append_numeric(text, rounded);
  return lay_out(t, text, numeric_sign(rounded) < 0);
}

bool is_no_number(const Value& value) {
  return numeric_is_nan(value) || numeric_is_infinite(value);
}

void drop_fraction(Template& t) {
  const auto point = std::ranges::find(t.nodes, Kind::point, &Node::kind);
  const auto is_fraction = [](const Node& node) {
    return node.kind == Kind::point || node.kind == Kind::nine || node.kind == Kind::zero;
  };
  t.nodes.erase(std::remove_if(point, t.nodes.end(), is_fraction), t.nodes.end());
  t.after = 0;
}

/// Shows NaN and infinities in place of the digits, if they fit. `digits`: most that the type has;
/// the letters count as such.
Value show_no_number(FunctionContext& context, const Value& value, std::string_view format,
                     int digits = std::numeric_limits<int>::max()) {
  Template t = parse_number_template(format, context.arena.account());
  std::string text;
  append_numeric(text, value);
  if (!t.roman && !t.scientific) {
    const int letters = static_cast<int>(text.size()) - (text.starts_with('-') ? 1 : 0);
    t.after = std::clamp(digits - letters, 0, t.after);
  }
  if (t.roman) return make_text(context.arena, roman_numeral(0, t));
  if (!t.scientific) {
    const bool is_negative = text.starts_with('-');
    const bool fits = text.size() - (is_negative ? 1 : 0) <= static_cast<std::size_t>(t.before);
    const auto has = [&](Kind kind) {
      return std::ranges::find(t.nodes, kind, &Node::kind) != t.nodes.end();
    };
    // The ending of an ordinal number depends on its last digit.
    if (fits && !is_negative && has(Kind::ordinal) && !has(Kind::point)) {
      throw_error(sqlstate::invalid_text_representation, "\"{}\" is not a number", text);
    }
    if (fits) drop_fraction(t);
    return make_text(context.arena, lay_out(t, text, is_negative));
  }
  constexpr std::size_t kExponent = 4;
  const std::size_t before = static_cast<std::size_t>(t.before) + 1;
  std::string out(before + 1 + static_cast<std::size_t>(t.after) + kExponent, '#');
  out[0] = ' ';
  out[before] = '.';
  return make_text(context.arena, out);
}

}  // namespace

Value integer_to_char(FunctionContext& context, std::span<const Value> a) {
  return make_text(context.arena, show(context, numeric_from_int(a[0].as_int8()), a[1].as_text()));
}

Value numeric_to_char(FunctionContext& context, std::span<const Value> a) {
  if (is_no_number(a[0])) return show_no_number(context, a[0], a[1].as_text());
  return make_text(context.arena, show(context, a[0], a[1].as_text()));
}

namespace {

/// Rounds the binary fraction itself, not its decimal digits as shown. Digits beyond `digits`
/// significant ones are left out.
Value float_to_char(FunctionContext& context, double number, int digits, std::string_view format) {
  Template t = parse_number_template(format, context.arena.account());
  // Negated, so that NaN takes this branch, too.
  if (t.roman && !(std::fabs(number) < 0x1p31))
    return make_text(context.arena, std::string(15, '#'));
  if (!std::isfinite(number) && !t.scientific) {
    return show_no_number(context, numeric_from_double(context.arena, number, digits), format,
                          digits);
  }
  if (t.roman || t.scientific || t.shifted > 0 || !std::isfinite(number)) {
    const Value arguments[2] = {numeric_from_double(context.arena, number, digits),
                                make_text(context.arena, format)};
    return numeric_to_char(context, arguments);
  }
  const int whole = static_cast<int>(fmt::format("{:.0f}", std::fabs(number)).size());
  t.after = std::clamp(digits - whole, 0, t.after);
  return make_text(context.arena,
                   lay_out(t, fmt::format("{:.{}f}", number, t.after), std::signbit(number)));
}

}  // namespace

Value float4_to_char(FunctionContext& context, std::span<const Value> a) {
  return float_to_char(context, static_cast<double>(a[0].as_float4()), 6, a[1].as_text());
}

Value float8_to_char(FunctionContext& context, std::span<const Value> a) {
  return float_to_char(context, a[0].as_float8(), 15, a[1].as_text());
}

}  // namespace swizzle::sql

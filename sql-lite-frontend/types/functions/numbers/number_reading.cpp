#include <algorithm>
#include <string>

#include "sql-lite-frontend/types/functions/numbers/number_template.h"
#include "sql-lite-frontend/types/functions/numbers/number_template_parts.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

/// to_number().
namespace swizzle::sql {
namespace {

using Template = NumberTemplate;
using Node = Template::Node;
using Kind = Node::Kind;

/// Reads a number by a template, character by character, as PostgreSQL does: unexpected characters
/// are skipped, one for each position of the template.
class Reader {
 public:
  Reader(const Template& pattern, std::string_view text) : t_{pattern}, rest_{text} {
    const auto has = [&](Kind kind) {
      return std::ranges::find(t_.nodes, kind, &Node::kind) != t_.nodes.end();
    };
    has_point_ = has(Kind::point);
    has_sign_ = has(Kind::sign);
    has_brackets_ = has(Kind::brackets);
    has_own_sign_ = has(Kind::minus) || has(Kind::plus) || has(Kind::sign_here);
  }

  /// As numeric's input takes it, with a blank where there is no sign.
  std::string read() {
    for (const Node& node : t_.nodes) {
      if (rest_.empty()) break;
      if (reads(node) && !rest_.empty()) rest_.remove_prefix(1);
    }
    if (digits_.ends_with('.')) digits_.pop_back();
    return sign_ + digits_;
  }
  [[nodiscard]] int decimals() const noexcept { return read_after_; }

 private:
  /// Reads the next character by the template's node. Returns true if it is used up.
  bool reads(const Node& node) {
    const char next = rest_[0];
    switch (node.kind) {
      case Kind::nine:
      case Kind::zero:
        digit_or_point(Place::digit);
        return true;
      case Kind::point:
        digit_or_point(Place::point);
        return true;
      case Kind::comma:
        return t_.filled && next == ',';
      case Kind::currency:
        skip(1);
        return false;
      case Kind::ordinal:
        skip(2);
        return false;
      case Kind::minus:
        return sign_or_skip(next == '-');
      case Kind::plus:
        return sign_or_skip(next == '+');
      case Kind::sign_here:
        return sign_or_skip(next == '-' || next == '+');
      case Kind::sign:
      case Kind::brackets:
        return false;
      case Kind::literal:
        for (const char c : node.text) {
          const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
          if (begins && !rest_.empty()) pass_character();
        }
        return false;
    }
    return false;
  }

  void pass_character() { rest_.remove_prefix(std::min(rest_.size(), utf8_length(rest_[0]))); }

  /// Skips characters that are no part of a number.
  void skip(int characters) {
    constexpr std::string_view kData = "0123456789.,+-";
    for (; characters > 0 && !rest_.empty() && !kData.contains(rest_[0]); --characters) {
      pass_character();
    }
  }

  bool sign_or_skip(bool is_sign) {
    if (is_sign) {
      sign_ = rest_[0];
    } else {
      skip(1);
    }
    return is_sign;
  }

  enum class Place : std::uint8_t { digit, point };
  void digit_or_point(Place place) {
    if (rest_[0] == ' ') rest_.remove_prefix(1);
    if (rest_.empty()) return;
    const bool at_start = digits_count_ == 0;
    if (sign_ == ' ' && place == Place::digit && at_start) {
      const char next = rest_[0];
      const bool opens = has_brackets_ && next == '<';
      if (next == '-' || next == '+' || opens) {
        sign_ = next == '+' ? '+' : '-';
        rest_.remove_prefix(1);
      }
    }
    if (rest_.empty()) return;
    bool has_read = false;
    if (is_digit(rest_[0])) {
      if (read_point_ && read_after_ == t_.after) return;
      digits_ += rest_[0];
      ++digits_count_;
      if (read_point_) ++read_after_;
      has_read = true;
    } else if (has_point_ && !read_point_ && rest_[0] == '.') {
      digits_ += '.';
      read_point_ = has_read = true;
    }
    if (sign_ != ' ' || digits_count_ == 0) return;
    // A sign may follow the last digit.
    if (has_sign_ && has_read) {
      if (rest_.size() < 2 || (rest_[1] != '-' && rest_[1] != '+')) return;
      sign_ = rest_[1];
      rest_.remove_prefix(1);
    } else if (!has_read && !has_sign_ && has_own_sign_ && (rest_[0] == '-' || rest_[0] == '+')) {
      sign_ = rest_[0];
    }
  }

  const Template& t_;
  std::string_view rest_;
  char sign_ = ' ';
  std::string digits_;
  int digits_count_ = 0;
  int read_after_ = 0;
  bool read_point_ = false;
  bool has_point_ = false;
  bool has_sign_ = false;
  bool has_brackets_ = false;
  bool has_own_sign_ = false;
};

/// Returns the value of a letter of Roman numerals; 0 for other characters.
std::int64_t value_of_roman(char letter) {
  switch (to_lower(letter)) {
    case 'i':
      return 1;
    case 'v':
      return 5;
    case 'x':
      return 10;
    case 'l':
      return 50;
    case 'c':
      return 100;
    case 'd':
      return 500;
    case 'm':
      return 1000;
    default:
      return 0;
  }
}

/// Returns the number that begins the text. Numerals are valid only as to_char() writes them.
std::int64_t read_roman(std::string_view text) {
  constexpr std::size_t kLongest = 15;
  text = trim_space(text).substr(0, kLongest);
  std::string numeral;
  std::int64_t number = 0;
  std::int64_t last = 0;
  for (const char letter : text) {
    const std::int64_t value = value_of_roman(letter);
    if (value == 0) break;
    // A smaller letter before a greater one is subtracted.
    number += value > last ? value - 2 * last : value;
    last = value;
    numeral.push_back(to_lower(letter));
  }
  Template plain;
  plain.roman_lower = true;
  plain.filled = false;
  if (numeral.empty() || roman_numeral(number, plain) != numeral)
    throw SqlError{sqlstate::invalid_text_representation, "invalid Roman numeral"};
  return number;
}

}  // namespace

Value text_to_number(FunctionContext& context, std::span<const Value> a) {
  const Template t = parse_number_template(a[1].as_text(), context.arena.account());
  if (a[1].as_text().empty()) return Value::null();
  if (t.scientific) {
    throw SqlError{sqlstate::feature_not_supported, "\"EEEE\" not supported for input"};
  }
  if (t.roman) return numeric_from_int(read_roman(a[0].as_text()));
  Reader reader{t, a[0].as_text()};
  const std::string text = reader.read();
  // Digits without a place in the template do not fit.
  const int decimals = reader.decimals();
  const Value out = numeric_apply_typmod(context.arena, numeric_from_text(context.arena, text),
                                         numeric_typmod(t.before + decimals, decimals));
  if (t.shifted == 0) return out;
  return numeric_multiply(
      context.arena, out,
      numeric_power(context.arena, numeric_from_int(10), numeric_from_int(-t.shifted)));
}

}  // namespace swizzle::sql

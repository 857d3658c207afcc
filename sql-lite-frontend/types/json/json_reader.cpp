#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_errors.h"
#include "sql-lite-frontend/types/json/json_parts.h"
#include "sql-lite-frontend/types/json/plain_json.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

/// Reader of JSON text: validates it and converts it to jsonb's spelling.
namespace swizzle::sql {
namespace {

/// Appends a number as jsonb spells it: as a numeric, without an exponent; zero has no sign.
void append_plain_number(std::string_view written, std::string& out) {
  const std::size_t e = written.find_first_of("eE");
  std::string_view mantissa = written.substr(0, e);
  long exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view digits = written.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    constexpr long kMost = 131'071;
    constexpr long kLeast = -16'000;
    if (read.ec != std::errc{} || exponent > kMost || exponent < kLeast) {
      throw SqlError{sqlstate::numeric_value_out_of_range, "value overflows numeric format"};
    }
  }
  const bool negative = mantissa.starts_with('-');
  if (negative) mantissa.remove_prefix(1);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits{mantissa.substr(0, point)};
  if (point < mantissa.size()) digits += mantissa.substr(point + 1);
  // Position of the decimal point among the digits.
  long place = static_cast<long>(point) + exponent;
  if (place <= 0) {
    digits.insert(0, static_cast<std::size_t>(1 - place), '0');
    place = 1;
  }
  const auto whole = static_cast<std::size_t>(place);
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  const std::size_t leading = std::min(digits.find_first_not_of('0'), whole - 1);
  const bool is_zero = digits.find_first_not_of('0') == std::string::npos;
  if (negative && !is_zero) out += '-';
  out += std::string_view{digits}.substr(leading, whole - leading);
  if (digits.size() > whole) {
    out += '.';
    out += std::string_view{digits}.substr(whole);
  }
}

/// True for characters that continue a bare word or number, valid or not.
bool is_of_word(char c) {
  const char low = to_lower(c);
  return (low >= 'a' && low <= 'z') || is_digit(c) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Reads one JSON value from front to back and writes its canonical spelling.
class JsonReader {
 public:
  JsonReader(std::string_view text, TypeId type) : text_(text), type_(type) {}

  /// Returns the string, unescaped, with which the text begins.
  std::string read_string() { return string(); }

  std::string read() {
    std::string out;
    if (text_.size() >= kLongBytes) out.reserve(text_.size());
    value(out);
    skip_blanks();
    if (at_ < text_.size()) refuse(JsonExpected::end);
    return out;
  }

 private:
  [[noreturn]] void refuse(JsonExpected expected) const { refuse_at(at_, expected); }
  /// Throws the syntax error of the token that begins at `begin`.
  [[noreturn]] void refuse_at(std::size_t begin,
                              JsonExpected expected = JsonExpected::value) const {
    fail_json(text_, begin, expected,
              type_ == TypeId::jsonb ? JsonEscapes::read : JsonEscapes::kept);
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  [[nodiscard]] char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void expect(char wanted, JsonExpected expected) {
    if (peek() != wanted) refuse(expected);
    ++at_;
  }
  [[nodiscard]] bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }

  void value(std::string& out) {
    check_stack();
    constexpr std::size_t kWorkOfValue = 40;
    yield_point(kWorkOfValue);
    switch (peek()) {
      case '{':
        return object(out);
      case '[':
        return array(out);
      case '"':
        return append_json_string(string(), out);
      case 't':
        return word("true", out);
      case 'f':
        return word("false", out);
      case 'n':
        return word("null", out);
      default:
        return number(out);
    }
  }

  void word(std::string_view wanted, std::string& out) {
    if (text_.substr(at_, wanted.size()) != wanted) refuse(JsonExpected::value);
    const std::size_t end = at_ + wanted.size();
    if (end < text_.size() && is_of_word(text_[end])) refuse(JsonExpected::value);
    at_ = end;
    out += wanted;
  }

  /// A member in the output: from its name's opening quote to the end of its value.
  struct Member {
    std::string name;
    std::size_t begin;
    std::size_t end;
  };
  static bool is_before(const Member& left, const Member& right) {
    return left.name.size() != right.name.size() ? left.name.size() < right.name.size()
                                                 : left.name < right.name;
  }

  void object(std::string& out) {
    ++at_;
    out += '{';
    const std::size_t begin = out.size();
    std::vector<Member> members;
    bool in_order = true;
    if (!take('}')) {
      do {
        if (peek() != '"')
          refuse(members.empty() ? JsonExpected::object_first : JsonExpected::string);
        std::string name = string();
        expect(':', JsonExpected::colon);
        if (!members.empty()) out += ", ";
        members.push_back({std::move(name), out.size(), 0});
        append_json_string(members.back().name, out);
        out += ": ";
        value(out);
        members.back().end = out.size();
        const std::size_t count = members.size();
        in_order = in_order && (count == 1 || is_before(members[count - 2], members[count - 1]));
      } while (take(','));
      expect('}', JsonExpected::object_next);
    }
    if (!in_order) put_in_order(members, begin, out);
    out += '}';
  }

  static void put_in_order(std::vector<Member>& members, std::size_t begin, std::string& out) {
    std::ranges::stable_sort(members, is_before);
    std::string ordered;
    for (std::size_t i = 0; i < members.size(); ++i) {
      // Of members with equal names the last one counts.
      if (i + 1 < members.size() && members[i + 1].name == members[i].name) continue;
      if (!ordered.empty()) ordered += ", ";
      ordered.append(out, members[i].begin, members[i].end - members[i].begin);
    }
    out.replace(begin, std::string::npos, ordered);
  }

  void array(std::string& out) {
    ++at_;
    out += '[';
    if (!take(']')) {
      bool first = true;
      do {
        if (!std::exchange(first, false)) out += ", ";
        value(out);
      } while (take(','));
      expect(']', JsonExpected::array_next);
    }
    out += ']';
  }

  std::string string() {
    skip_blanks();
    const std::size_t begin = at_++;
    std::string out;
    for (;;) {
      const std::size_t from = at_;
      while (at_ < text_.size() && stands_for_itself(text_[at_])) ++at_;
      out.append(text_, from, at_ - from);
      if (at_ >= text_.size()) refuse_at(begin);
      if (text_[at_] == '"') break;
      if (text_[at_++] != '\\') refuse_at(begin);
      if (at_ >= text_.size() || !escape(text_[at_++], out)) refuse_at(begin);
    }
    ++at_;
    return out;
  }

  /// Decodes an escape. Returns false if it is invalid.
  bool escape(char letter, std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const auto found = kLetters.find(letter); found != std::string_view::npos) {
      out += kMeanings[found];
      return true;
    }
    if (letter != 'u') return false;
    std::uint32_t code = 0;
    if (!four_digits(code)) return false;
    // json keeps the escape as written, so its meaning is not checked.
    if (type_ != TypeId::jsonb) return true;
    if (code == 0 || (code >= 0xdc00 && code < 0xe000)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (text_.substr(at_, 2) != "\\u") return false;
      at_ += 2;
      std::uint32_t low = 0;
      if (!four_digits(low) || low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10U) + (low - 0xdc00);
    }
    append_code(code, out);
    return true;
  }

  bool four_digits(std::uint32_t& code) {
    for (int i = 0; i < 4; ++i) {
      if (at_ >= text_.size()) return false;
      const char c = to_lower(text_[at_++]);
      if (is_digit(c)) {
        code = code * 16 + static_cast<std::uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        code = code * 16 + static_cast<std::uint32_t>(c - 'a' + 10);
      } else {
        return false;
      }
    }
    return true;
  }

  static void append_code(std::uint32_t code, std::string& out) {
    const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) {
      byte(0xc0U | code >> 6U);
    } else {
      if (code < 0x10000) {
        byte(0xe0U | code >> 12U);
      } else {
        byte(0xf0U | code >> 18U);
        byte(0x80U | (code >> 12U & 0x3fU));
      }
      byte(0x80U | (code >> 6U & 0x3fU));
    }
    byte(0x80U | (code & 0x3fU));
  }

  void number(std::string& out) {
    const std::size_t start = at_;
    const auto digits = [&] {
      const std::size_t from = at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      return at_ > from;
    };
    const auto invalid = [&] { refuse_at(start); };
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    if (at_ < text_.size() && text_[at_] == '0') {
      ++at_;
    } else if (!digits()) {
      invalid();
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (!digits()) invalid();
    }
    if (at_ < text_.size() && to_lower(text_[at_]) == 'e') {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!digits()) invalid();
    }
    if (at_ < text_.size() && is_of_word(text_[at_])) invalid();
    const std::string_view written = text_.substr(start, at_ - start);
    if (type_ == TypeId::jsonb) {
      append_plain_number(written, out);
    } else {
      out += written;
    }
  }

  std::string_view text_;
  TypeId type_;
  std::size_t at_ = 0;
};

}  // namespace

void check_json(std::string_view text, TypeId type) {
  if (is_plain_json(text)) return;
  static_cast<void>(JsonReader{text, type}.read());
}

std::string canonical_json(std::string_view text) {
  return JsonReader{text, TypeId::jsonb}.read();
}

std::string json_string_value(std::string_view quoted) {
  return JsonReader{quoted, TypeId::jsonb}.read_string();
}

}  // namespace swizzle::sql

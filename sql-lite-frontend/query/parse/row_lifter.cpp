#include "sql-lite-frontend/query/parse/row_lifter.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/parse/letters.h"

namespace swizzle::sql {
namespace {

bool is_blank(char letter) {
  return std::string_view{" \t\r\n\f\v"}.contains(letter);
}

/// `word` in small letters.
bool is_word(std::string_view written, std::string_view word) {
  return std::ranges::equal(written, word, {}, [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
}

/// Returns the common type of a column whose literals have these types; nothing: there is none.
std::optional<TypeId> common_type(TypeId one, TypeId other) {
  if (one == other) return one;
  const auto rank = [](TypeId type) {
    if (type == TypeId::int4) return 1;
    if (type == TypeId::int8) return 2;
    return type == TypeId::numeric ? 3 : 0;
  };
  if (rank(one) == 0 || rank(other) == 0) return std::nullopt;
  return rank(one) > rank(other) ? one : other;
}

class RowLifter {
 public:
  RowLifter(std::string_view text, MemoryAccount* account) : text_(text), result_(account) {}

  std::optional<LiftedRows> run() {
    if (!head() || !rows() || !tail()) return std::nullopt;
    std::string& shape = result_.shape;
    shape.assign(text_.substr(0, head_end_));
    for (std::size_t i = 0; i < result_.types.size(); ++i) {
      shape += i == 0 ? " ($" : ", $";
      shape += std::to_string(i + 1);
    }
    shape += ") ";
    shape += text_.substr(at_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] char letter() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() noexcept {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char wanted) noexcept {
    skip_blanks();
    if (letter() != wanted) return false;
    ++at_;
    return true;
  }
  std::string_view take_word() noexcept {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word_part(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// INSERT INTO, names and lists of names, VALUES.
  bool head() {
    skip_blanks();
    if (!is_word(take_word(), "insert")) return false;
    skip_blanks();
    if (!is_word(take_word(), "into")) return false;
    for (int depth = 0;;) {
      skip_blanks();
      const char first = letter();
      if (is_word_start(first)) {
        if (!is_word(take_word(), "values") || depth != 0) continue;
        head_end_ = at_;
        return true;
      }
      if (first == '"') {
        const std::size_t end = text_.find('"', at_ + 1);
        if (end == std::string_view::npos) return false;
        at_ = end + 1;
        continue;
      }
      if (first != '(' && first != ')' && first != ',' && first != '.') return false;
      depth += (first == '(' ? 1 : 0) - (first == ')' ? 1 : 0);
      ++at_;
    }
  }

  bool rows() {
    std::size_t count = 0;
    do {
      const std::size_t begin = at_;
      if (!row(count == 0)) return false;
      constexpr std::size_t kWorkOfLetter = 4;
      yield_point((at_ - begin) * kWorkOfLetter);
      ++count;
    } while (take(','));
    for (TypeId& type : result_.types) {
      if (type == TypeId::none) type = TypeId::unknown;
    }
    return count > 1;
  }

  bool row(bool is_first) {
    if (!take('(')) return false;
    std::size_t column = 0;
    do {
      skip_blanks();
      const auto literal = take_literal();
      if (!literal || (!is_first && column == result_.types.size())) return false;
      if (is_first) result_.types.push_back(TypeId::none);
      TypeId& type = result_.types[column++];
      if (!literal->is_null) {
        const auto common = type == TypeId::none ? literal->type : common_type(type, literal->type);
        if (!common) return false;
        type = *common;
      }
      result_.literals.push_back(*literal);
    } while (take(','));
    return take(')') && column == result_.types.size();
  }

  /// Accepts the text after the rows.
  bool tail() {
    skip_blanks();
    const std::size_t begin = at_;
    const std::string_view word = take_word();
    if (!word.empty() && !is_word(word, "returning") && !is_word(word, "on")) return false;
    at_ = begin;
    // The text must be one plain statement, because it becomes part of another text.
    const std::string_view rest = text_.substr(begin);
    if (rest.find("--") != std::string_view::npos || rest.find("/*") != std::string_view::npos ||
        rest.find_first_of("$\\") != std::string_view::npos) {
      return false;
    }
    const std::size_t semicolon = rest.find(';');
    return semicolon == std::string_view::npos ||
           std::ranges::all_of(rest.substr(semicolon + 1), is_blank);
  }

  std::optional<LiftedRows::Literal> take_literal() {
    const char first = letter();
    if (first == '\'') return take_string();
    if (is_digit(first) || first == '-') return take_number();
    if (!is_word_start(first)) return std::nullopt;
    const std::string_view word = take_word();
    if (is_word(word, "null")) return LiftedRows::Literal{.text = word, .is_null = true};
    if (is_word(word, "true") || is_word(word, "false")) {
      return LiftedRows::Literal{.text = word, .type = TypeId::bool_};
    }
    return std::nullopt;
  }

  std::optional<LiftedRows::Literal> take_string() {
    LiftedRows::Literal literal;
    const std::size_t begin = ++at_;
    for (;;) {
      const std::size_t quote = text_.find('\'', at_);
      if (quote == std::string_view::npos) return std::nullopt;
      at_ = quote + 1;
      if (letter() != '\'') break;
      literal.has_quotes = true;
      ++at_;
    }
    literal.text = text_.substr(begin, at_ - 1 - begin);
    return literal;
  }

  std::optional<LiftedRows::Literal> take_number() {
    const std::size_t begin = at_;
    if (letter() == '-') ++at_;
    const std::size_t digits = at_;
    const auto take_digits = [this] {
      const std::size_t from = at_;
      while (is_digit(letter())) ++at_;
      return at_ - from;
    };
    constexpr std::size_t kInt8Digits = 18;
    const std::size_t whole = take_digits();
    if (whole == 0 || whole > kInt8Digits || (whole > 1 && text_[digits] == '0')) {
      return std::nullopt;
    }
    const bool is_decimal = letter() == '.';
    if (is_decimal) {
      ++at_;
      if (take_digits() == 0) return std::nullopt;
    }
    if (is_word_part(letter()) || letter() == '.') return std::nullopt;
    LiftedRows::Literal literal{.text = text_.substr(begin, at_ - begin), .type = TypeId::numeric};
    if (!is_decimal) {
      std::int64_t value = 0;
      std::from_chars(literal.text.data(), literal.text.data() + literal.text.size(), value);
      using Int4 = std::numeric_limits<std::int32_t>;
      literal.type = value >= Int4::min() && value <= Int4::max() ? TypeId::int4 : TypeId::int8;
    }
    return literal;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t head_end_ = 0;
  LiftedRows result_;
};

}  // namespace

std::optional<LiftedRows> lift_rows(std::string_view text, MemoryAccount* account) {
  return RowLifter{text, account}.run();
}

}  // namespace swizzle::sql

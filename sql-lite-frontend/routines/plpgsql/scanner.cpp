#include "sql-lite-frontend/routines/plpgsql/scanner.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/query/parse/letters.h"
#include "sql-lite-frontend/query/parse/token_skipper.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql::plpgsql {
namespace {

bool is_blank(char letter) noexcept {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

class Scanner : TokenSkipper {
 public:
  explicit Scanner(std::string_view body) : TokenSkipper(body), body_(body) {}

  std::vector<Token> scan() {
    while (skip_blanks(), !rest_.empty()) read();
    add(Token::Kind::end, body_.size(), {});
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] std::size_t here() const noexcept { return body_.size() - rest_.size(); }
  [[nodiscard]] bool at(std::string_view text) const noexcept { return rest_.starts_with(text); }
  void add(Token::Kind kind, std::size_t begin, std::string text) {
    constexpr std::size_t kWorkOfToken = 200;
    yield_point(kWorkOfToken + begin - counted_to_);
    line_ +=
        static_cast<int>(std::ranges::count(body_.substr(counted_to_, begin - counted_to_), '\n'));
    counted_to_ = begin;
    tokens_.push_back({kind, std::move(text), begin, here(), line_});
  }

  void skip_blanks() {
    for (;;) {
      skip_while(is_blank);
      if (at("--")) {
        skip_to("\n");
      } else if (at("/*")) {
        const std::size_t begin = here();
        if (skip_comment() == 0) fail("unterminated /* comment", begin);
      } else {
        return;
      }
    }
  }

  void read() {
    const char letter = rest_.front();
    const bool is_string_prefix = rest_.size() > 1 && rest_[1] == '\'' &&
                                  std::string_view{"eEbBxXnN"}.find(letter) != std::string::npos;
    if (letter == '\'' || is_string_prefix) return read_string();
    if (begins_name(letter)) return read_word();
    if (letter == '"') return read_quoted();
    if (letter == '$') return read_dollar();
    if (is_digit(letter) || (letter == '.' && rest_.size() > 1 && is_digit(rest_[1])))
      return read_number();
    read_symbol();
  }

  void read_word() {
    const std::size_t begin = here();
    skip_while(continues_name);
    std::string word{body_.substr(begin, here() - begin)};
    std::ranges::transform(word, word.begin(), [](char each) {
      return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    });
    add(Token::Kind::word, begin, std::move(word));
  }

  void read_quoted() {
    const std::size_t begin = here();
    rest_.remove_prefix(1);
    std::string name;
    for (;;) {
      const std::size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) fail("unterminated quoted identifier", begin);
      name += rest_.substr(0, quote);
      rest_.remove_prefix(quote + 1);
      if (!at("\"")) break;
      name += '"';
      rest_.remove_prefix(1);
    }
    add(Token::Kind::quoted, begin, std::move(name));
  }

  void read_string() {
    const std::size_t begin = here();
    const bool escapes = rest_.front() == 'e' || rest_.front() == 'E';
    if (rest_.front() != '\'') rest_.remove_prefix(1);
    rest_.remove_prefix(1);
    std::string text;
    for (;;) {
      if (rest_.empty()) fail("unterminated quoted string", begin);
      const char letter = rest_.front();
      if (escapes && letter == '\\' && rest_.size() > 1) {
        text += escaped(rest_[1]);
        rest_.remove_prefix(2);
        continue;
      }
      rest_.remove_prefix(1);
      if (letter == '\'') {
        if (!at("'")) break;
        rest_.remove_prefix(1);
      }
      text += letter;
    }
    add(Token::Kind::string, begin, std::move(text));
  }
  static char escaped(char letter) noexcept {
    switch (letter) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      default:
        return letter;
    }
  }

  void read_dollar() {
    const std::size_t begin = here();
    const std::string_view before = rest_;
    skip_dollar();
    const std::string_view all = before.substr(0, before.size() - rest_.size());
    const std::size_t tag_end = all.find('$', 1);
    if (tag_end == std::string_view::npos) {
      const bool is_parameter = all.size() > 1;
      add(is_parameter ? Token::Kind::parameter : Token::Kind::symbol, begin, std::string{all});
      return;
    }
    const std::string_view tag = all.substr(0, tag_end + 1);
    if (all.size() < 2 * tag.size() || !all.ends_with(tag)) {
      fail("unterminated dollar-quoted string", begin);
    }
    add(Token::Kind::string, begin,
        std::string{all.substr(tag.size(), all.size() - 2 * tag.size())});
  }

  void read_number() {
    const std::size_t begin = here();
    skip_while(is_digit);
    // 1..10 is a range.
    if (at(".") && !at("..")) {
      rest_.remove_prefix(1);
      skip_while(is_digit);
    }
    const bool has_exponent =
        rest_.size() > 1 && (rest_[0] == 'e' || rest_[0] == 'E') &&
        (is_digit(rest_[1]) ||
         (rest_.size() > 2 && (rest_[1] == '-' || rest_[1] == '+') && is_digit(rest_[2])));
    if (has_exponent) {
      rest_.remove_prefix(2);
      skip_while(is_digit);
    }
    add(Token::Kind::number, begin, std::string{body_.substr(begin, here() - begin)});
  }

  void read_symbol() {
    static constexpr std::array kPairs = std::to_array<std::string_view>(
        {":=", "..", "<<", ">>", "::", "<=", ">=", "<>", "!=", "=>", "=="});
    const std::size_t begin = here();
    const auto* const pair =
        std::ranges::find_if(kPairs, [this](std::string_view each) { return at(each); });
    rest_.remove_prefix(pair != kPairs.end() ? 2 : 1);
    add(Token::Kind::symbol, begin, std::string{body_.substr(begin, here() - begin)});
  }

  [[noreturn]] void fail(std::string_view what, std::size_t begin) const {
    throw sql_error(sqlstate::syntax_error, "{} at or near \"{}\"", what, body_.substr(begin))
        .at_position(static_cast<int>(begin) + 1);
  }

  std::string_view body_;
  std::vector<Token> tokens_;
  std::size_t counted_to_ = 0;
  int line_ = 1;  ///< line number of the position up to which lines were counted
};

}  // namespace

std::vector<Token> scan(std::string_view body) {
  return Scanner{body}.scan();
}

int line_of(std::string_view body, std::size_t offset) {
  return 1 + static_cast<int>(std::ranges::count(body.substr(0, offset), '\n'));
}

}  // namespace swizzle::sql::plpgsql

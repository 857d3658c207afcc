// Parsers of tsquery's text form and of websearch_to_tsquery().
#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"
#include "sql-lite-frontend/types/fulltext/word_reader.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

struct QueryToken {
  enum class Kind : std::uint8_t { end, word, no, both, either, phrase, open, close };
  Kind kind = Kind::end;
  std::uint16_t distance = 0;
  std::uint8_t weights = 0;
  bool prefix = false;
  std::string word = {};
};
using Kind = QueryToken::Kind;

/// Tokens of a query. Tracks if an operand or an operator is expected.
class QueryTokens {
 public:
  QueryTokens() = default;
  QueryTokens(const QueryTokens&) = delete;
  QueryTokens& operator=(const QueryTokens&) = delete;
  virtual ~QueryTokens() = default;
  virtual QueryToken operand() = 0;
  virtual QueryToken join() = 0;
  /// No operand where one is due.
  virtual QueryPlace missing(QueryTree& tree) = 0;
  [[noreturn]] virtual void fail() = 0;
};

class TextTokens final : public QueryTokens {
 public:
  explicit TextTokens(std::string_view text) : text_(text), reader_(text, WordReader::Of::query) {}

  QueryToken operand() override {
    reader_.skip_blanks();
    if (reader_.at_end()) return {};
    switch (text_[reader_.at()]) {
      case '!':
        return single(Kind::no);
      case '(':
        return single(Kind::open);
      case ':':
        fail();
      default:
        break;
    }
    QueryToken token{.kind = Kind::word};
    reader_.next(nullptr);
    token.word = reader_.word();
    read_flags(token);
    return token;
  }
  QueryToken join() override {
    reader_.skip_blanks();
    if (reader_.at_end()) return {};
    switch (text_[reader_.at()]) {
      case '&':
        return single(Kind::both);
      case '|':
        return single(Kind::either);
      case ')':
        return single(Kind::close);
      case '<':
        return read_distance();
      default:
        fail();
    }
  }
  QueryPlace missing(QueryTree& /*tree*/) override {
    throw_error(sqlstate::syntax_error, "no operand in tsquery: \"{}\"", text_);
  }
  [[noreturn]] void fail() override { reader_.fail(); }

 private:
  QueryToken single(Kind kind) {
    reader_.move_to(reader_.at() + 1);
    return {.kind = kind};
  }
  void read_flags(QueryToken& token) {
    std::size_t at = reader_.at();
    if (at >= text_.size() || text_[at] != ':') return;
    for (++at; at < text_.size(); ++at) {
      constexpr std::string_view kLetters = "dcba";
      const auto weight = kLetters.find(static_cast<char>(text_[at] | 0x20));
      if (text_[at] == '*') {
        token.prefix = true;
      } else if (weight != std::string_view::npos) {
        token.weights = static_cast<std::uint8_t>(token.weights | 1U << weight);
      } else {
        break;
      }
    }
    reader_.move_to(at);
  }
  /// <-> or <N>.
  QueryToken read_distance() {
    std::size_t at = reader_.at() + 1;
    std::uint32_t distance = 1;
    if (at < text_.size() && text_[at] == '-') {
      ++at;
    } else {
      const std::size_t begin = at;
      distance = 0;
      for (; at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; ++at) {
        distance = std::min(distance * 10 + static_cast<std::uint32_t>(text_[at] - '0'), 1000000U);
      }
      if (at == begin) fail();
    }
    if (at >= text_.size() || text_[at] != '>') fail();
    if (distance > kMostDistance) {
      throw_error(sqlstate::invalid_parameter_value,
                  "distance in phrase operator must be an integer value between zero and {} "
                  "inclusive",
                  kMostDistance);
    }
    reader_.move_to(at + 1);
    return {.kind = Kind::phrase, .distance = static_cast<std::uint16_t>(distance)};
  }

  std::string_view text_;
  WordReader reader_;
};

class WebTokens final : public QueryTokens {
 public:
  explicit WebTokens(std::string_view text) : text_(text) {}

  QueryToken operand() override {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '-') {
        ++at_;
        return {.kind = Kind::no};
      }
      if (c == '"') return read_quoted();
      if (!is_blank(c) && !is_ignored(c)) return read_word();
    }
    return {};
  }
  QueryToken join() override {
    while (at_ < text_.size() && (is_blank(text_[at_]) || is_ignored(text_[at_]))) ++at_;
    if (at_ >= text_.size()) return {};
    if (is_or()) {
      at_ += 2;
      return {.kind = Kind::either};
    }
    return {.kind = Kind::both};
  }
  QueryPlace missing(QueryTree& tree) override { return tree.add({.op = QueryOp::stop}); }
  [[noreturn]] void fail() override {
    throw_error(sqlstate::syntax_error, "syntax error in tsquery: \"{}\"", text_);
  }

 private:
  static bool is_ignored(char c) noexcept {
    return c == '!' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<';
  }
  QueryToken read_quoted() {
    const std::size_t begin = ++at_;
    at_ = std::min(text_.find('"', at_), text_.size());
    QueryToken token{.kind = Kind::word, .word = std::string{text_.substr(begin, at_ - begin)}};
    at_ = std::min(at_ + 1, text_.size());
    return token;
  }
  QueryToken read_word() {
    const std::size_t begin = at_;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (is_blank(c) || is_ignored(c) || c == '"' || c == ':') break;
    }
    return {.kind = Kind::word, .word = std::string{text_.substr(begin, at_ - begin)}};
  }
  /// Returns true for the word "or" with text after it.
  [[nodiscard]] bool is_or() const noexcept {
    const std::string_view rest = text_.substr(at_);
    if (rest.size() < 3 || (rest[0] | 0x20) != 'o' || (rest[1] | 0x20) != 'r') return false;
    const char c = rest[2];
    const bool goes_on = c == '-' || c == '_' || (c >= '0' && c <= '9') || (c & 0x80) != 0 ||
                         ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    return !goes_on && std::ranges::any_of(rest.substr(3), [](char l) { return !is_blank(l); });
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class QueryParser {
 public:
  QueryParser(QueryTokens& tokens, QueryWords& words, MemoryAccount* account)
      : tokens_(tokens), words_(words), tree_(account) {}

  QueryTree read() {
    QueryToken first = tokens_.operand();
    if (first.kind == Kind::end) return std::move(tree_);
    tree_.root = read_joined(std::move(first), 0);
    if (next_.kind != Kind::end) tokens_.fail();
    return std::move(tree_);
  }

 private:
  static int priority(Kind kind) noexcept {
    switch (kind) {
      case Kind::either:
        return 1;
      case Kind::both:
        return 2;
      case Kind::phrase:
        return 3;
      default:
        return 0;
    }
  }
  static QueryOp op_of(Kind kind) noexcept {
    if (kind == Kind::phrase) return QueryOp::phrase;
    return kind == Kind::both ? QueryOp::both : QueryOp::either;
  }
  /// Reads an operand and the parts joined to it by operators above `outer`; leaves next_ after
  /// it.
  QueryPlace read_joined(QueryToken first, int outer) {
    check_stack();
    QueryPlace left = read_operand(std::move(first));
    while (priority(next_.kind) > outer) {
      yield_point(50);
      const QueryToken join = next_;
      const QueryPlace right = read_joined(tokens_.operand(), priority(join.kind));
      left = tree_.join(op_of(join.kind), left, right, join.distance);
    }
    return left;
  }
  QueryPlace read_operand(QueryToken token) {
    check_stack();
    switch (token.kind) {
      case Kind::no: {
        const QueryPlace of = read_operand(tokens_.operand());
        return tree_.add({.op = QueryOp::no, .right = of});
      }
      case Kind::open: {
        const QueryPlace inner = read_joined(tokens_.operand(), 0);
        if (next_.kind != Kind::close) tokens_.fail();
        next_ = tokens_.join();
        return inner;
      }
      case Kind::word: {
        const QueryPlace place = words_.take(tree_, token.word, token.weights, token.prefix);
        next_ = tokens_.join();
        return place;
      }
      default: {
        const QueryPlace place = tokens_.missing(tree_);
        next_ = {};
        return place;
      }
    }
  }

  QueryTokens& tokens_;
  QueryWords& words_;
  QueryTree tree_;
  QueryToken next_;
};

/// Words as they are.
class PlainWords final : public QueryWords {
 public:
  explicit PlainWords(Arena& arena) : arena_(arena) {}
  QueryPlace take(QueryTree& tree, std::string_view word, std::uint8_t weights,
                  bool prefix) override {
    return tree.add({.weights = weights, .prefix = prefix, .word = arena_.copy(word)});
  }

 private:
  Arena& arena_;
};

}  // namespace

QueryTree read_query(std::string_view text, QueryWords& words, MemoryAccount* account) {
  TextTokens tokens{text};
  return QueryParser{tokens, words, account}.read();
}

QueryTree read_web_query(std::string_view text, QueryWords& words, MemoryAccount* account) {
  WebTokens tokens{text};
  return QueryParser{tokens, words, account}.read();
}

Value read_text_query(Arena& arena, std::string_view text) {
  PlainWords words{arena};
  return make_text_query(arena, read_query(text, words, arena.account()));
}

}  // namespace swizzle::sql

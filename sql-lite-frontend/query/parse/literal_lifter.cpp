#include "sql-lite-frontend/query/parse/literal_lifter.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "sql-lite-frontend/query/parse/letters.h"

namespace swizzle::sql {
namespace {

/// Clauses in which a bare number is a position or a count, types whose names take numbers, and
/// words whose statements have no plan: texts with them are not lifted.
constexpr std::array kRefused = std::to_array<std::string_view>({
    "by",     "limit",  "offset",    "fetch",   "over",    "interval", "union",   "intersect",
    "except", "window", "with",      "cast",    "numeric", "decimal",  "varchar", "char",
    "bit",    "time",   "timestamp", "extract", "escape",  "conflict", "collate", "date",
});

std::string lower(std::string_view word) {
  std::string text{word};
  std::ranges::transform(text, text.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return text;
}

class Lifter {
 public:
  explicit Lifter(std::string_view text) : text_(text) {}

  std::optional<LiftedText> run() {
    if (!starts_plainly()) return std::nullopt;
    // A parameter may be longer than its literal.
    constexpr std::size_t kRoom = 32;
    result_.shape.reserve(text_.size() + kRoom);
    while (at_ < text_.size()) {
      if (!step()) return std::nullopt;
    }
    if (result_.literals.empty()) return std::nullopt;
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool starts_plainly() const {
    std::size_t begin = 0;
    while (begin < text_.size() && std::isspace(static_cast<unsigned char>(text_[begin]))) ++begin;
    std::size_t end = begin;
    while (end < text_.size() && is_word_part(text_[end])) ++end;
    const std::string word = lower(text_.substr(begin, end - begin));
    return word == "select" || word == "insert" || word == "update" || word == "delete" ||
           word == "merge";
  }

  void keep(std::size_t count) {
    result_.shape.append(text_.substr(at_, count));
    at_ += count;
  }

  void lift(TypeId type, std::string value) {
    result_.literals.push_back({type, std::move(value)});
    result_.shape += '$' + std::to_string(result_.literals.size());
    // Two literals side by side must not grow together.
    after_word_ = true;
  }

  bool step() {
    const char letter = text_[at_];
    if (std::isspace(static_cast<unsigned char>(letter))) {
      keep(1);
      return true;
    }
    if (is_word_start(letter)) return word();
    if (is_digit(letter)) return number();
    if (letter == '\'') return string();
    if (letter == '"') return quoted_name();
    if (letter == ';') return at_end();
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    const bool comment = (letter == '-' && next == '-') || (letter == '/' && next == '*');
    // A cast may have a modifier, and a bracket holds a subscript or a type.
    const bool cast = letter == ':' || letter == '[';
    const bool decimal = letter == '.' && is_digit(next);
    if (comment || cast || decimal || letter == '$' || letter == '\\') return false;
    after_word_ = letter == ')';
    keep(1);
    return true;
  }

  bool word() {
    std::size_t end = at_;
    while (end < text_.size() && is_word_part(text_[end])) ++end;
    const std::string name = lower(text_.substr(at_, end - at_));
    if (std::ranges::find(kRefused, name) != kRefused.end()) return false;
    // DISTINCT ON (1) means the first column.
    if (after_distinct_ && name == "on") return false;
    after_distinct_ = name == "distinct";
    // E'…', U&'…', B'…' and typed literals are not plain strings.
    if (end < text_.size() && (text_[end] == '\'' || text_[end] == '&')) return false;
    constexpr std::array kBeforeValues = std::to_array<std::string_view>(
        {"select",    "where",  "and",    "or",   "not",  "between", "in",
         "like",      "values", "set",    "then", "when", "else",    "case",
         "returning", "on",     "having", "is",   "any",  "all"});
    after_word_ = std::ranges::find(kBeforeValues, name) == kBeforeValues.end();
    keep(end - at_);
    return true;
  }

  bool number() {
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (after_word_) return false;
    if (end < text_.size() && (text_[end] == '.' || is_word_part(text_[end]))) return false;
    const std::string_view digits = text_.substr(at_, end - at_);
    constexpr std::size_t kSafeInt4Digits = 9;
    constexpr std::size_t kSafeInt8Digits = 18;
    if (digits.size() > kSafeInt8Digits || (digits.size() > 1 && digits[0] == '0')) return false;
    if (digits.size() > kSafeInt4Digits && digits.size() <= kSafeInt4Digits + 1) return false;
    lift(digits.size() <= kSafeInt4Digits ? TypeId::int4 : TypeId::int8, std::string{digits});
    at_ = end;
    return true;
  }

  bool string() {
    if (after_word_) return false;
    std::string value;
    std::size_t at = at_ + 1;
    for (;; ++at) {
      if (at >= text_.size()) return false;
      if (text_[at] != '\'') {
        value += text_[at];
        continue;
      }
      if (at + 1 < text_.size() && text_[at + 1] == '\'') {
        value += '\'';
        ++at;
        continue;
      }
      break;
    }
    lift(TypeId::unknown, std::move(value));
    at_ = at + 1;
    return true;
  }

  bool quoted_name() {
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) return false;
    keep(end + 1 - at_);
    after_word_ = true;
    return true;
  }

  /// Accepts a semicolon only at the end.
  bool at_end() {
    const bool last = text_.find_first_not_of(" \t\r\n", at_ + 1) == std::string_view::npos;
    if (last) at_ = text_.size();
    return last;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  /// The token before was a name, a literal or a closing parenthesis: a literal here would be a
  /// typed literal or an alias, not a value.
  bool after_word_ = false;
  bool after_distinct_ = false;
  LiftedText result_;
};

}  // namespace

std::optional<LiftedText> lift_literals(std::string_view text) {
  return Lifter{text}.run();
}

}  // namespace swizzle::sql

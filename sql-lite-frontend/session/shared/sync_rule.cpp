#include "sql-lite-frontend/session/shared/sync_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace swizzle::sql {
namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool are_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool begins_name(char letter) {
  return (lower(letter) >= 'a' && lower(letter) <= 'z') || letter == '_' ||
         static_cast<unsigned char>(letter) >= 0x80;
}

struct RuleToken {
  enum class Kind { end, number, name, sign } kind = Kind::end;
  std::string_view text;  ///< as written
  std::string value;
};

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : rest_(text) { take(); }

  Result<SyncRule> read() {
    SyncRule rule;
    if (now_.kind == RuleToken::Kind::end) return rule;
    const bool says_any = is_word("any");
    const bool says_how = says_any || is_word("first");
    if (says_how) take();
    const RuleToken first = now_;
    if (says_how && first.kind != RuleToken::Kind::number) return refuse();
    rule.is_any = says_any;
    if (first.kind == RuleToken::Kind::number) {
      take();
      if (is_sign('(')) {
        RETURN_IF_ERROR(read_counted(first, rule));
        return rule;
      }
      // A number without a list in parentheses after it is the name of the first standby.
      if (says_how) return refuse();
      rule.names.push_back(first.value);
      if (is_sign(',')) {
        take();
        RETURN_IF_ERROR(read_names(rule));
      }
    } else {
      RETURN_IF_ERROR(read_names(rule));
    }
    if (now_.kind != RuleToken::Kind::end) return refuse();
    rule.count = 1;
    return rule;
  }

 private:
  Result<> read_counted(const RuleToken& count, SyncRule& rule) {
    take();
    RETURN_IF_ERROR(read_names(rule));
    if (!is_sign(')')) return refuse();
    take();
    if (now_.kind != RuleToken::Kind::end) return refuse();
    rule.count = std::numeric_limits<std::size_t>::max();
    std::from_chars(count.value.data(), count.value.data() + count.value.size(), rule.count);
    if (rule.count > 0) return {};
    return fail(sqlstate::invalid_parameter_value,
                "number of synchronous standbys (0) must be greater than zero");
  }

  Result<> read_names(SyncRule& rule) {
    for (;; take()) {
      const bool is_name =
          now_.kind == RuleToken::Kind::name && !is_word("any") && !is_word("first");
      if (!is_name && now_.kind != RuleToken::Kind::number) return refuse();
      rule.names.push_back(now_.value);
      take();
      if (!is_sign(',')) return {};
    }
  }

  [[nodiscard]] bool is_sign(char sign) const {
    return now_.kind == RuleToken::Kind::sign && now_.text[0] == sign;
  }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return now_.kind == RuleToken::Kind::name && are_same(now_.text, word);
  }

  [[nodiscard]] std::unexpected<Error> refuse() const {
    const std::string why = now_.kind == RuleToken::Kind::end
                                ? "syntax error at end of input"
                                : fmt::format("syntax error at or near \"{}\"", now_.text);
    return fail(Error{sqlstate::invalid_parameter_value,
                      "invalid value for parameter \"synchronous_standby_names\""}
                    .with_detail(why));
  }

  void take() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r\f"), rest_.size()));
    now_ = {};
    if (rest_.empty()) return;
    std::size_t size = 1;
    if (rest_[0] == '"') {
      now_.kind = read_quoted(size) ? RuleToken::Kind::name : RuleToken::Kind::sign;
    } else if (rest_[0] == '*') {
      now_.kind = RuleToken::Kind::name;
      now_.value = "*";
    } else if (is_digit(rest_[0])) {
      while (size < rest_.size() && is_digit(rest_[size])) ++size;
      now_.kind = RuleToken::Kind::number;
      now_.value = rest_.substr(0, size);
    } else if (begins_name(rest_[0])) {
      const auto goes_on = [](char letter) {
        return begins_name(letter) || is_digit(letter) || letter == '$';
      };
      while (size < rest_.size() && goes_on(rest_[size])) ++size;
      now_.kind = RuleToken::Kind::name;
      now_.value = rest_.substr(0, size);
    } else {
      now_.kind = RuleToken::Kind::sign;
    }
    now_.text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  /// Returns false if the closing quote is missing.
  bool read_quoted(std::size_t& size) {
    while (size < rest_.size()) {
      if (rest_[size] != '"') {
        now_.value += rest_[size++];
      } else if (rest_.substr(size).starts_with("\"\"")) {
        now_.value += '"';
        size += 2;
      } else {
        ++size;
        return true;
      }
    }
    return false;
  }

  std::string_view rest_;
  RuleToken now_;
};

}  // namespace

std::size_t SyncRule::priority_of(std::string_view application) const {
  const auto found = std::ranges::find_if(
      names, [&](const std::string& name) { return name == "*" || are_same(name, application); });
  if (count == 0 || found == names.end()) return 0;
  return is_any ? 1 : static_cast<std::size_t>(found - names.begin()) + 1;
}

Result<SyncRule> SyncRule::parse(std::string_view text) {
  return RuleReader{text}.read();
}

}  // namespace swizzle::sql

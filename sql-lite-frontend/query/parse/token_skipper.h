#pragma once

#include <algorithm>
#include <string_view>

namespace swizzle::sql {

inline bool begins_name(char letter) noexcept {
  const auto byte = static_cast<unsigned char>(letter);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
         byte >= 0x80;
}
inline bool continues_name(char letter) noexcept {
  return begins_name(letter) || (letter >= '0' && letter <= '9') || letter == '$';
}

/// Skips tokens of SQL, as far as is needed to tell names and comments from quoted text.
class TokenSkipper {
 protected:
  explicit TokenSkipper(std::string_view text) : rest_(text) {}

  template <class Test>
  void skip_while(Test test) {
    const auto* const end = std::ranges::find_if_not(rest_, test);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.begin()));
  }
  void skip_to(std::string_view end) {
    const std::size_t at = rest_.find(end);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }

  enum class Backslash : bool { plain, escapes };
  void skip_string(Backslash backslash) {
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      const char letter = rest_.front();
      const bool is_pair = backslash == Backslash::escapes && letter == '\\' && rest_.size() > 1;
      rest_.remove_prefix(is_pair ? 2 : 1);
      // A doubled quote ends one string and begins the next, with the same effect.
      if (letter == '\'') return;
    }
  }
  /// Skips a comment and returns its depth of nesting; 0 if it does not end.
  int skip_comment() {
    int depth = 0;
    int deepest = 0;
    while (!rest_.empty()) {
      if (rest_.starts_with("/*")) {
        deepest = std::max(deepest, ++depth);
        rest_.remove_prefix(2);
      } else if (rest_.starts_with("*/")) {
        rest_.remove_prefix(2);
        if (--depth == 0) return deepest;
      } else {
        rest_.remove_prefix(1);
      }
    }
    return 0;
  }
  /// $1, or a string between $tag$ and $tag$.
  void skip_dollar() {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '$' && continues_name(rest_[end])) ++end;
    const bool is_tag =
        end < rest_.size() && rest_[end] == '$' && (end == 1 || begins_name(rest_[1]));
    if (!is_tag) return rest_.remove_prefix(end);
    const std::string_view tag = rest_.substr(0, end + 1);
    rest_.remove_prefix(tag.size());
    skip_to(tag);
  }

  std::string_view rest_;
};

}  // namespace swizzle::sql

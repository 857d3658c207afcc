#include "sql-lite-frontend/query/parse/long_identifiers.h"

#include <algorithm>

#include "sql-lite-frontend/query/parse/token_skipper.h"

namespace swizzle::sql {
namespace {

char folded_letter(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// A long name covers one of the bytes at multiples of its length, or is between two quotes that
/// do.
bool may_have_any(std::string_view text) noexcept {
  for (std::size_t at = kLongestName; at < text.size(); at += kLongestName + 1) {
    if (continues_name(text[at])) {
      const auto is_short = [](std::size_t from, std::size_t to) {
        return to - from <= kLongestName;
      };
      std::size_t from = at;
      while (from > 0 && is_short(from, at) && continues_name(text[from - 1])) --from;
      std::size_t to = at;
      while (to < text.size() && is_short(from, to) && continues_name(text[to])) ++to;
      if (!is_short(from, to)) return true;
    }
  }
  std::size_t quote = text.find('"');
  while (quote != std::string_view::npos) {
    const std::size_t next = text.find('"', quote + 1);
    if (next != std::string_view::npos) {
      // A doubled quote is a letter of the name.
      if (next == quote + 1 || next - quote > kLongestName + 1) return true;
    }
    quote = next;
  }
  return false;
}

/// Scans the tokens, as far as is needed to tell names from quoted or commented text.
class NameScanner : private TokenSkipper {
 public:
  explicit NameScanner(std::string_view text) : TokenSkipper(text) {}

  std::vector<std::string> run() {
    while (!rest_.empty()) step();
    return std::move(found_);
  }

 private:
  void step() {
    const char first = rest_.front();
    if (first == '\'') return skip_string(Backslash::plain);
    if (first == '"') return read_quoted();
    if (rest_.starts_with("--")) return skip_to("\n");
    if (rest_.starts_with("/*")) return static_cast<void>(skip_comment());
    if (first == '$') return skip_dollar();
    if (begins_name(first)) return read_name();
    if (first >= '0' && first <= '9') return skip_while([](char c) { return continues_name(c); });
    rest_.remove_prefix(1);
  }

  void read_quoted() {
    rest_.remove_prefix(1);
    std::string name;
    while (!rest_.empty()) {
      const char letter = rest_.front();
      rest_.remove_prefix(1);
      if (letter == '"') {
        if (!rest_.starts_with('"')) break;
        rest_.remove_prefix(1);
      }
      name += letter;
    }
    add(std::move(name));
  }
  void read_name() {
    const std::string_view from = rest_;
    skip_while([](char c) { return continues_name(c); });
    const std::string_view name = from.substr(0, from.size() - rest_.size());
    const bool begins_string = rest_.starts_with('\'') && name.size() == 1;
    if (begins_string && folded_letter(name[0]) == 'e') return skip_string(Backslash::escapes);
    std::string folded;
    std::ranges::transform(name, std::back_inserter(folded), folded_letter);
    add(std::move(folded));
  }
  void add(std::string name) {
    if (name.size() > kLongestName) found_.push_back(std::move(name));
  }

  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> long_identifiers(std::string_view text) {
  if (text.size() <= kLongestName || !may_have_any(text)) return {};
  return NameScanner{text}.run();
}

std::string_view cut_identifier(std::string_view name) noexcept {
  if (name.size() <= kLongestName) return name;
  std::size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return name.substr(0, end);
}

}  // namespace swizzle::sql

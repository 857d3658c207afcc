#include "sql-lite-frontend/types/range/range_text.h"

#include <algorithm>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/quoted_part.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kEmptyWord = "empty";

class RangeReader {
 public:
  explicit RangeReader(std::string_view text) : text_{text}, rest_{text} {}

  RangeText read() {
    RangeText range;
    skip_space();
    if (starts_with_empty(rest_)) {
      rest_.remove_prefix(kEmptyWord.size());
      skip_space();
      if (!rest_.empty()) malformed("Junk after \"empty\" key word.");
      range.empty = true;
      return range;
    }
    range.lower_inclusive = rest_.starts_with('[');
    if (!range.lower_inclusive && !rest_.starts_with('('))
      malformed("Missing left parenthesis or bracket.");
    rest_.remove_prefix(1);
    range.lower = bound();
    if (!rest_.starts_with(',')) malformed("Missing comma after lower bound.");
    rest_.remove_prefix(1);
    range.upper = bound();
    range.upper_inclusive = rest_.starts_with(']');
    if (!range.upper_inclusive && !rest_.starts_with(')')) malformed("Too many commas.");
    rest_.remove_prefix(1);
    skip_space();
    if (!rest_.empty()) malformed("Junk after right parenthesis or bracket.");
    return range;
  }

  static bool starts_with_empty(std::string_view text) {
    return equals_ignoring_case(text.substr(0, kEmptyWord.size()), kEmptyWord);
  }

 private:
  [[noreturn]] void malformed(std::string_view detail) const {
    throw sql_error(sqlstate::invalid_text_representation, "malformed range literal: \"{}\"", text_)
        .with_detail(std::string{detail});
  }
  void skip_space() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }
  char take() {
    if (rest_.empty()) malformed("Unexpected end of input.");
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    return letter;
  }
  [[nodiscard]] bool at_end() const noexcept {
    return rest_.starts_with(',') || rest_.starts_with(')') || rest_.starts_with(']');
  }

  /// Reads up to the end of the bound, including blanks; nothing (infinite) if it is empty.
  std::optional<std::string> bound() {
    if (at_end()) return std::nullopt;
    return read_quoted_part(rest_, [&] { return at_end(); }, [&] { return take(); });
  }

  std::string_view text_;
  std::string_view rest_;
};

}  // namespace

RangeText read_range_text(std::string_view text) {
  return RangeReader{text}.read();
}

void append_bound(std::string& out, std::string_view bound) {
  const bool quoted =
      bound.empty() || std::ranges::any_of(bound, [](char c) {
        return is_space(c) || std::string_view{"\"\\()[],"}.find(c) != std::string_view::npos;
      });
  if (!quoted) {
    out += bound;
    return;
  }
  out.push_back('"');
  for (const char c : bound) {
    yield_point(1);
    if (c == '"' || c == '\\') out.push_back(c);
    out.push_back(c);
  }
  out.push_back('"');
}

MultirangeText::MultirangeText(std::string_view text) : text_{text}, rest_{text} {
  skip_space();
  if (!rest_.starts_with('{')) malformed("Missing left brace.");
  rest_.remove_prefix(1);
}

void MultirangeText::malformed(std::string_view detail) const {
  throw sql_error(sqlstate::invalid_text_representation, "malformed multirange literal: \"{}\"",
                  text_)
      .with_detail(std::string{detail});
}

void MultirangeText::skip_space() {
  while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
}

std::optional<std::string_view> MultirangeText::next() {
  skip_space();
  if (rest_.empty()) malformed("Unexpected end of input.");
  const bool closes = rest_.starts_with('}');
  if (!closes && !first_) {
    if (!rest_.starts_with(',')) malformed("Expected comma or end of multirange.");
    rest_.remove_prefix(1);
    skip_space();
    if (rest_.empty()) malformed("Unexpected end of input.");
  }
  if (closes) {
    rest_.remove_prefix(1);
    skip_space();
    if (!rest_.empty()) malformed("Junk after closing right brace.");
    return std::nullopt;
  }
  first_ = false;
  return take_range();
}

std::string_view MultirangeText::take_range() {
  const std::string_view from = rest_;
  if (RangeReader::starts_with_empty(rest_)) {
    rest_.remove_prefix(kEmptyWord.size());
    return from.substr(0, kEmptyWord.size());
  }
  if (!rest_.starts_with('[') && !rest_.starts_with('(')) malformed("Expected range start.");
  bool quoted = false;
  for (std::size_t i = 1; i < from.size(); ++i) {
    yield_point(1);
    if (from[i] == '\\') {
      ++i;
    } else if (from[i] == '"') {
      // A doubled quote closes and reopens the quoted part.
      quoted = !quoted;
    } else if (!quoted && (from[i] == ']' || from[i] == ')')) {
      rest_ = from.substr(i + 1);
      return from.substr(0, i + 1);
    }
  }
  malformed("Unexpected end of input.");
}

}  // namespace swizzle::sql

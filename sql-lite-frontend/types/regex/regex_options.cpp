#include "sql-lite-frontend/types/regex/regex_options.h"

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

constexpr std::string_view kLetterFlags[] = {"\x04", "\x01", "\x02", "\x03"};

/// Returns false for a letter that names no option.
bool apply_letter(RegexOptions& options, char letter) {
  switch (letter) {
    case 'b':
      options.grammar = RegexGrammar::basic;
      return true;
    case 'e':
      options.grammar = RegexGrammar::extended;
      return true;
    case 'q':
      options.grammar = RegexGrammar::literal;
      return true;
    case 'c':
      options.ignore_case = false;
      return true;
    case 'i':
      options.ignore_case = true;
      return true;
    case 'm':
    case 'n':
      options.newline_stops_dot = options.newline_anchors = true;
      return true;
    case 'p':
      options.newline_stops_dot = true;
      options.newline_anchors = false;
      return true;
    case 's':
      options.newline_stops_dot = options.newline_anchors = false;
      return true;
    case 't':
      options.expanded = false;
      return true;
    case 'w':
      options.newline_stops_dot = false;
      options.newline_anchors = true;
      return true;
    case 'x':
      options.expanded = true;
      return true;
    default:
      return false;
  }
}

/// Takes options in parentheses, which only PostgreSQL's own grammar knows.
void take_letters(RegexOptions& options, std::string_view& pattern) {
  if (!pattern.starts_with("(?") || pattern.size() < 3 || !is_alpha(pattern[2])) return;
  pattern.remove_prefix(2);
  for (; !pattern.empty() && is_alpha(pattern.front()); pattern.remove_prefix(1))
    if (!apply_letter(options, pattern.front())) invalid_regex("invalid embedded option");
  if (!pattern.starts_with(')')) invalid_regex("invalid embedded option");
  pattern.remove_prefix(1);
  if (options.grammar == RegexGrammar::literal)
    options.expanded = options.newline_stops_dot = options.newline_anchors = false;
}

}  // namespace

std::string_view regex_flag_of(Letters letters) noexcept {
  return kLetterFlags[static_cast<std::size_t>(letters)];
}

void apply_regex_flag(RegexOptions& options, char flag) {
  if (regex_flag_of(Letters::ascii).front() == flag) {
    options.ascii_case = true;
    return;
  }
  for (const Letters letters : {Letters::icu, Letters::c_utf8, Letters::unicode}) {
    if (regex_flag_of(letters).front() != flag) continue;
    options.letters = letters;
    return;
  }
  // An argument's "e" means what "b" does in PostgreSQL; within a pattern it means extended ones.
  if (!apply_letter(options, flag == 'e' ? 'b' : flag))
    throw_error(sqlstate::invalid_parameter_value, "invalid regular expression option: \"{}\"",
                std::string_view{&flag, 1});
}

void take_embedded_options(RegexOptions& options, std::string_view& pattern) {
  if (options.grammar == RegexGrammar::literal) {
    if (options.expanded || options.newline_stops_dot || options.newline_anchors)
      invalid_regex("invalid argument to regex function");
    return;
  }
  constexpr std::size_t kSizeOfDirector = 4;
  if (pattern.starts_with("***") && pattern.size() >= kSizeOfDirector) {
    switch (pattern[3]) {
      case '?':
        invalid_regex("invalid regexp (reg version 0.8)");
      case '=':
        options.grammar = RegexGrammar::literal;
        options.expanded = options.newline_stops_dot = options.newline_anchors = false;
        break;
      case ':':
        options.grammar = RegexGrammar::advanced;
        break;
      default:
        invalid_regex("quantifier operand invalid");
    }
    pattern.remove_prefix(kSizeOfDirector);
  }
  if (options.grammar == RegexGrammar::advanced) take_letters(options, pattern);
}

void invalid_regex(std::string_view why) {
  throw_error(sqlstate::invalid_regular_expression, "invalid regular expression: {}", why);
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/types/regex/character_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

constexpr char32_t kFirstBeyondAscii = 0x80;
constexpr char32_t kLastCharacter = 0x10ffff;

struct ClassNames {
  std::string_view name;
  /// Contents of a bracket in RE2's form under rules of Unicode; empty: ASCII's class.
  std::string_view icu, c_utf8, unicode;
};

constexpr ClassNames kClasses[] = {
    {"alnum", "\\pL\\p{Nd}", "\\pL\\p{Nl}0-9", "\\pL\\p{Nl}\\p{Nd}"},
    {"alpha", "\\pL", "\\pL\\p{Nl}", "\\pL\\p{Nl}"},
    {"blank", "", "", ""},
    {"cntrl", "", "", ""},
    {"digit", "\\p{Nd}", "0-9", "\\p{Nd}"},
    {"graph", "\\pL\\pM\\pN\\pP\\pS", "\\pL\\pM\\pN\\pP\\pS", "\\pL\\pM\\pN\\pP\\pS"},
    {"lower", "\\p{Ll}", "\\p{Ll}", "\\p{Ll}"},
    {"print", "\\pL\\pM\\pN\\pP\\pS\\pZ", "\\pL\\pM\\pN\\pP\\pS\\p{Zs}",
     "\\pL\\pM\\pN\\pP\\pS\\p{Zs}"},
    {"punct", "\\pP", "\\pP\\pS", "\\pP"},
    {"space", "\\pZ\\x09-\\x0d\\x1c-\\x1f\\x{85}", "\\pZ\\x09-\\x0d\\x{85}",
     "\\pZ\\x09-\\x0d\\x{85}"},
    {"upper", "\\p{Lu}", "\\p{Lu}", "\\p{Lu}"},
    {"xdigit", "", "", ""},
    {"word", "\\pL\\p{Nd}_", "\\pL\\p{Nl}0-9_", "\\pL\\p{Nl}\\p{Nd}_"},
};

const ClassNames& names_of(CharacterClass kind) noexcept {
  return kClasses[static_cast<std::size_t>(kind)];
}

std::string_view content_of(CharacterClass kind, Letters letters) noexcept {
  switch (letters) {
    case Letters::ascii:
      break;
    case Letters::icu:
      return names_of(kind).icu;
    case Letters::c_utf8:
      return names_of(kind).c_utf8;
    case Letters::unicode:
      return names_of(kind).unicode;
  }
  return {};
}

bool is_in_ascii_class(CharacterClass kind, char32_t character) noexcept {
  if (character >= kFirstBeyondAscii) return false;
  const char c = static_cast<char>(character);
  constexpr char kDelete = '\x7f';
  const bool is_control = character < ' ' || c == kDelete;
  const bool is_alnum = is_alpha(c) || is_digit(c);
  switch (kind) {
    case CharacterClass::alnum:
      return is_alnum;
    case CharacterClass::alpha:
      return is_alpha(c);
    case CharacterClass::blank:
      return c == ' ' || c == '\t';
    case CharacterClass::cntrl:
      return is_control;
    case CharacterClass::digit:
      return is_digit(c);
    case CharacterClass::graph:
      return !is_control && c != ' ';
    case CharacterClass::lower:
      return is_lower(c);
    case CharacterClass::print:
      return !is_control;
    case CharacterClass::punct:
      return !is_control && c != ' ' && !is_alnum;
    case CharacterClass::space:
      return is_space(c);
    case CharacterClass::upper:
      return is_upper(c);
    case CharacterClass::xdigit:
      return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f');
    case CharacterClass::word:
      return is_alnum || c == '_';
  }
  return false;
}

bool is_ascii_letter(char32_t character) noexcept {
  return character < kFirstBeyondAscii && is_alpha(static_cast<char>(character));
}

/// Pre: an ASCII letter.
constexpr char32_t other_case(char32_t letter) noexcept {
  constexpr char32_t kCase = 0x20;
  return letter ^ kCase;
}

bool is_within(const std::vector<std::pair<char32_t, char32_t>>& ranges, char32_t character) {
  return std::ranges::any_of(ranges, [character](const auto& range) {
    return character >= range.first && character <= range.second;
  });
}

void append_range(std::string& out, char32_t first, char32_t last) {
  last = std::min(last, kLastCharacter);
  if (first > last) return;
  out += fmt::format("\\x{{{:x}}}", static_cast<std::uint32_t>(first));
  if (last != first) out += fmt::format("-\\x{{{:x}}}", static_cast<std::uint32_t>(last));
}

/// Takes a character of a content, of which "\\x09" and "\\x{85}" are the only escapes.
char32_t take_content_character(std::string_view& content) {
  if (!content.starts_with("\\x")) {
    const char c = content.front();
    content.remove_prefix(1);
    return static_cast<unsigned char>(c);
  }
  constexpr int kHexadecimal = 16;
  constexpr std::size_t kDigits = 2;
  content.remove_prefix(content.starts_with("\\x{") ? 3 : 2);
  std::uint32_t code = 0;
  std::from_chars(content.data(), content.data() + kDigits, code, kHexadecimal);
  content.remove_prefix(kDigits);
  if (content.starts_with('}')) content.remove_prefix(1);
  return code;
}

/// True if a content names the character: "\\pL" and "\\p{Nd}" are categories.
bool is_in_content(std::string_view content, char32_t character) noexcept {
  const std::string_view category = unicode_category(character);
  while (!content.empty()) {
    if (content.starts_with("\\p")) {
      const bool is_exact = content[2] == '{';
      const std::string_view name = is_exact ? content.substr(3, 2) : content.substr(2, 1);
      if (category.starts_with(name)) return true;
      content.remove_prefix(is_exact ? std::string_view{"\\p{Nd}"}.size() : 3);
      continue;
    }
    const char32_t first = take_content_character(content);
    char32_t last = first;
    if (content.starts_with('-')) {
      content.remove_prefix(1);
      last = take_content_character(content);
    }
    if (character >= first && character <= last) return true;
  }
  return false;
}

/// Appends the other case of the letters in a range of capital or of small letters.
void append_folded(std::string& out, std::pair<char32_t, char32_t> range, char32_t first,
                   char32_t last) {
  const char32_t from = std::max(range.first, first);
  const char32_t to = std::min(range.second, last);
  if (from <= to) append_range(out, other_case(from), other_case(to));
}

}  // namespace

std::optional<CharacterClass> character_class(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kClasses, name, &ClassNames::name);
  if (found == std::end(kClasses)) return std::nullopt;
  return static_cast<CharacterClass>(found - std::begin(kClasses));
}

bool is_in_class(CharacterClass wanted, Letters letters, char32_t character) noexcept {
  if (character < kFirstBeyondAscii && letters == Letters::ascii)
    return is_in_ascii_class(wanted, character);
  const std::string_view content = content_of(wanted, letters);
  if (content.empty()) return is_in_ascii_class(wanted, character);
  return is_in_content(content, character);
}

bool same_character(const RegexOptions& options, char32_t a, char32_t b) noexcept {
  if (a == b) return true;
  if (!options.ignore_case) return false;
  if (options.ascii_case) return is_ascii_letter(a) && other_case(a) == b;
  return unicode_fold(a) == unicode_fold(b);
}

void CharacterSet::add(CharacterClass added, bool complement, const RegexOptions& options) {
  const bool has_case = added == CharacterClass::lower || added == CharacterClass::upper;
  if (has_case && options.ignore_case) added = CharacterClass::alpha;
  classes.push_back({added, complement});
}

bool CharacterSet::has_member(const RegexOptions& options, char32_t character) const {
  if (is_within(ranges, character)) return true;
  if (options.ignore_case && options.ascii_case) {
    if (is_ascii_letter(character) && is_within(ranges, other_case(character))) return true;
  } else if (options.ignore_case) {
    for (const char32_t other : unicode_cases(character))
      if (is_within(ranges, other)) return true;
  }
  return std::ranges::any_of(classes, [&](const Member& member) {
    return is_in_class(member.kind, options.letters, character) != member.is_complement;
  });
}

bool CharacterSet::contains(const RegexOptions& options, char32_t character) const {
  if (stops_at_newline && character == '\n') return false;
  return has_member(options, character) != is_complement;
}

std::optional<std::string> CharacterSet::re2_form(const RegexOptions& options) const {
  std::string content;
  for (const auto& range : ranges) {
    append_range(content, range.first, range.second);
    if (options.ignore_case && options.ascii_case) {
      append_folded(content, range, 'a', 'z');
      append_folded(content, range, 'A', 'Z');
    }
  }
  for (const Member& member : classes) {
    const std::string_view unicode = content_of(member.kind, options.letters);
    if (unicode.empty()) {
      content +=
          fmt::format("[:{}{}:]", member.is_complement ? "^" : "", names_of(member.kind).name);
    } else if (!member.is_complement) {
      content += unicode;
    } else if (classes.size() == 1 && ranges.empty()) {
      return fmt::format("[{}{}{}]", is_complement ? "" : "^", unicode,
                         stops_at_newline && !is_complement ? "\\n" : "");
    } else {
      return std::nullopt;
    }
  }
  if (stops_at_newline) content += "\\n";
  if (content.empty()) return is_complement ? "(?s:.)" : "[^\\x00-\\x{10ffff}]";
  return fmt::format("[{}{}]", is_complement ? "^" : "", content);
}

void append_re2_character(std::string& out, const RegexOptions& options, char32_t character) {
  if (options.ignore_case && options.ascii_case && is_ascii_letter(character)) {
    out += {'[', static_cast<char>(character), static_cast<char>(other_case(character)), ']'};
    return;
  }
  if (character > kLastCharacter) {
    // No text has it.
    out += "[^\\x00-\\x{10ffff}]";
    return;
  }
  const bool is_plain =
      character < kFirstBeyondAscii && is_in_ascii_class(CharacterClass::word, character);
  if (is_plain)
    out += static_cast<char>(character);
  else
    append_range(out, character, character);
}

std::optional<char32_t> collating_element(std::string_view name) noexcept {
  struct Element {
    std::string_view name;
    char32_t character;
  };
  static constexpr Element kElements[] = {
      {"NUL", '\0'},
      {"SOH", '\001'},
      {"STX", '\002'},
      {"ETX", '\003'},
      {"EOT", '\004'},
      {"ENQ", '\005'},
      {"ACK", '\006'},
      {"BEL", '\007'},
      {"alert", '\007'},
      {"BS", '\010'},
      {"backspace", '\b'},
      {"HT", '\011'},
      {"tab", '\t'},
      {"LF", '\012'},
      {"newline", '\n'},
      {"VT", '\013'},
      {"vertical-tab", '\v'},
      {"FF", '\014'},
      {"form-feed", '\f'},
      {"CR", '\015'},
      {"carriage-return", '\r'},
      {"SO", '\016'},
      {"SI", '\017'},
      {"DLE", '\020'},
      {"DC1", '\021'},
      {"DC2", '\022'},
      {"DC3", '\023'},
      {"DC4", '\024'},
      {"NAK", '\025'},
      {"SYN", '\026'},
      {"ETB", '\027'},
      {"CAN", '\030'},
      {"EM", '\031'},
      {"SUB", '\032'},
      {"ESC", '\033'},
      {"IS4", '\034'},
      {"FS", '\034'},
      {"IS3", '\035'},
      {"GS", '\035'},
      {"IS2", '\036'},
      {"RS", '\036'},
      {"IS1", '\037'},
      {"US", '\037'},
      {"space", ' '},
      {"exclamation-mark", '!'},
      {"quotation-mark", '"'},
      {"number-sign", '#'},
      {"dollar-sign", '$'},
      {"percent-sign", '%'},
      {"ampersand", '&'},
      {"apostrophe", '\''},
      {"left-parenthesis", '('},
      {"right-parenthesis", ')'},
      {"asterisk", '*'},
      {"plus-sign", '+'},
      {"comma", ','},
      {"hyphen", '-'},
      {"hyphen-minus", '-'},
      {"period", '.'},
      {"full-stop", '.'},
      {"slash", '/'},
      {"solidus", '/'},
      {"zero", '0'},
      {"one", '1'},
      {"two", '2'},
      {"three", '3'},
      {"four", '4'},
      {"five", '5'},
      {"six", '6'},
      {"seven", '7'},
      {"eight", '8'},
      {"nine", '9'},
      {"colon", ':'},
      {"semicolon", ';'},
      {"less-than-sign", '<'},
      {"equals-sign", '='},
      {"greater-than-sign", '>'},
      {"question-mark", '?'},
      {"commercial-at", '@'},
      {"left-square-bracket", '['},
      {"backslash", '\\'},
      {"reverse-solidus", '\\'},
      {"right-square-bracket", ']'},
      {"circumflex", '^'},
      {"circumflex-accent", '^'},
      {"underscore", '_'},
      {"low-line", '_'},
      {"grave-accent", '`'},
      {"left-brace", '{'},
      {"left-curly-bracket", '{'},
      {"vertical-line", '|'},
      {"right-brace", '}'},
      {"right-curly-bracket", '}'},
      {"tilde", '~'},
      {"DEL", '\177'},
  };
  if (!name.empty() && name.size() == utf8_length(name.front())) return decode_character(name);
  const auto* const found = std::ranges::find(kElements, name, &Element::name);
  if (found == std::end(kElements)) return std::nullopt;
  return found->character;
}

}  // namespace swizzle::sql

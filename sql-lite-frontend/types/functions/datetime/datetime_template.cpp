#include "sql-lite-frontend/types/functions/datetime/datetime_template.h"

#include <algorithm>
#include <utility>

#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Keyword = TemplateNode::Keyword;
using Letters = TemplateNode::Letters;

struct Spelling {
  std::string_view text;  ///< upper case; longer ones first
  Keyword keyword;
  int width = 0;
};

// In the order in which they must be tried: a keyword before its prefixes.
constexpr Spelling kSpellings[] = {
    {"A.D.", Keyword::era_dotted},
    {"A.M.", Keyword::meridiem_dotted},
    {"AD", Keyword::era},
    {"AM", Keyword::meridiem},
    {"B.C.", Keyword::era_dotted},
    {"BC", Keyword::era},
    {"CC", Keyword::century},
    {"DAY", Keyword::day_name},
    {"DDD", Keyword::day_of_year},
    {"DD", Keyword::day_of_month},
    {"DY", Keyword::day_abbreviation},
    {"D", Keyword::day_of_week},
    {"FF1", Keyword::fraction, 1},
    {"FF2", Keyword::fraction, 2},
    {"FF3", Keyword::fraction, 3},
    {"FF4", Keyword::fraction, 4},
    {"FF5", Keyword::fraction, 5},
    {"FF6", Keyword::fraction, 6},
    {"HH24", Keyword::hour_24},
    {"HH12", Keyword::hour_12},
    {"HH", Keyword::hour_12},
    {"IDDD", Keyword::iso_day_of_year},
    {"ID", Keyword::iso_day_of_week},
    {"IW", Keyword::iso_week},
    {"IYYY", Keyword::iso_year, 4},
    {"IYY", Keyword::iso_year, 3},
    {"IY", Keyword::iso_year, 2},
    {"I", Keyword::iso_year, 1},
    {"J", Keyword::julian},
    {"MI", Keyword::minute},
    {"MM", Keyword::month_number},
    {"MONTH", Keyword::month_name},
    {"MON", Keyword::month_abbreviation},
    {"MS", Keyword::millisecond},
    {"OF", Keyword::zone_offset},
    {"P.M.", Keyword::meridiem_dotted},
    {"PM", Keyword::meridiem},
    {"Q", Keyword::quarter},
    {"RM", Keyword::roman_month},
    {"SSSSS", Keyword::second_of_day},
    {"SSSS", Keyword::second_of_day},
    {"SS", Keyword::second},
    {"TZH", Keyword::zone_hours},
    {"TZM", Keyword::zone_minutes},
    {"TZ", Keyword::zone_name},
    {"US", Keyword::microsecond},
    {"WW", Keyword::week_of_year},
    {"W", Keyword::week_of_month},
    {"Y,YYY", Keyword::year_with_comma, 4},
    {"YYYY", Keyword::year, 4},
    {"YYY", Keyword::year, 3},
    {"YY", Keyword::year, 2},
    {"Y", Keyword::year, 1},
};

/// True for the keyword in upper or lower case, or, for names of days and months, capitalized.
bool starts_with_keyword(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  text = text.substr(0, word.size());
  if (!equals_ignoring_case(text, word)) return false;
  const auto rest_is = [&](auto is) {
    return std::ranges::all_of(text.substr(1), [&](char c) { return !is_alpha(c) || is(c); });
  };
  if (is_lower(text[0]) || !is_alpha(text[0])) return rest_is(is_lower);
  if (rest_is([](char c) { return !is_lower(c); })) return true;
  const bool has_capital = word == "DAY" || word == "DY" || word == "MONTH" || word == "MON";
  return has_capital && rest_is(is_lower);
}

enum class Quotes : std::uint8_t { none, around };
void add_literal(TemplateNodes& nodes, std::string_view text, Quotes quotes, bool fixed) {
  if (text.empty()) return;
  TemplateNode node;
  node.literal = text;
  node.quoted = quotes == Quotes::around;
  node.fixed = fixed;
  nodes.push_back(std::move(node));
}

/// The first character. Pre: not empty.
std::string_view character_of(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80) ++size;
  return text.substr(0, size);
}

}  // namespace

std::string TemplateNode::name() const {
  std::string name{spelling};
  for (std::size_t i = letters == Letters::lower ? 0 : 1; i < name.size(); ++i)
    if (letters != Letters::upper) name[i] = to_lower(name[i]);
  return name;
}

TemplateNodes parse_datetime_template(std::string_view rest, MemoryAccount* account,
                                      TemplateRules rules) {
  TemplateNodes nodes{CountedAllocator<TemplateNode>{account}};
  bool filled = true;
  bool translated = false;
  bool is_exact = false;
  constexpr std::size_t kBytesOfNode = 16;
  require_room_for(rest.size() + 1, kBytesOfNode);
  while (!rest.empty()) {
    yield_point(200);
    if (starts_with_keyword(rest, "FM")) {
      filled = false;
      rest.remove_prefix(2);
      continue;
    }
    if (starts_with_keyword(rest, "TM")) {
      translated = true;
      rest.remove_prefix(2);
      continue;
    }
    if (starts_with_keyword(rest, "FX")) {
      // From here on each literal character matches one character.
      is_exact = true;
      rest.remove_prefix(2);
      continue;
    }
    const Spelling* found = nullptr;
    for (const Spelling& spelling : kSpellings)
      if (starts_with_keyword(rest, spelling.text)) {
        found = &spelling;
        break;
      }
    if (found != nullptr) {
      TemplateNode node;
      node.keyword = found->keyword;
      node.spelling = found->text;
      node.fixed = is_exact;
      node.width = found->width;
      node.filled = filled;
      filled = true;
      node.translated = std::exchange(translated, false);
      if (is_lower(rest[0]))
        node.letters = Letters::lower;
      else if (found->text.size() > 1 && is_lower(rest[1]))
        node.letters = Letters::capital;
      rest.remove_prefix(found->text.size());
      if (rest.starts_with("TH") || rest.starts_with("th")) {
        node.ordinal = rest[0] == 'T' ? TemplateNode::Ordinal::upper : TemplateNode::Ordinal::lower;
        rest.remove_prefix(2);
      }
      nodes.push_back(std::move(node));
      continue;
    }
    if (rest[0] == '"') {
      std::string text;
      rest.remove_prefix(1);
      while (!rest.empty() && rest[0] != '"') {
        if (rest[0] == '\\' && rest.size() > 1) rest.remove_prefix(1);
        text.push_back(rest[0]);
        rest.remove_prefix(1);
      }
      if (!rest.empty()) rest.remove_prefix(1);
      add_literal(nodes, text, Quotes::around, is_exact);
      continue;
    }
    if (rules == TemplateRules::standard &&
        std::string_view{"-./,':; "}.find(rest[0]) == std::string_view::npos) {
      throw_error(sqlstate::invalid_datetime_format, "invalid datetime format separator: \"{}\"",
                  character_of(rest));
    }
    if (rest.starts_with("\\\"")) rest.remove_prefix(1);
    const std::string_view character = character_of(rest);
    add_literal(nodes, character, Quotes::none, is_exact);
    rest.remove_prefix(character.size());
  }
  return nodes;
}

std::shared_ptr<const TemplateNodes> datetime_template(std::string_view text,
                                                       MemoryAccount* account) {
  constexpr std::size_t kLongestKept = 128;
  thread_local std::string kept_text;
  thread_local std::shared_ptr<const TemplateNodes> kept;
  if (kept && kept_text == text) return kept;
  const bool is_kept = text.size() <= kLongestKept;
  // A cached template is charged to no session.
  auto fresh = std::make_shared<const TemplateNodes>(
      parse_datetime_template(text, is_kept ? nullptr : account));
  if (is_kept) {
    kept = fresh;
    kept_text = text;
  }
  return fresh;
}

std::string ordinal_suffix(std::string_view digits, TemplateNode::Ordinal ordinal) {
  if (ordinal == TemplateNode::Ordinal::none || digits.empty() || !is_digit(digits.back()))
    return "";
  const bool teen = digits.size() > 1 && digits[digits.size() - 2] == '1';
  const char last = digits.back();
  std::string out = teen          ? "th"
                    : last == '1' ? "st"
                    : last == '2' ? "nd"
                    : last == '3' ? "rd"
                                  : "th";
  if (ordinal == TemplateNode::Ordinal::upper)
    for (char& c : out) c = to_upper(c);
  return out;
}

}  // namespace swizzle::sql

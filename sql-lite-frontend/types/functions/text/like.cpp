#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

enum class Letters : std::uint8_t { exact, ignore_case };
enum class Units : std::uint8_t { characters, bytes };

bool is_literal(char of_pattern) {
  return of_pattern != '%' && of_pattern != '_' && of_pattern != '\\';
}

/// LIKE with backslash as escape. Takes time proportional to text times pattern at worst, because
/// only the last % is ever retried.
template <Letters letters, Units units>
bool matches(std::string_view text, std::string_view pattern) {
  const auto same = [](char a, char b) {
    return letters == Letters::exact ? a == b : to_lower(a) == to_lower(b);
  };
  const auto width = [](std::string_view rest) {
    return units == Units::bytes ? std::size_t{1} : std::min(utf8_length(rest[0]), rest.size());
  };
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    yield_point(4);
    if (p < pattern.size() && pattern[p] == '%') {
      star = ++p;
      star_text = t;
      if (p == pattern.size()) return true;
      continue;
    }
    bool step = false;
    if (p < pattern.size()) {
      if (pattern[p] == '_') {
        t += width(text.substr(t));
        ++p;
        step = true;
      } else {
        std::size_t literal = p;
        if (pattern[p] == '\\') {
          if (++literal == pattern.size())
            throw SqlError{sqlstate::invalid_escape_sequence,
                           "LIKE pattern must not end with escape character"};
        }
        if (same(text[t], pattern[literal])) {
          ++t;
          p = literal + 1;
          step = true;
        }
      }
    }
    if (step) continue;
    if (star == std::string_view::npos) return false;
    star_text += width(text.substr(star_text));
    if (letters == Letters::exact && is_literal(pattern[star])) {
      // Next place at which the text after the % can begin.
      star_text = text.find(pattern[star], star_text);
      if (star_text == std::string_view::npos) return false;
    }
    t = star_text;
    p = star;
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

enum class Wanted : std::uint8_t { match, no_match };

template <Letters letters, Units units, Wanted wanted>
Value like(FunctionContext&, Arguments a) {
  const bool matched = matches<letters, units>(a[0].as_text(), a[1].as_text());
  return Value::from_bool(matched == (wanted == Wanted::match));
}

/// Rewrites a pattern with another escape character into one with backslash.
Value like_escape(FunctionContext& context, Arguments a) {
  const std::string_view pattern = a[0].as_text();
  const std::string_view escape = a[1].as_text();
  if (count_characters(escape) > 1)
    throw SqlError{sqlstate::invalid_escape_sequence, "invalid escape string"}.with_hint(
        "Escape string must be empty or one character.");
  if (escape == "\\") return a[0];
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::string_view c = pattern.substr(at, utf8_length(pattern[at]));
    at += c.size();
    if (!escape.empty() && c == escape) {
      out.push_back('\\');
      if (at < pattern.size()) {
        const std::string_view next = pattern.substr(at, utf8_length(pattern[at]));
        out += next;
        at += next.size();
      }
    } else {
      if (c == "\\") out.push_back('\\');
      out += c;
    }
  }
  return make_text(context.arena, out);
}

#define SWIZZLE_LIKE(types)                                                                \
  {"~~(" types ")", &like<Letters::exact, Units::characters, Wanted::match>},              \
      {"!~~(" types ")", &like<Letters::exact, Units::characters, Wanted::no_match>},      \
      {"~~*(" types ")", &like<Letters::ignore_case, Units::characters, Wanted::match>}, { \
    "!~~*(" types ")", &like<Letters::ignore_case, Units::characters, Wanted::no_match>    \
  }

constexpr ScalarEntry kLikeEntries[] = {
    SWIZZLE_LIKE("text,text"),
    SWIZZLE_LIKE("name,text"),
    SWIZZLE_LIKE("bpchar,text"),
    {"~~(bytea,bytea)", &like<Letters::exact, Units::bytes, Wanted::match>},
    {"!~~(bytea,bytea)", &like<Letters::exact, Units::bytes, Wanted::no_match>},
    {"like(text,text)", &like<Letters::exact, Units::characters, Wanted::match>},
    {"notlike(text,text)", &like<Letters::exact, Units::characters, Wanted::no_match>},
    {"like(name,text)", &like<Letters::exact, Units::characters, Wanted::match>},
    {"notlike(name,text)", &like<Letters::exact, Units::characters, Wanted::no_match>},
    {"like(bytea,bytea)", &like<Letters::exact, Units::bytes, Wanted::match>},
    {"notlike(bytea,bytea)", &like<Letters::exact, Units::bytes, Wanted::no_match>},
    {"like_escape(text,text)", &like_escape},
    {"like_escape(bytea,bytea)", &like_escape},
};

}  // namespace

std::span<const ScalarEntry> like_functions() {
  return kLikeEntries;
}

}  // namespace swizzle::sql

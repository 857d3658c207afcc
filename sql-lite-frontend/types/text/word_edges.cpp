#include "sql-lite-frontend/types/text/word_edges.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace swizzle::sql {
namespace {

bool is_word_letter(char letter) {
  return letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

/// Part of a pattern that matches one character or none.
struct Atom {
  enum class Kind : std::uint8_t { character, empty, group, alternative, group_end };
  Kind kind = Kind::character;
  std::size_t size = 1;
  bool is_word = false;   ///< a character that is always part of a word
  bool is_other = false;  ///< a character that never is
  [[nodiscard]] bool is(Beside what) const { return what == Beside::word ? is_word : is_other; }
};

bool is_other_letter(char letter) {
  return static_cast<unsigned char>(letter) < 0x80 && !is_word_letter(letter);
}

/// Parses a set such as [a-z_], whose members must all be word characters, or [,;], of which none
/// may be.
Atom bracket(std::string_view pattern) {
  constexpr std::array<std::string_view, 5> kWordClasses{"alnum", "alpha", "digit", "lower",
                                                         "upper"};
  Atom atom;
  std::size_t at = 1;
  atom.is_word = atom.is_other = !pattern.substr(1).starts_with('^');
  if (!atom.is_word) ++at;
  for (bool first = true; at < pattern.size() && (first || pattern[at] != ']'); first = false) {
    const std::string_view rest = pattern.substr(at);
    if (rest.starts_with("[:")) {
      const std::size_t end = std::min(rest.find(":]"), rest.size());
      const std::string_view name = rest.substr(2, end - std::min<std::size_t>(end, 2));
      atom.is_word &= std::ranges::find(kWordClasses, name) != kWordClasses.end();
      atom.is_other &= name == "space" || name == "blank";
      at += std::min(end + 2, rest.size());
    } else if (rest.front() == '\\' && rest.size() > 1) {
      atom.is_word &= rest[1] == 'w' || rest[1] == 'd';
      atom.is_other &= rest[1] == 's' || is_other_letter(rest[1]);
      at += 2;
    } else if (rest.size() > 2 && rest[1] == '-' && rest[2] != ']') {
      // A range counts only within the digits, or within letters of one case.
      const auto within = [&](char low, char high) { return rest[0] >= low && rest[2] <= high; };
      atom.is_word &= within('0', '9') || within('a', 'z') || within('A', 'Z');
      atom.is_other = false;
      at += 3;
    } else {
      atom.is_word &= is_word_letter(rest.front());
      atom.is_other &= is_other_letter(rest.front());
      ++at;
    }
  }
  atom.size = std::min(at + 1, pattern.size());
  return atom;
}

/// Pre: not empty.
Atom first_atom(std::string_view pattern) {
  switch (pattern.front()) {
    case '(':
      return {Atom::Kind::group, pattern.starts_with("(?:") ? std::size_t{3} : std::size_t{1},
              false, false};
    case ')':
      return {Atom::Kind::group_end, 1, false, false};
    case '|':
      return {Atom::Kind::alternative, 1, false, false};
    case '^':
    case '$':
      // An anchor is next to nothing or to a newline, neither of which is part of a word.
      return {Atom::Kind::empty, 1, false, true};
    case '[':
      if (pattern.starts_with("[[:<:]]") || pattern.starts_with("[[:>:]]")) {
        return {Atom::Kind::empty, 7, false, false};
      }
      return bracket(pattern);
    case '\\': {
      if (pattern.size() < 2) return {};
      constexpr std::string_view kEmpty = "mMyYAZ";
      if (kEmpty.contains(pattern[1])) {
        return {Atom::Kind::empty, 2, false, pattern[1] == 'A' || pattern[1] == 'Z'};
      }
      // \u, \U and \x are followed by their digits.
      if (pattern[1] == 'u' || pattern[1] == 'U' || pattern[1] == 'x') {
        const std::size_t digits = pattern[1] == 'u' ? 4 : 8;
        return {Atom::Kind::character, std::min(2 + digits, pattern.size()), false, false};
      }
      constexpr std::string_view kNoWord = "sW";
      return {Atom::Kind::character, 2, pattern[1] == 'w' || pattern[1] == 'd',
              kNoWord.contains(pattern[1]) || is_other_letter(pattern[1])};
    }
    case '.':
      return {};
    default:
      return {Atom::Kind::character, 1, is_word_letter(pattern.front()),
              is_other_letter(pattern.front())};
  }
}

struct Quantifier {
  std::size_t size = 0;
  bool is_optional = false;
};

Quantifier first_quantifier(std::string_view pattern) {
  Quantifier quantifier;
  if (pattern.empty()) return quantifier;
  const char sign = pattern.front();
  if (sign == '*' || sign == '?' || sign == '+') {
    quantifier = {1, sign != '+'};
  } else if (sign == '{' && pattern.size() > 1 &&
             std::isdigit(static_cast<unsigned char>(pattern[1])) != 0) {
    const std::size_t end = pattern.find('}');
    if (end == std::string_view::npos) return quantifier;
    // {0}, {0,} and {0,n} are optional: only zeros precede the comma or the brace.
    const char behind_zeroes = pattern[pattern.find_first_not_of('0', 1)];
    quantifier = {end + 1, behind_zeroes == ',' || behind_zeroes == '}'};
  } else {
    return quantifier;
  }
  if (pattern.substr(quantifier.size).starts_with('?')) ++quantifier.size;
  return quantifier;
}

/// Returns the size up to and including the parenthesis that closes the group, or to the end.
std::size_t group_size(std::string_view pattern) {
  std::size_t at = 0;
  std::size_t depth = 1;
  while (at < pattern.size()) {
    const Atom atom = first_atom(pattern.substr(at));
    at += atom.size;
    if (atom.kind == Atom::Kind::group) ++depth;
    if (atom.kind == Atom::Kind::group_end && --depth == 0) return at;
  }
  return pattern.size();
}

}  // namespace

bool begins_with(Beside what, std::string_view pattern) {
  // Alternatives of groups that are still to be checked: each must begin so.
  std::vector<std::string_view> alternatives{pattern};
  while (!alternatives.empty()) {
    std::string_view rest = alternatives.back();
    alternatives.pop_back();
    for (bool is_settled = false; !is_settled;) {
      if (rest.empty()) return false;
      const Atom atom = first_atom(rest);
      rest.remove_prefix(atom.size);
      switch (atom.kind) {
        case Atom::Kind::empty:
          is_settled = atom.is(what);
          continue;
        case Atom::Kind::alternative:
        case Atom::Kind::group_end:
          return false;
        case Atom::Kind::character: {
          if (!atom.is(what)) return false;
          const Quantifier quantifier = first_quantifier(rest);
          rest.remove_prefix(quantifier.size);
          is_settled = !quantifier.is_optional;
          break;
        }
        case Atom::Kind::group: {
          const std::size_t size = group_size(rest);
          std::string_view inside = rest.substr(0, size);
          rest.remove_prefix(size);
          const Quantifier quantifier = first_quantifier(rest);
          rest.remove_prefix(quantifier.size);
          // The text after the group is not considered: each alternative must begin so by itself.
          if (!inside.ends_with(')')) return false;
          std::size_t begin = 0;
          std::size_t depth = 0;
          for (std::size_t at = 0; at < inside.size();) {
            const Atom part = first_atom(inside.substr(at));
            const bool ends_one = depth == 0 && (part.kind == Atom::Kind::alternative ||
                                                 part.kind == Atom::Kind::group_end);
            if (ends_one) {
              alternatives.push_back(inside.substr(begin, at - begin));
              begin = at + part.size;
            } else if (part.kind == Atom::Kind::group) {
              ++depth;
            } else if (part.kind == Atom::Kind::group_end) {
              --depth;
            }
            at += part.size;
          }
          is_settled = !quantifier.is_optional;
          break;
        }
      }
    }
  }
  return true;
}

bool ends_with(Beside what, std::string_view pattern) {
  struct Group {
    bool before;      ///< result before the group
    bool all = true;  ///< true if all alternatives so far end so
  };
  std::vector<Group> groups{{false}};
  bool ends = false;
  while (!pattern.empty()) {
    const Atom atom = first_atom(pattern);
    pattern.remove_prefix(atom.size);
    if (atom.kind == Atom::Kind::empty) {
      ends |= atom.is(what);
      continue;
    }
    if (atom.kind == Atom::Kind::group) {
      groups.push_back({ends});
      continue;
    }
    if (atom.kind == Atom::Kind::alternative) {
      groups.back().all &= ends;
      ends = groups.back().before;
      continue;
    }
    const bool before = atom.kind == Atom::Kind::group_end ? groups.back().before : ends;
    bool after = atom.is(what);
    if (atom.kind == Atom::Kind::group_end) {
      after = groups.back().all && ends;
      if (groups.size() > 1) groups.pop_back();
    }
    const Quantifier quantifier = first_quantifier(pattern);
    pattern.remove_prefix(quantifier.size);
    ends = after && (!quantifier.is_optional || before);
  }
  return ends;
}

bool is_word_at(std::string_view text, std::size_t place) noexcept {
  return place < text.size() && is_word_letter(text[place]);
}

}  // namespace swizzle::sql

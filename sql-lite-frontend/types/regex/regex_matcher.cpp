#include "sql-lite-frontend/types/regex/regex_matcher.h"

#include <algorithm>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/regex/regex_sequence.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {

namespace {

using NodeKind = RegexNode::Kind;

}  // namespace

RegexMatcher::RegexMatcher(const RegexTree& tree) : tree_(tree) {
  RegexProgrammer programmer{tree, programs_};
  whole_ = part_of(programmer, tree.root);
}

std::uint32_t RegexMatcher::add(Part&& part) {
  parts_.push_back(std::move(part));
  return static_cast<std::uint32_t>(parts_.size() - 1);
}

std::uint32_t RegexMatcher::plain(std::uint32_t program, RegexTraits traits) {
  return add({.prefers_shortest = traits.prefers_shortest, .program = program});
}

std::uint32_t RegexMatcher::part_of(RegexProgrammer& programmer, std::uint32_t place) {
  require_regex_stack();
  const RegexNode& node = tree_[place];
  const RegexTraits& traits = node.traits;
  const auto program = [&] { return programmer.program_of({&place, 1}); };
  if (!traits.has_groups && !traits.has_references) return plain(program(), traits);
  switch (node.kind) {
    case NodeKind::sequence:
      return part_of_sequence(programmer, node.parts);
    case NodeKind::repeat:
      return part_of_repeat(programmer, place);
    case NodeKind::reference:
      return add({.kind = Part::Kind::reference,
                  .program = program(),
                  .number = node.number,
                  .least = 1,
                  .most = 1});
    case NodeKind::group: {
      const std::uint32_t inside = part_of(programmer, node.parts.front());
      return add({.kind = Part::Kind::group,
                  .prefers_shortest = traits.prefers_shortest,
                  .program = parts_[inside].program,
                  .number = node.number,
                  .parts = {inside}});
    }
    default: {
      Part choice{.kind = Part::Kind::choice,
                  .prefers_shortest = traits.prefers_shortest,
                  .program = program()};
      for (const std::uint32_t branch : node.parts)
        choice.parts.push_back(part_of(programmer, branch));
      return add(std::move(choice));
    }
  }
}

/// A sequence is a prefix that is searched as one, a compound part, and the rest.
std::uint32_t RegexMatcher::part_of_sequence(RegexProgrammer& programmer,
                                             std::span<const std::uint32_t> nodes) {
  require_regex_stack();
  const std::size_t compound = first_compound(tree_, nodes);
  const std::span<const std::uint32_t> prefix = nodes.first(compound);
  const RegexTraits of_prefix = traits_of_prefix(tree_, prefix);
  if (compound == nodes.size()) return plain(programmer.program_of(nodes), of_prefix);
  std::uint32_t part = part_of(programmer, nodes[compound]);
  const auto pair = [&](std::uint32_t first, std::uint32_t second,
                        std::span<const std::uint32_t> both) {
    return add({.kind = Part::Kind::pair,
                .prefers_shortest = traits_of_sequence(tree_, both).prefers_shortest,
                .program = programmer.program_of(both),
                .parts = {first, second}});
  };
  if (const auto rest = nodes.subspan(compound + 1); !rest.empty())
    part = pair(part, part_of_sequence(programmer, rest), nodes.subspan(compound));
  if (!prefix.empty()) part = pair(plain(programmer.program_of(prefix), of_prefix), part, nodes);
  return part;
}

std::uint32_t RegexMatcher::part_of_repeat(RegexProgrammer& programmer, std::uint32_t place) {
  const RegexNode& node = tree_[place];
  const std::uint32_t repeated = node.parts.front();
  const std::uint32_t part = part_of(programmer, repeated);
  if (node.is_vacuous(tree_[repeated])) return part;
  const std::uint32_t program = programmer.program_of({&place, 1});
  Part found{.prefers_shortest = node.traits.prefers_shortest,
             .program = program,
             .least = node.least,
             .most = node.most};
  if (tree_[repeated].kind == NodeKind::reference) {
    found.kind = Part::Kind::reference;
    found.number = tree_[repeated].number;
  } else if (node.least > 0 && !node.traits.has_references) {
    // Only the last repetition tells where its groups are.
    const std::uint32_t most = node.most == RegexNode::kUnlimited ? node.most : node.most - 1;
    found.kind = Part::Kind::pair;
    found.parts = {plain(programmer.program_of_repeat(repeated, node.least - 1, most), node.traits),
                   part};
  } else {
    found.kind = Part::Kind::repeat;
    found.parts = {part};
  }
  return add(std::move(found));
}

/// Finds the places of the parts within one match.
class RegexDissection {
 public:
  RegexDissection(const RegexMatcher& matcher, RegexRun& run)
      : matcher_(matcher), run_(run), match_(matcher.tree_.groups.size() + 1) {}

  /// False if the part does not match that after all, which only references can be the reason for.
  bool dissect(std::uint32_t part, std::size_t begin, std::size_t end);
  [[nodiscard]] RegexMatch&& take(std::size_t begin, std::size_t end) && {
    match_.front() = {begin, end, true};
    return std::move(match_);
  }

 private:
  using Part = RegexMatcher::Part;

  [[nodiscard]] const Part& part(std::uint32_t place) const { return matcher_.parts_[place]; }
  bool dissect_pair(const Part& pair, std::size_t begin, std::size_t end);
  bool dissect_pair_at(const Part& pair, std::size_t begin, std::size_t middle, std::size_t end);
  bool dissect_choice(const Part& choice, std::size_t begin, std::size_t end);
  bool dissect_repeat(const Part& repeat, std::size_t begin, std::size_t end);
  bool match_reference(const Part& reference, std::size_t begin, std::size_t end) const;
  [[nodiscard]] bool is_same(std::string_view a, std::string_view b) const;
  void forget_groups(std::uint32_t place);

  const RegexMatcher& matcher_;
  RegexRun& run_;
  RegexMatch match_;
};

std::optional<RegexMatch> RegexMatcher::match(std::string_view text, std::size_t begin,
                                              std::optional<std::size_t> end) const {
  RegexRun run{tree_, programs_, text};
  const RegexTraits& traits = tree_.whole().traits;
  const std::uint32_t program = parts_[whole_].program;
  const bool is_shortest = traits.prefers_shortest;
  std::size_t least = begin;
  std::size_t limit = text.size();
  if (!end) {
    end = is_shortest ? run.shortest(program, begin, least, limit)
                      : run.longest(program, begin, limit);
  }
  while (end) {
    RegexDissection dissection{*this, run};
    if (dissection.dissect(whole_, begin, *end)) return std::move(dissection).take(begin, *end);
    // References can ask for another length than the longest or the shortest.
    if (is_shortest) {
      if (*end == text.size()) break;
      least = *end + 1;
      end = run.shortest(program, begin, least, limit);
    } else {
      if (*end == begin) break;
      limit = character_before(text, *end);
      end = run.longest(program, begin, limit);
    }
  }
  return std::nullopt;
}

bool RegexDissection::dissect(std::uint32_t place, std::size_t begin, std::size_t end) {
  check_stack();
  const Part& found = part(place);
  switch (found.kind) {
    case Part::Kind::plain:
      return true;
    case Part::Kind::group:
      if (!dissect(found.parts.front(), begin, end)) return false;
      match_[found.number] = {begin, end, true};
      return true;
    case Part::Kind::reference:
      return match_reference(found, begin, end);
    case Part::Kind::choice:
      return dissect_choice(found, begin, end);
    case Part::Kind::pair:
      return dissect_pair(found, begin, end);
    case Part::Kind::repeat:
      return dissect_repeat(found, begin, end);
  }
  return false;
}

bool RegexDissection::dissect_choice(const Part& choice, std::size_t begin, std::size_t end) {
  for (const std::uint32_t branch : choice.parts)
    if (run_.matches(part(branch).program, begin, end) && dissect(branch, begin, end)) return true;
  return false;
}

/// Tries the places at which the first part may end, in the order that it prefers.
bool RegexDissection::dissect_pair(const Part& pair, std::size_t begin, std::size_t end) {
  const Part& first = part(pair.parts.front());
  const std::vector<bool> ends = run_.ends(first.program, begin, end);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t at = first.prefers_shortest ? i : ends.size() - 1 - i;
    if (ends[at] && dissect_pair_at(pair, begin, begin + at, end)) return true;
    yield_point(1);
  }
  return false;
}

bool RegexDissection::dissect_pair_at(const Part& pair, std::size_t begin, std::size_t middle,
                                      std::size_t end) {
  if (!run_.matches(part(pair.parts.back()).program, middle, end)) return false;
  if (dissect(pair.parts.front(), begin, middle) && dissect(pair.parts.back(), middle, end))
    return true;
  for (const std::uint32_t one : pair.parts) forget_groups(one);
  return false;
}

/// Divides a match into repetitions, each as long (or short) as can be. One of no characters counts
/// only where there are too few others.
bool RegexDissection::dissect_repeat(const Part& repeat, std::size_t begin, std::size_t end) {
  const bool may_be_none = repeat.least == 0 && begin == end;
  const std::size_t least = std::max<std::size_t>(repeat.least, 1);
  const std::size_t most =
      std::max<std::size_t>(least, std::min<std::size_t>(repeat.most, end - begin));
  const std::uint32_t repeated = repeat.parts.front();
  const Part& one = part(repeated);
  const bool is_shortest = one.prefers_shortest;
  if (is_shortest && may_be_none) return true;
  // True if too few characters are left for that many repetitions of one each.
  const auto may_be_empty = [&](std::size_t number, std::size_t from) {
    return number < least &&
           least - number >= count_characters(run_.text().substr(from, end - from));
  };

  std::vector<std::size_t> ends{begin};  // of the repetitions; the first is where they begin
  std::size_t verified = 0;
  std::size_t limit = is_shortest ? begin : end;
  // Goes back to a repetition that can be shorter (or longer). False: there is none.
  const auto back = [&] {
    while (ends.size() > 1) {
      const std::size_t number = ends.size() - 1;
      const std::size_t last = ends.back();
      const std::size_t from = ends[number - 1];
      ends.pop_back();
      if (is_shortest) {
        if (last == end) continue;
        limit = last + 1;
        return true;
      }
      if (last == from) continue;
      limit = character_before(run_.text(), last);
      if (limit > from || may_be_empty(number, from)) return true;
    }
    return false;
  };
  for (;;) {
    const std::size_t number = ends.size();  // of the repetition that is looked for
    const std::size_t from = ends.back();
    std::optional<std::size_t> found;
    if (is_shortest) {
      if (limit == from && limit != end && !may_be_empty(number, from)) ++limit;
      if (number >= most) limit = end;
      found = run_.shortest(one.program, from, limit, end);
    } else {
      found = run_.longest(one.program, from, limit);
    }
    verified = std::min(verified, number - 1);
    if (!found) {
      if (!back()) return may_be_none;
      continue;
    }
    ends.push_back(*found);
    if (*found != end) {
      if (number >= most) {
        ends.pop_back();
        if (!back()) return may_be_none;
        continue;
      }
      if (!is_shortest && *found == from && !may_be_empty(number, from)) {
        if (!back()) return may_be_none;
        continue;
      }
      limit = is_shortest ? *found : end;
      continue;
    }
    bool is_match = number >= least;
    while (is_match && verified < number) {
      forget_groups(repeated);
      is_match = dissect(repeated, ends[verified], ends[verified + 1]);
      if (is_match) ++verified;
    }
    if (is_match) return true;
    forget_groups(repeated);
    if (!back()) return may_be_none;
  }
}

bool RegexDissection::match_reference(const Part& reference, std::size_t begin,
                                      std::size_t end) const {
  const RegexRange& group = match_[reference.number];
  if (!group.matched) return false;
  const std::size_t size = group.end - group.begin;
  if (size == 0) return begin == end;
  if (begin == end) return reference.least == 0;
  const std::string_view text = run_.text();
  const std::string_view referred = text.substr(group.begin, size);
  // Letters of either case may differ in their bytes.
  std::size_t count = 0;
  for (std::size_t at = begin; at < end; ++count) {
    const std::size_t next =
        bytes_of_characters(text.substr(at, end - at), count_characters(referred));
    if (!is_same(text.substr(at, next), referred)) return false;
    at += next;
    yield_point(1);
  }
  return count >= reference.least && count <= reference.most;
}

bool RegexDissection::is_same(std::string_view a, std::string_view b) const {
  const RegexOptions& options = matcher_.tree_.options;
  if (!options.ignore_case) return a == b;
  while (!a.empty() && !b.empty()) {
    if (!same_character(options, decode_character(a), decode_character(b))) return false;
    a.remove_prefix(utf8_length(a.front()));
    b.remove_prefix(utf8_length(b.front()));
  }
  return a.empty() && b.empty();
}

void RegexDissection::forget_groups(std::uint32_t place) {
  check_stack();
  const Part& found = part(place);
  if (found.kind == Part::Kind::group) match_[found.number] = {};
  for (const std::uint32_t one : found.parts) forget_groups(one);
}

}  // namespace swizzle::sql

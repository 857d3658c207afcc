#include "sql-lite-frontend/types/regex/regex_tree.h"

namespace swizzle::sql {

RegexTraits unite(RegexTraits first, RegexTraits second) noexcept {
  RegexTraits both{.prefers_longest = first.prefers_longest || second.prefers_longest,
                   .prefers_shortest = first.prefers_shortest || second.prefers_shortest,
                   .is_mixed = first.is_mixed || second.is_mixed,
                   .has_groups = first.has_groups || second.has_groups,
                   .has_references = first.has_references || second.has_references};
  both.is_mixed |= both.prefers_longest && both.prefers_shortest;
  return both;
}

RegexTraits combine(RegexTraits first, RegexTraits second) noexcept {
  RegexTraits both = unite(first, second);
  const RegexTraits& decides = first.has_preference() ? first : second;
  both.prefers_longest = decides.prefers_longest;
  both.prefers_shortest = decides.prefers_shortest;
  return both;
}

bool RegexNode::is_vacuous(const RegexNode& part) const noexcept {
  if (least != 1 || most != 1) return false;
  if (!wants_longest && !wants_shortest) return true;
  const RegexTraits& own = part.traits;
  if (!own.has_preference() && !own.is_mixed) return true;
  return !own.is_mixed && own.prefers_longest == wants_longest &&
         own.prefers_shortest == wants_shortest;
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/types/regex/regex_sequence.h"

#include <vector>

namespace swizzle::sql {

std::size_t first_compound(const RegexTree& tree, std::span<const std::uint32_t> parts) {
  RegexTraits together;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    together = unite(together, tree[parts[at]].traits);
    if (together.is_compound()) return at;
  }
  return parts.size();
}

RegexTraits traits_of_prefix(const RegexTree& tree, std::span<const std::uint32_t> parts) {
  RegexTraits together;
  for (const std::uint32_t part : parts) together = unite(together, tree[part].traits);
  return together;
}

RegexTraits traits_of_sequence(const RegexTree& tree, std::span<const std::uint32_t> parts) {
  // From left to right: a prefix, a compound part, a prefix, …
  std::vector<RegexTraits> stretches;
  while (!parts.empty()) {
    const std::size_t compound = first_compound(tree, parts);
    stretches.push_back(traits_of_prefix(tree, parts.first(compound)));
    if (compound == parts.size()) break;
    stretches.push_back(tree[parts[compound]].traits);
    parts = parts.subspan(compound + 1);
  }
  RegexTraits all;
  for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch)
    all = combine(*stretch, all);
  return all;
}

}  // namespace swizzle::sql

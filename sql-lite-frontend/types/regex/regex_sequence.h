#pragma once

#include <span>

#include "sql-lite-frontend/types/regex/regex_tree.h"

namespace swizzle::sql {

/// Returns the place of the first part of a sequence whose own place within a match must be found:
/// those before it are searched as one. The number of parts if there is none.
std::size_t first_compound(const RegexTree& tree, std::span<const std::uint32_t> parts);

/// Returns the traits of parts in a row.
RegexTraits traits_of_sequence(const RegexTree& tree, std::span<const std::uint32_t> parts);
/// Returns the traits of parts none of which is compound with those before it.
RegexTraits traits_of_prefix(const RegexTree& tree, std::span<const std::uint32_t> parts);

}  // namespace swizzle::sql

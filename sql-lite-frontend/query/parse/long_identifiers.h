#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swizzle::sql {

/// Length to which names are truncated, in bytes.
inline constexpr std::size_t kLongestName = 63;

/// Returns the names in a text of SQL that are too long, as the parser reads them before it
/// truncates them: in lower case unless quoted. Nearly every text has none, which is found out
/// cheaply.
std::vector<std::string> long_identifiers(std::string_view text);

/// Returns the truncated name, which ends at a whole character.
std::string_view cut_identifier(std::string_view name) noexcept;

}  // namespace swizzle::sql

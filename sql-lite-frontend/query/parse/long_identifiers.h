#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swizzle::sql {

/// Length that names are cut to, in bytes.
inline constexpr std::size_t kLongestName = 63;

/// The names in a text of SQL that are too long, as the parser reads them before it cuts them: in
/// lower case unless quoted. Nearly every text has none, which is found out at little cost.
std::vector<std::string> long_identifiers(std::string_view text);

/// The name as it is after the cut, which is not within a letter.
std::string_view cut_identifier(std::string_view name) noexcept;

}  // namespace swizzle::sql

#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/programs/version.h"

namespace swizzle::sql {

/// The version of PostgreSQL whose SQL, catalogs and protocol this server has. Clients choose their
/// queries by it.
inline constexpr std::string_view kPostgresVersion = "18.6";
inline constexpr std::string_view kPostgresVersionNumber = "180006";

/// Returns server_version.
inline std::string server_version() {
  return fmt::format("{} (Swizzle {})", kPostgresVersion, swizzle_version());
}

}  // namespace swizzle::sql

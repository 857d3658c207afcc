#pragma once

#include <filesystem>
#include <string>

#include "storage/recovery/kill_cycles/kill_oracle.h"

namespace swizzle {

/// The process that is killed: opens the database in `directory`, or makes it, compares it with the
/// oracle, and works until the end. Returns only to report an error.
std::string work_until_killed(const std::filesystem::path& directory, KillOracle& oracle,
                              std::uint64_t seed);
/// Opens, compares, closes; for the end.
std::string check_once(const std::filesystem::path& directory, KillOracle& oracle);

}  // namespace swizzle

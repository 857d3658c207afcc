#pragma once

#include <filesystem>
#include <string>

#include "storage/recovery/kill_cycles/kill_oracle.h"

namespace swizzle {

/// The process that is killed: opens or creates the database in `directory`, compares it with the
/// oracle, and works until it is killed. Returns only to report an error.
std::string work_until_killed(const std::filesystem::path& directory, KillOracle& oracle,
                              std::uint64_t seed);
/// Opens the database, compares it with the oracle and closes it; for the end of a run.
std::string check_once(const std::filesystem::path& directory, KillOracle& oracle);

}  // namespace swizzle

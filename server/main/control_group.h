#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace swizzle::server {

/// Limits of the process's control groups; empty where they set none.
struct ControlGroupLimits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> processors;
};

/// Reads the limits of cgroup version 2 and 1, of the process's own group and of all groups around
/// it, and returns the least of each. `root` is the root of the file system.
ControlGroupLimits control_group_limits(const std::filesystem::path& root = "/");

}  // namespace swizzle::server

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
/// it. The least of each counts. `root` is where the file system begins.
ControlGroupLimits control_group_limits(const std::filesystem::path& root = "/");

}  // namespace swizzle::server

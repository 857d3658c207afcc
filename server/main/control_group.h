#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace swizzle::server {

/// What the control groups of the process allow it; nothing where they set no limit.
struct ControlGroupLimits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> processors;
};

/// Reads the limits of cgroup version 2 and 1, of the process's own group and of all groups around
/// it. The least of each counts. `root` is where the file system begins.
ControlGroupLimits control_group_limits(const std::filesystem::path& root = "/");

}  // namespace swizzle::server

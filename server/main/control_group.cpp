#include "server/main/control_group.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace swizzle::server {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in{text};
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// A line of /proc/self/mountinfo for a hierarchy of control groups.
struct Hierarchy {
  bool is_unified = false;               ///< version 2
  std::vector<std::string> controllers;  ///< of version 1
  std::string root;                      ///< the group that is mounted
  fs::path mount_point;
};

std::vector<Hierarchy> read_hierarchies(const fs::path& root) {
  std::vector<Hierarchy> hierarchies;
  std::ifstream file{root / "proc/self/mountinfo"};
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const std::string& type = dash[1];
    if (type != "cgroup" && type != "cgroup2") continue;
    hierarchies.push_back({type == "cgroup2", split(dash[3], ','), words[3],
                           root / fs::path{words[4]}.relative_path()});
  }
  return hierarchies;
}

/// A line of /proc/self/cgroup: which group of a hierarchy the process is in.
struct Membership {
  std::vector<std::string> controllers;  ///< none: version 2
  std::string path;
};

std::vector<Membership> read_memberships(const fs::path& root) {
  std::vector<Membership> memberships;
  std::ifstream file{root / "proc/self/cgroup"};
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    memberships.push_back(
        {split(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)});
  }
  return memberships;
}

/// Returns the process's group and the groups around it, as far as they are visible.
std::vector<fs::path> groups_of(const Hierarchy& hierarchy,
                                const std::vector<Membership>& memberships) {
  const auto own = std::ranges::find_if(memberships, [&](const Membership& one) {
    if (hierarchy.is_unified) return one.controllers.empty();
    return std::ranges::any_of(one.controllers, [&](const std::string& controller) {
      return contains(hierarchy.controllers, controller);
    });
  });
  std::vector<fs::path> groups{hierarchy.mount_point};
  if (own == memberships.end()) return groups;
  // A container sees its own group at the mount point, and may be told its path from outside.
  std::string path = own->path;
  if (hierarchy.root != "/") {
    if (!path.starts_with(hierarchy.root)) return groups;
    path = path.substr(hierarchy.root.size());
  }
  for (const std::string& name : split(path, '/')) {
    if (!name.empty() && name != "..") groups.push_back(groups.back() / name);
  }
  return groups;
}

std::string first_line(const fs::path& file) {
  std::ifstream in{file};
  std::string line;
  std::getline(in, line);
  return line;
}

/// Returns nothing if the file is missing or has "max" or -1.
std::optional<std::uint64_t> number_in(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  try {
    return std::stoull(text);
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

template <class T>
void lower(std::optional<T>& limit, std::optional<T> other) {
  if (other && (!limit || *other < *limit)) limit = other;
}

std::optional<double> share_of(std::optional<std::uint64_t> quota,
                               std::optional<std::uint64_t> period) {
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

void apply_group(const Hierarchy& hierarchy, const fs::path& group, ControlGroupLimits& limits) {
  if (hierarchy.is_unified) {
    lower(limits.memory_bytes, number_in(first_line(group / "memory.max")));
    const std::vector<std::string> words = split(first_line(group / "cpu.max"), ' ');
    if (words.size() == 2) {
      lower(limits.processors, share_of(number_in(words[0]), number_in(words[1])));
    }
    return;
  }
  if (contains(hierarchy.controllers, "memory")) {
    // No limit is shown as the largest number of whole pages.
    constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62U;
    const auto bytes = number_in(first_line(group / "memory.limit_in_bytes"));
    if (bytes && *bytes < kNoLimit) lower(limits.memory_bytes, bytes);
  }
  if (contains(hierarchy.controllers, "cpu")) {
    lower(limits.processors, share_of(number_in(first_line(group / "cpu.cfs_quota_us")),
                                      number_in(first_line(group / "cpu.cfs_period_us"))));
  }
}

}  // namespace

ControlGroupLimits control_group_limits(const fs::path& root) {
  ControlGroupLimits limits;
  const std::vector<Membership> memberships = read_memberships(root);
  for (const Hierarchy& hierarchy : read_hierarchies(root)) {
    for (const fs::path& group : groups_of(hierarchy, memberships)) {
      apply_group(hierarchy, group, limits);
    }
  }
  return limits;
}

}  // namespace swizzle::server

#include "server/main/control_group.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>

#include "server/main/system_memory.h"

namespace swizzle::server {
namespace {

namespace fs = std::filesystem;

/// A file system with these files only.
class Root {
 public:
  explicit Root(const std::map<std::string, std::string>& files)
      : path_(fs::temp_directory_path() / ("swizzle-cgroup-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    for (const auto& [name, text] : files) {
      fs::create_directories((path_ / name).parent_path());
      std::ofstream{path_ / name} << text;
    }
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  ~Root() { fs::remove_all(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

ControlGroupLimits limits_of(const std::map<std::string, std::string>& files) {
  const Root root{files};
  return control_group_limits(root.path());
}

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
const char* const kUnifiedMount =
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

}  // namespace

TEST_CASE("limits of control groups, version 2") {
  SECTION("of the group itself, as a container sees it") {
    const auto limits = limits_of({{"proc/self/mountinfo", kUnifiedMount},
                                   {"proc/self/cgroup", "0::/\n"},
                                   {"sys/fs/cgroup/memory.max", "2147483648\n"},
                                   {"sys/fs/cgroup/cpu.max", "150000 100000\n"}});
    CHECK(limits.memory_bytes == 2048 * kMiB);
    CHECK(limits.processors == 1.5);
  }
  SECTION("the least of all groups around it") {
    const auto limits = limits_of(
        {{"proc/self/mountinfo", kUnifiedMount},
         {"proc/self/cgroup", "0::/system.slice/db.slice/swizzled.service\n"},
         {"sys/fs/cgroup/system.slice/memory.max", "max\n"},
         {"sys/fs/cgroup/system.slice/cpu.max", "400000 100000\n"},
         {"sys/fs/cgroup/system.slice/db.slice/memory.max", "1073741824\n"},
         {"sys/fs/cgroup/system.slice/db.slice/cpu.max", "max 100000\n"},
         {"sys/fs/cgroup/system.slice/db.slice/swizzled.service/memory.max", "4294967296\n"}});
    CHECK(limits.memory_bytes == 1024 * kMiB);
    CHECK(limits.processors == 4.0);
  }
  SECTION("none") {
    const auto limits = limits_of({{"proc/self/mountinfo", kUnifiedMount},
                                   {"proc/self/cgroup", "0::/a\n"},
                                   {"sys/fs/cgroup/a/memory.max", "max\n"},
                                   {"sys/fs/cgroup/a/cpu.max", "max 100000\n"}});
    CHECK_FALSE(limits.memory_bytes);
    CHECK_FALSE(limits.processors);
  }
}

TEST_CASE("limits of control groups, version 1") {
  const std::string mounts =
      "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  SECTION("beside an empty version 2") {
    const auto limits =
        limits_of({{"proc/self/mountinfo", mounts},
                   {"proc/self/cgroup", "4:memory:/a/b\n2:cpuacct,cpu:/a\n0::/\n"},
                   {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                   {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "3221225472\n"},
                   {"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"},
                   {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
                   {"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "50000\n"},
                   {"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}});
    CHECK(limits.memory_bytes == 3072 * kMiB);
    CHECK(limits.processors == 0.5);
  }
  SECTION("in a container that sees its group at the mount point") {
    const auto limits =
        limits_of({{"proc/self/mountinfo",
                    "35 31 0:32 /docker/12ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"},
                   {"proc/self/cgroup", "4:memory:/docker/12ab\n"},
                   {"sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"}});
    CHECK(limits.memory_bytes == 512 * kMiB);
  }
}

TEST_CASE("no control groups, or files that say something else, are no limit") {
  CHECK_FALSE(limits_of({}).memory_bytes);
  const auto limits = limits_of({{"proc/self/mountinfo", std::string{"x\n- -\n"} + kUnifiedMount},
                                 {"proc/self/cgroup", "nonsense\n0::/../..\n"},
                                 {"sys/fs/cgroup/memory.max", "12x\n"},
                                 {"sys/fs/cgroup/cpu.max", "100000 0\n"}});
  CHECK_FALSE(limits.memory_bytes);
  CHECK_FALSE(limits.processors);
}

TEST_CASE("defaults fit into what the control group has") {
  const Root small{{{"proc/self/mountinfo", kUnifiedMount},
                    {"proc/self/cgroup", "0::/\n"},
                    {"sys/fs/cgroup/memory.max", "1073741824\n"},
                    {"sys/fs/cgroup/cpu.max", "50000 100000\n"}}};
  CHECK(system_memory_bytes(small.path()) == 1024 * kMiB);
  CHECK(system_processors(small.path()) == 1);
  const MemoryDefaults defaults = memory_defaults(system_memory_bytes(small.path()));
  CHECK(defaults.pool_bytes == 256 * kMiB);
  CHECK(defaults.version_store_bytes == 128 * kMiB);
  CHECK(statement_memory(1024 * kMiB, defaults.pool_bytes) == 384 * kMiB);
  const MemoryDefaults large = memory_defaults(std::uint64_t{64} << 30U);
  CHECK(large.pool_bytes == 1024 * kMiB);
  CHECK(large.version_store_bytes == 1024 * kMiB);
  CHECK(system_memory_bytes() > 0);
  CHECK(system_processors() >= 1);
}

}  // namespace swizzle::server

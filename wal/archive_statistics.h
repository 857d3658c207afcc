#pragma once

#include <cstdint>
#include <string>

namespace swizzle::wal {

/// Counters of archived segments and of failures since the start. Times are in microseconds since
/// 1970; 0: never.
struct ArchiveStatistics {
  std::uint64_t archived = 0;
  std::string last_archived;
  std::int64_t last_archived_us = 0;
  std::uint64_t failed = 0;
  std::string last_failed;
  std::int64_t last_failed_us = 0;
};

}  // namespace swizzle::wal

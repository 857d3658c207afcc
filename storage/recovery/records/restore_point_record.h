#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace swizzle {

/// The payload of a restore_point record: eight bytes of time, then the name.
struct RestorePointRecord {
  std::int64_t time_us = 0;
  std::string name;
};

namespace payload {

/// PostgreSQL's limit.
inline constexpr std::size_t kMostRestorePointBytes = 63;
/// Pre: the name has at most kMostRestorePointBytes.
std::vector<std::byte> encode_restore_point(std::int64_t time_us, std::string_view name);
Result<RestorePointRecord> decode_restore_point(Bytes payload);

}  // namespace payload

}  // namespace swizzle

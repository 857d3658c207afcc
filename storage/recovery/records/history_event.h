#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "wal/record.h"

namespace swizzle {

/// A record that changes which transactions a snapshot sees, or names a place, as a recovery target
/// does.
struct HistoryEvent {
  enum class Kind : std::uint8_t { other, commit, rollback, preparation, restore_point };
  Kind kind = Kind::other;
  std::optional<std::int64_t> time_us = std::nullopt;
  std::string name = {};  ///< of a restore point
};

/// XX001 for a damaged restore point.
Result<HistoryEvent> event_of(const wal::Record& record);

}  // namespace swizzle

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "storage/backup.h"
#include "wal/reader.h"

namespace swizzle {

/// The end of a restored history, a record boundary, and what it has last.
struct RecoveryStop {
  Lsn end = Lsn::none;
  std::optional<std::int64_t> last_commit_us = std::nullopt;
  TxnId last_commit = TxnId::none;
  std::optional<std::string> restore_point = std::nullopt;
};

/// Finds the target in the log, which is read from `from` on, a record boundary. Nothing: the log
/// ends before it. Restore points before `earliest`, the backup's end, do not count. 55000 if the
/// target lies before `earliest`.
Result<std::optional<RecoveryStop>> find_stop(wal::Reader reader, Lsn from, Lsn earliest,
                                              const RecoveryTarget& target);
[[nodiscard]] bool has_target(const RecoveryTarget& target) noexcept;
/// Pre: has_target().
std::string describe_target(const RecoveryTarget& target);

}  // namespace swizzle

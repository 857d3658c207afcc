#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "storage/options.h"
#include "storage/recovery/analysis.h"
#include "storage/space/given_up_pages.h"
#include "storage/space/volume.h"
#include "wal/reader.h"

namespace swizzle {

struct RedoOptions {
  /// For pages in memory at a time.
  std::uint64_t memory_bytes = std::uint64_t{256} << 20U;
  /// Log that is read before its pages are fetched, together, and its records applied.
  std::uint64_t window_bytes = std::uint64_t{4} << 20U;
  /// Tasks that apply records, each to its share of the pages; 0: as many as there are processors.
  std::uint32_t workers = 0;
  /// Rebuilds a page, from any task: one that fails its checksum, to the state of its last write or
  /// any later one; with `newest` one that is older than the log says, to that LSN. XX001 when it
  /// cannot: then the page is given up. Empty: such a page is given up at once.
  std::function<Result<>(PageId page, Lsn newest, std::byte* into)> repair = {};
};

struct RedoOutcome {
  std::uint64_t records_read = 0;
  std::uint64_t changes_applied = 0;
  std::uint64_t pages_read = 0;
  std::uint64_t pages_written = 0;
  std::uint64_t pages_repaired = 0;
  /// Pages that redo could neither use nor rebuild. They stay as they are on disk; reading them
  /// must be XX001 until they are at `needed`.
  std::vector<PageGivenUp> given_up = {};
};

/// Brings every page on disk to the state of the log's end; durable on return. May be interrupted
/// by a crash anywhere and repeated (rule R3): a record is applied exactly if the page's LSN is
/// before it, and no page is written before all of its records in a window are applied.
/// Writes no log.
Result<RedoOutcome> redo(Volume& volume, const Analysis& analysis, wal::Reader& reader,
                         const RedoOptions& options, const RecoveryObserver& observer);

}  // namespace swizzle

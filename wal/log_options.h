#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/runtime/runtime.h"

namespace swizzle::wal {

/// Writes go to disk in multiples of this, at multiples of it.
inline constexpr std::size_t kWriteUnit = 4096;

/// How inserters agree on their places in the log.
enum class InsertMode : std::uint8_t {
  plain_mutex,          ///< one mutex over the whole insertion: the baseline of the experiments
  consolidation_array,  ///< mutex if free, else groups take room together; copying is parallel
  atomic_tail,          ///< one fetch-and-add takes the room; copying is parallel
};

/// Called for a finished segment; parks or blocks as long as it needs. Idempotent: after a crash a
/// segment may come again. An error is logged and the call repeated.
using ArchiveSegment =
    std::function<Result<>(const std::filesystem::path& segment, const std::string& name)>;
/// Puts the archived segment `name` at `target`; false: the archive does not have it.
using RestoreSegment =
    std::function<Result<bool>(const std::string& name, const std::filesystem::path& target)>;

#ifdef SWIZZLE_PLANTED_FAULTS
/// Defects that a test campaign must find, or it proves nothing. Absent from release builds.
enum class PlantedFault : std::uint8_t {
  none,
  skip_sync,              ///< the log's writes are not made durable
  lose_last_block,        ///< the last block of a write of several blocks is not written
  acknowledge_too_early,  ///< committers are woken before the write
};
#endif

struct LogOptions {
  std::filesystem::path directory;
  /// Every segment and every record is bound to it.
  std::uint64_t database_id = 0;
  /// Log bytes per segment file: a power of two, at least 64 KiB. An existing log keeps its own.
  std::uint64_t segment_bytes = std::uint64_t{64} << 20U;
  /// The ring: a power of two, at least 64 KiB.
  std::size_t buffer_bytes = std::size_t{16} << 20U;
  InsertMode insert = InsertMode::atomic_tail;
  /// 1 to 16.
  std::size_t consolidation_slots = 4;

  /// Full segments that are kept ready ahead of the one in use.
  std::uint32_t segments_ahead = 1;
  /// Segments kept for recycling although they are not needed; others are removed.
  std::uint32_t spare_segments = 4;
  /// Room at the end of the prepared segments that only ReservePurpose::completion may use.
  std::uint64_t completion_bytes = std::uint64_t{16} << 20U;
  /// How long an asynchronous commit may stay in memory.
  Duration lazy_flush_delay = std::chrono::milliseconds{10};
  /// How long to wait after a failed preparation or archiving before the next try.
  Duration retry_delay = std::chrono::milliseconds{500};

  /// How long writers wait when no segment can be made, so that the reader of Log::lacks_room() can
  /// release old ones. Zero: there is no such reader.
  Duration release_patience{};

  /// If empty, nothing is archived.
  ArchiveSegment archive;
  /// When this many finished segments wait for the archive, writers get 53100.
  std::uint32_t archive_backlog_segments = 64;
  /// If empty, a segment that is not in the directory is missing.
  RestoreSegment restore;

  /// Durability is in doubt: called with the reason, must not return. Default: print and abort.
  std::function<void(const std::string& reason)> panic;
  /// For tests: called when the writer has seen nothing to do and has not published that it rests.
  std::function<void()> before_rest;
#ifdef SWIZZLE_PLANTED_FAULTS
  PlantedFault fault = PlantedFault::none;
#endif
};

}  // namespace swizzle::wal

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/memory/aligned_buffer.h"
#include "base/runtime/background_task.h"
#include "base/runtime/park_mutex.h"
#include "storage/buffer/frame_arena.h"
#include "storage/buffer/page_layout.h"
#include "storage/space/volume.h"

namespace swizzle {

/// The cleaner's interface to the log.
class LogGate {
 public:
  LogGate() = default;
  LogGate(const LogGate&) = delete;
  LogGate& operator=(const LogGate&) = delete;
  virtual ~LogGate() = default;

  /// Returns once the log is durable up to and including the record at `lsn`. Parks.
  virtual void flush_to(Lsn lsn) = 0;
};

/// The oldest record that the disk's copy of the page lacks, none if it lacks none. Reads without
/// the latch; safe against the cleaner's moves. The redo point is the least of these.
[[nodiscard]] Lsn oldest_unwritten(const Frame& frame) noexcept;

/// Writes dirty pages to the volume in the background: in batches, the oldest first, since that
/// moves the redo point, and ahead of the evictor. A page is copied under its shared latch with its
/// addresses translated; the log is flushed up to the batch's LSNs before the batch is written
/// . While a page is being written its frame says so (Frame::writing_since), so that it is
/// neither evicted nor taken for clean (rule C2). Thread-safe.
class Cleaner {
 public:
  static constexpr std::size_t kBatchPages = DoubleWrite::kBatchPages;

  struct Options {
    /// Above this many dirty pages in a hundred the cleaner works without being asked.
    std::uint32_t dirty_percent = 10;
    Duration interval = std::chrono::milliseconds{100};
    /// The background task met an error and has stopped: durability is in doubt.
    std::function<void(const Error&)> on_failure = {};
  };
  Cleaner(FrameArena& frames, Volume& volume, LogGate& log, PageLayout layout, Options options);
  Cleaner(const Cleaner&) = delete;
  Cleaner& operator=(const Cleaner&) = delete;
  ~Cleaner() { stop(); }

  void start();
  /// Parks until the task has ended. Idempotent.
  void stop() noexcept { task_.stop(); }

  /// For evictors when too few pages are clean: starts a round now that prefers pages that could be
  /// evicted afterwards. Cheap; callable under latches.
  void nudge() noexcept { ask(Asked::for_room); }

  /// Post: no page lacks a record before `lsn` that was in the log when the call began. Works in
  /// the caller; parks; no latch held.
  Result<> clean_until(Lsn lsn);
  /// Post: the pages that were dirty when the call began are clean.
  Result<> clean_all() { return clean_until(Lsn::max); }
  /// The background task keeps the redo point at or above `lsn`.
  void set_redo_target(Lsn lsn) noexcept;

  struct Counters {
    std::atomic<std::uint64_t> rounds{0};
    std::atomic<std::uint64_t> pages{0};
    std::atomic<std::uint64_t> scans{0};
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  struct Candidate {
    Lsn since;
    Frame* frame;
  };
  struct Copy {
    Frame* frame;
    PageId page;
    Lsn since;
  };
  struct Scan {
    std::vector<Candidate> candidates;  ///< in the order of the scan
    std::uint64_t dirty = 0;
  };
  enum class Order : std::uint8_t {
    oldest_first,      ///< some, the oldest
    evictable_first,   ///< some, preferring those that are only not clean
    all_oldest_first,  ///< every one
  };
  enum class Asked : std::uint8_t {
    nothing,
    to_look,   ///< scan now
    for_room,  ///< scan now, and clean pages that could then be evicted
  };

  void ask(Asked what) noexcept;
  void run();
  Result<> work(Asked asked);
  Scan scan(Lsn before, Order order);
  Result<> clean(std::span<Frame* const> frames);
  Result<> clean_batch(std::span<Frame* const> frames);
  bool copy_page(Frame& frame, std::byte* to) noexcept;
  void finish(const Copy& copy) noexcept;
  void restore(const Copy& copy) noexcept;

  FrameArena& frames_;
  Volume& volume_;
  LogGate& log_;
  const PageLayout layout_;
  const Options options_;

  ParkMutex round_mutex_;  ///< one batch at a time: what is being written is written once
  AlignedBuffer memory_{kBatchPages * kPageBytes};
  std::vector<Copy> copies_;

  std::atomic<Lsn> redo_target_{Lsn::none};
  TimePoint next_scan_{};

  std::atomic<Asked> asked_{Asked::nothing};
  Counters counters_;
  BackgroundTask task_;
};

}  // namespace swizzle

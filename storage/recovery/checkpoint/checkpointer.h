#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/runtime/background_task.h"
#include "base/runtime/park_mutex.h"
#include "storage/buffer/cleaner.h"
#include "storage/buffer/frame_arena.h"
#include "storage/latch/spin_latch.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/space/space_map.h"
#include "wal/log.h"

namespace swizzle {

/// Takes fuzzy checkpoints: no page is written for one, and no thread waits for one.
///
/// The order makes them correct (rule R2). First come the begin record and the copy of the space
/// map, in one moment. Then the dirty pages, first those that are still to be redone; then the
/// active transactions. Then all of it is written, the log first and the control file last, which
/// completes the checkpoint. Changes during these steps come after the begin record, where analysis
/// sees them.
class Checkpointer {
 public:
  struct Parts {
    wal::Log& log;
    FrameArena& frames;
    SpaceMap& space;
    ControlFile& control;
    /// Returns every transaction that has a record before `begin` and whose commit or end record is
    /// not before it, with its newest record before `begin` or a later one. It may return others
    /// that end later. Called after every frame's latch has been free once since `begin`, so that
    /// whatever was appended under one has been noted.
    std::function<std::vector<ActiveTransaction>(Lsn begin)> active_transactions;
    /// Returns a number that no transaction has had, or will get before the call.
    std::function<TxnId()> next_txn;
    /// Makes further state durable with a checkpoint; may be empty.
    std::function<Result<>()> persist = {};
    /// Returns the identifier of a prepared transaction, and an empty string for any other.
    std::function<std::string(TxnId)> gid_of = {};
    /// Returns the position from which others need the log; Lsn::max: nobody does.
    std::function<Lsn()> kept_for_others = {};
    /// Returns the pages that are still to be redone; may be empty. When a page is no longer among
    /// them, its frame is already marked dirty.
    std::function<std::vector<DirtyPage>()> pending_pages = {};
    /// Redoes these pages, so that the log that they need can be released; may be empty.
    std::function<void()> finish_redo = {};
  };
  struct Options {
    /// Log between two checkpoints: analysis reads so much at the next start.
    std::uint64_t log_bytes = std::uint64_t{64} << 20U;
    /// Log that redo may have to read. The cleaner writes pages with older changes.
    std::uint64_t redo_bytes = std::uint64_t{1} << 30U;
    Duration interval = std::chrono::seconds{300};
    /// Called when an error has ended the background task.
    std::function<void(const Error&)> on_failure = {};
  };
  Checkpointer(Parts parts, Options options);
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  ~Checkpointer() { stop(); }

  /// Takes a checkpoint. Parks; no latch held. Only one caller at a time; the others wait.
  Result<> take(Control::Shutdown shutdown = Control::Shutdown::none) { return take(shutdown, {}); }
  /// Receives the checkpoint's control data and map, before another checkpoint can be taken.
  using Use = std::function<void(const Control& taken, const SpaceMap::Snapshot& map)>;
  Result<> take(Control::Shutdown shutdown, const Use& use);

  /// Has the task take a checkpoint that begins after the call, and waits for it. 57014 when the
  /// caller is asked to end; the checkpoint is taken all the same. If the task does not run, takes
  /// the checkpoint itself.
  Result<> request();

  /// Starts the task: it takes checkpoints by log volume and by time, and when the log finds the
  /// disk full. It has `cleaner` keep the redo point within the log volume.
  void start(Cleaner& cleaner);
  /// Parks until the task has ended. Idempotent.
  void stop() noexcept { task_.stop(); }

  /// Keeps log and pages for an online backup: while it lives, the log from its checkpoint's
  /// keep_from on is kept.
  class Retention {
   public:
    explicit Retention(Checkpointer& of) noexcept;
    Retention(const Retention&) = delete;
    Retention& operator=(const Retention&) = delete;
    ~Retention();

   private:
    Checkpointer& of_;
  };
  /// Releases log that was kept for others and no longer is, without waiting for a checkpoint.
  void release_more_log() noexcept;
  /// The last completed checkpoint, without its lists.
  struct Last {
    Lsn begin = Lsn::none;
    Lsn redo_from = Lsn::none;
    Lsn keep_from = Lsn::none;
    TxnId next_txn{1};
    std::int64_t taken_at_us = 0;
  };
  /// Thread-safe; does not wait for a checkpoint.
  [[nodiscard]] Last last() const noexcept;
  [[nodiscard]] std::uint64_t taken() const noexcept {
    return taken_.load(std::memory_order_relaxed);
  }
  /// Number of checkpoints that were taken because their time had come.
  [[nodiscard]] std::uint64_t taken_by_time() const noexcept {
    return by_time_.load(std::memory_order_relaxed);
  }

 private:
  std::vector<DirtyPage> dirty_pages() const;
  void note_last(const Checkpoint& taken) noexcept;
  void release_log() noexcept;
  /// Keeps as little log as possible, when the log has found the disk full.
  Result<> make_room(Cleaner& cleaner);
  [[nodiscard]] bool could_make_room() const;
  void warn_of_old_transaction(const Checkpoint& taken);
  struct Waiter {
    Parker* parker;
    std::optional<Result<>> outcome = {};
  };
  bool serve_requests();
  void answer_served(const Result<>& outcome) noexcept;
  void refuse_requests() noexcept;
  void run(Cleaner& cleaner);

  const Parts parts_;
  const Options options_;
  ParkMutex one_at_a_time_;
  /// Start of the log that the previous checkpoint needs: its copy of the control file still
  /// exists.
  Lsn previous_keep_from_;
  std::atomic<int> retentions_{0};
  TxnId warned_of_{};
  mutable SpinLatch last_mutex_;
  Last last_;  ///< guarded by last_mutex_
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> by_time_{0};

  SpinLatch requests_mutex_;
  std::vector<Waiter*> requests_;  ///< their checkpoint has not begun
  std::vector<Waiter*> served_;    ///< their checkpoint is being taken
  bool takes_requests_ = false;    ///< true while the task runs
  BackgroundTask task_;
};

}  // namespace swizzle

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/memory/aligned_buffer.h"
#include "base/runtime/duration_histogram.h"
#include "base/runtime/runtime.h"
#include "wal/internal/followers.h"
#include "wal/internal/log_budget.h"
#include "wal/internal/log_buffer.h"
#include "wal/internal/segment_store.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Largest write. No write, from the block of the durable LSN on, reaches farther than this and one
/// record. So after a crash all unacknowledged bytes lie within that distance from the log's end.
inline constexpr std::uint64_t kMaxFlushBytes = std::uint64_t{4} << 20U;
inline constexpr std::uint64_t kMaxUndurableBytes = kMaxFlushBytes + kMaxRecordBytes + kWriteUnit;

/// Writes the ring to the segments and wakes the threads that wait for it. There is one writer at a
/// time: the flusher's own task, or a committer that owns its thread and finds no writer, which
/// saves a lone client two context switches. Group commit: records that gather during one write go
/// with the next. There are no timers: a committer first lets the ready fibers of its thread run,
/// which mostly commit too, and one write takes them all.
class Flusher {
 public:
  struct Statistics {
    std::uint64_t writes = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t flushes = 0;
    std::uint64_t waiters_released = 0;
    DurationHistogram::Counts sync_times;
  };

  Flusher(LogBuffer& buffer, LogBudget& budget, SegmentStore& store, const LogOptions& options,
          std::function<void()> on_new_segment);
  ~Flusher();
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

  /// Pre: everything before `end` is durable; the ring holds the started block.
  void start_at(std::uint64_t end);

  /// Parks until `end` is durable. Pre: the caller's records before `end` are complete; other
  /// threads may still be copying theirs.
  void flush_to(std::uint64_t end) noexcept;
  /// Durable within the lazy delay.
  void flush_soon(std::uint64_t end) noexcept;
  /// Requests a write because the ring needs room.
  void flush_for_room() noexcept;
  /// Ends the task without another write. Pre: no thread waits.
  void stop() noexcept;

  /// Sequentially consistent with write_once(), for followers that wait.
  [[nodiscard]] std::uint64_t durable() const noexcept { return durable_.load(); }
  /// End of the newest flush mark.
  [[nodiscard]] std::uint64_t mark_end() const noexcept { return mark_end_.load(); }
  [[nodiscard]] Followers& followers() noexcept { return followers_; }
  [[nodiscard]] Statistics statistics() const noexcept;

 private:
  struct Waiter {
    std::uint64_t end;
    Parker* parker;
    Waiter* next = nullptr;
    std::atomic<bool> is_durable{false};
  };

  void run_task();
  void rest(std::optional<TimePoint>& lazy_deadline) noexcept;
  [[nodiscard]] bool wanted() const noexcept;
  [[nodiscard]] bool lazy_wanted() const noexcept { return lazy_end_.load() > durable(); }
  bool try_become_writer() noexcept;
  void resign() noexcept;
  void nudge() noexcept;
  void want_write() noexcept;
  [[nodiscard]] bool gather(std::uint64_t end) noexcept;
  void push(Waiter& waiter) noexcept;
  void collect_waiters() noexcept;
  void wake_satisfied() noexcept;
  void write_while_wanted() noexcept;

  // For the writer: writes the published records once; false if there are none.
  bool write_once() noexcept;
  void append_mark(std::uint64_t durable) noexcept;
  void write_range(std::uint64_t from, std::uint64_t end) noexcept;
  void write_in_segment(std::uint64_t from, std::uint64_t end) noexcept;
  Result<> write_staged(File& file, std::uint64_t from, std::uint64_t end);
  Result<> write_direct(File& file, std::uint64_t from, std::uint64_t end);
  [[noreturn]] void panic(const std::string& reason) noexcept;

  LogBuffer& buffer_;
  LogBudget& budget_;
  SegmentStore& store_;
  const LogOptions& options_;
  std::function<void()> on_new_segment_;
  Followers followers_;

  alignas(64) std::atomic<std::uint64_t> durable_{0};
  alignas(64) std::atomic<Waiter*> arrived_{nullptr};
  std::atomic<std::uint64_t> lazy_end_{0};
  /// Number of committers that gather since the last write began.
  std::atomic<std::size_t> gathering_{0};
  /// Set when a caller wants a write and does not wait for it here.
  std::atomic<bool> write_wanted_{false};
  std::atomic<bool> writing_{false};
  enum class Idle : std::uint8_t { no, until_nudged, until_deadline };
  std::atomic<Idle> idle_{Idle::no};
  std::atomic<bool> stopping_{false};
  std::atomic<Parker*> task_parker_{nullptr};

  // For the writer. `collected_` is an atomic only so that every thread may call wanted().
  std::atomic<Waiter*> collected_{nullptr};
  std::uint64_t freed_ = 0;
  /// Changed by the thread that writes.
  std::atomic<std::uint64_t> mark_end_{0};
  AlignedBuffer staging_;
  std::atomic<std::uint64_t> writes_{0};
  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<std::uint64_t> flushes_{0};
  std::atomic<std::uint64_t> waiters_released_{0};
  DurationHistogram sync_times_;

  std::unique_ptr<Task> task_;
};

}  // namespace swizzle::wal

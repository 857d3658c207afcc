#include "wal/internal/segment_keeper.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace swizzle::wal {

SegmentKeeper::SegmentKeeper(SegmentStore& store, LogBudget& budget, const Archiver* archiver,
                             const LogOptions& options)
    : store_(store), budget_(budget), archiver_(archiver), options_(options) {}

SegmentKeeper::~SegmentKeeper() {
  stop();
}

void SegmentKeeper::start() {
  task_ = Runtime::current().spawn("log segments", [this] { run_task(); });
}

void SegmentKeeper::stop() noexcept {
  if (!task_) return;
  stopping_ = true;
  nudge();
  task_->join();
  task_.reset();
}

void SegmentKeeper::want(std::uint64_t end) noexcept {
  std::uint64_t wanted = wanted_end_.load(std::memory_order_relaxed);
  while (wanted < end && !wanted_end_.compare_exchange_weak(wanted, end)) continue;
  nudge();
}

void SegmentKeeper::keep_from(std::uint64_t lsn) noexcept {
  std::uint64_t kept = keep_from_.load(std::memory_order_relaxed);
  while (kept < lsn && !keep_from_.compare_exchange_weak(kept, lsn)) continue;
  nudge();
}

std::uint64_t SegmentKeeper::target() const noexcept {
  const std::uint64_t ahead = store_.geometry().bytes() * options_.segments_ahead;
  return std::max(budget_.promised() + ahead + options_.completion_bytes, wanted_end_.load());
}

std::uint64_t SegmentKeeper::free_below() const noexcept {
  const std::uint64_t needed = store_.geometry().number_of(keep_from_.load());
  return archiver_ ? std::min(needed, archiver_->next_segment()) : needed;
}

void SegmentKeeper::run_task() {
  Runtime& runtime = Runtime::current();
  wake_.attach();
  std::string last_failure;
  while (!stopping_.load()) {
    auto worked = work();
    if (worked) {
      last_failure.clear();
      wake_.wait();
      continue;
    }
    if (worked.error().message() != last_failure) {
      last_failure = worked.error().message();
      spdlog::warn("log: no new segment: {}", last_failure);
    }
    budget_.set_segments_failure(std::move(worked).error());
    // Woken or not: every caller who is refused wakes us, and the disk may be full for long.
    const TimePoint next_try = runtime.now() + options_.retry_delay;
    while (!stopping_.load() && runtime.now() < next_try) runtime.parker().park_until(next_try);
  }
}

Result<> SegmentKeeper::work() {
  while (!stopping_.load() && store_.geometry().first_lsn(store_.end()) < target()) {
    if (archiver_ && archiver_->backlog() >= options_.archive_backlog_segments) {
      return fail(
          Error{sqlstate::disk_full,
                fmt::format("{} finished log segments wait to be archived", archiver_->backlog())}
              .with_hint("The archive command fails, or is too slow; the server's log "
                         "says more."));
    }
    RETURN_IF_ERROR(store_.prepare_next(free_below()));
    budget_.set_segments_end(store_.geometry().first_lsn(store_.end()));
  }
  return store_.remove_surplus(free_below(), options_.spare_segments);
}

}  // namespace swizzle::wal

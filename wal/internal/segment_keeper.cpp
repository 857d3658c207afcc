#include "wal/internal/segment_keeper.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace swizzle::wal {

SegmentKeeper::SegmentKeeper(SegmentStore& store, LogBudget& budget, const Archiver* archiver,
                             const LogOptions& options)
    : store_(store), budget_(budget), archiver_(archiver), options_(options) {}

void SegmentKeeper::start() {
  task_.start("log segments", [this] { run(); });
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

void SegmentKeeper::run() {
  std::string last_failure;
  while (!task_.is_stopping()) {
    auto worked = work();
    if (worked) {
      last_failure.clear();
      task_.wait();
      continue;
    }
    if (worked.error().message() != last_failure) {
      last_failure = worked.error().message();
      spdlog::warn("log: no new segment: {}", last_failure);
    }
    budget_.set_segments_failure(std::move(worked).error());
    // Woken or not: every caller who is refused wakes us, and the disk may be full for long.
    task_.pause_until(Runtime::current().now() + options_.retry_delay);
  }
}

Result<> SegmentKeeper::work() {
  while (!task_.is_stopping() && store_.geometry().first_lsn(store_.end()) < target()) {
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

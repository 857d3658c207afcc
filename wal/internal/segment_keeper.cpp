#include "wal/internal/segment_keeper.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace swizzle::wal {

SegmentKeeper::SegmentKeeper(SegmentStore& store, LogBudget& budget, RollbackRoom& rollbacks,
                             Shortage& shortage, const Archiver* archiver,
                             const LogOptions& options)
    : store_(store),
      budget_(budget),
      rollbacks_(rollbacks),
      shortage_(shortage),
      archiver_(archiver),
      options_(options) {}

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
  return std::max(
      budget_.promised() + ahead + options_.completion_bytes + rollbacks_.unreserved_space(),
      wanted_end_.load());
}

std::uint64_t SegmentKeeper::free_below() const noexcept {
  const std::uint64_t needed = store_.geometry().number_of(keep_from_.load());
  return archiver_ ? std::min(needed, archiver_->next_segment()) : needed;
}

void SegmentKeeper::run() {
  std::string last_failure;
  while (!task_.is_stopping()) {
    shortage_.look();
    auto kept = keep_files();
    auto worked = work();
    if (kept && worked) {
      shortage_.is_over();
      last_failure.clear();
      task_.wait();
      continue;
    }
    if (const auto until = shortage_.note(Runtime::current().now())) {
      task_.wait_until(*until);
      continue;
    }
    if (!kept) rollbacks_.answer(kept.error());
    if (worked) {
      task_.wait_until(Runtime::current().now() + options_.retry_delay);
      continue;
    }
    if (worked.error().message() != last_failure) {
      last_failure = worked.error().message();
      spdlog::warn("log: no new segment: {}", last_failure);
    }
    budget_.set_segments_failure(std::move(worked).error());
    // Ignores wakes: every refused caller wakes the task, and the disk may be full for long.
    task_.pause_until(Runtime::current().now() + options_.retry_delay);
  }
}

Result<> SegmentKeeper::prepare_next() {
  if (archiver_ && archiver_->backlog() >= options_.archive_backlog_segments) {
    return fail(
        Error{sqlstate::disk_full,
              fmt::format("{} finished log segments wait to be archived", archiver_->backlog())}
            .with_hint("The archive command fails, or is too slow; the server's log "
                       "says more."));
  }
  return store_.prepare_next(free_below());
}

Result<> SegmentKeeper::work() {
  while (!task_.is_stopping() && store_.geometry().first_lsn(store_.end()) < target()) {
    if (auto prepared = prepare_next(); !prepared) {
      if (store_.kept_files() == 0 || !budget_.has_waiting_completion()) return prepared;
      RETURN_IF_ERROR(store_.prepare_from_kept_file());
      // First: growth must not take the room that was kept for the rollback.
      note_kept_files();
    } else {
      shortage_.is_over();
    }
    budget_.set_segments_end(store_.geometry().first_lsn(store_.end()));
  }
  RETURN_IF_ERROR(store_.remove_older(store_.geometry().number_of(keep_from_.load())));
  return store_.remove_surplus(free_below(), options_.spare_segments);
}

void SegmentKeeper::note_kept_files() noexcept {
  rollbacks_.set_kept(store_.kept_files() * store_.geometry().bytes());
}

Result<> SegmentKeeper::keep_files() {
  const std::uint64_t bytes = store_.geometry().bytes();
  // Makes the next file before it is needed.
  const auto wanted = [&]() -> std::uint64_t {
    const std::uint64_t owed = rollbacks_.owed();
    return owed == 0 ? 0 : (owed + bytes / 4 + bytes - 1) / bytes;
  };
  while (!task_.is_stopping() && store_.kept_files() < wanted()) {
    RETURN_IF_ERROR(store_.keep_file());
    note_kept_files();
  }
  while (store_.kept_files() > wanted() + 1) {
    const std::uint64_t before = store_.kept_files();
    rollbacks_.set_kept((before - 1) * bytes);
    if (!store_.drop_kept_file()) {
      note_kept_files();
      break;
    }
  }
  return {};
}

}  // namespace swizzle::wal

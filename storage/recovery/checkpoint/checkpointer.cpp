#include "storage/recovery/checkpoint/checkpointer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/runtime/asked_to_end.h"
#include "base/sqlstate.h"
#include "storage/btree/records.h"
#include "storage/latch/guards.h"

namespace swizzle {
namespace {

// A transaction is reported when it keeps so many times the log that redo may have to read.
constexpr std::uint64_t kWorthAWarning = 4;
constexpr Duration kAfterFullDisk = std::chrono::seconds{5};
constexpr Duration kCheckpointerLooksEvery = std::chrono::milliseconds{200};

wal::RecordHeader checkpoint_header() noexcept {
  wal::RecordHeader header;
  header.kind = static_cast<wal::RecordKind>(RecordKind::checkpoint);
  return header;
}

Lsn oldest(Lsn a, Lsn b) noexcept {
  if (a == Lsn::none) return b;
  return b == Lsn::none ? a : std::min(a, b);
}

}  // namespace

Checkpointer::Checkpointer(Parts parts, Options options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      previous_keep_from_(parts_.control.current().checkpoint.keep_from) {
  note_last(parts_.control.current().checkpoint);
}

void Checkpointer::note_last(const Checkpoint& taken) noexcept {
  const std::lock_guard hold(last_mutex_);
  last_ = {taken.begin, taken.redo_from, taken.keep_from, taken.next_txn, taken.taken_at_us};
}

Checkpointer::Last Checkpointer::last() const noexcept {
  const std::lock_guard hold(last_mutex_);
  return last_;
}

Result<> Checkpointer::take(Control::Shutdown shutdown, const Use& use) {
  const std::lock_guard in_turn(one_at_a_time_);
  ASSIGN_OR_RETURN(wal::Reservation space,
                   parts_.log.reserve(0, 1, wal::ReservePurpose::completion));
  wal::Appended begin;
  // Without logging nothing is in the log, which stays where it was and opens there.
  const Lsn unlogged = parts_.control.current().checkpoint.begin;
  const SpaceMap::Snapshot map = parts_.space.snapshot([&] {
    begin = parts_.log.append(space, checkpoint_header());
    if (!parts_.log.enabled()) begin.lsn = unlogged;
    return begin.lsn;
  });

  Control control = parts_.control.current();
  const Lsn replaced_keep_from = control.checkpoint.keep_from;
  Checkpoint& checkpoint = control.checkpoint;
  checkpoint = {};
  checkpoint.begin = begin.lsn;
  // In this order: see Parts::active_transactions.
  checkpoint.dirty = dirty_pages();
  checkpoint.active = parts_.active_transactions(begin.lsn);
  checkpoint.next_txn = parts_.next_txn();
  checkpoint.taken_at_us = Runtime::current().wall_clock_us();
  checkpoint.redo_from = begin.lsn;
  for (const DirtyPage& page : checkpoint.dirty)
    checkpoint.redo_from = oldest(checkpoint.redo_from, page.since);
  checkpoint.keep_from = checkpoint.redo_from;
  for (const ActiveTransaction& transaction : checkpoint.active)
    checkpoint.keep_from = oldest(checkpoint.keep_from, transaction.first);
  control.shutdown = shutdown;

  // Flush everything from which the lists follow: the newest records of the pages, and those that
  // freed pages, which are therefore not listed.
  parts_.log.flush_to(parts_.log.tail());
  RETURN_IF_ERROR(parts_.space.persist(map));
  if (parts_.persist) RETURN_IF_ERROR(parts_.persist());
  RETURN_IF_ERROR(parts_.control.write(control));
  parts_.space.checkpoint_done();
  note_last(control.checkpoint);
  previous_keep_from_ = replaced_keep_from;
  taken_.fetch_add(1, std::memory_order_relaxed);
  release_log();
  warn_of_old_transaction(control.checkpoint);
  if (use) use(control, map);
  return {};
}

Result<> Checkpointer::request() {
  Waiter waiter{&Runtime::current().parker()};
  const bool is_queued = [&] {
    const std::lock_guard hold(requests_mutex_);
    if (takes_requests_) requests_.push_back(&waiter);
    return takes_requests_;
  }();
  if (!is_queued) return take();
  task_.wake();
  for (;;) {
    const bool ends = is_asked_to_end();
    {
      const std::lock_guard hold(requests_mutex_);
      if (waiter.outcome) break;
      if (ends) {
        std::erase(requests_, &waiter);
        std::erase(served_, &waiter);
        return fail(sqlstate::query_canceled, "canceling statement due to user request");
      }
    }
    park_overseen();
  }
  return std::move(*waiter.outcome);
}

/// Serves the waiting requests. Returns false if there were none.
bool Checkpointer::serve_requests() {
  {
    const std::lock_guard hold(requests_mutex_);
    served_ = std::exchange(requests_, {});
    if (served_.empty()) return false;
  }
  answer_served(take());
  return true;
}

void Checkpointer::answer_served(const Result<>& outcome) noexcept {
  const std::lock_guard hold(requests_mutex_);
  for (Waiter* const waiter : served_) {
    waiter->outcome.emplace();
    if (!outcome) {
      const Error& why = outcome.error();
      waiter->outcome =
          fail(Error{why.state(), why.message()}.with_detail(why.detail()).with_hint(why.hint()));
    }
    // Done under the mutex, so that the waiter's owner cannot destroy it before.
    waiter->parker->unpark();
  }
  served_.clear();
}

/// Called when the task ends.
void Checkpointer::refuse_requests() noexcept {
  {
    const std::lock_guard hold(requests_mutex_);
    takes_requests_ = false;
    served_ = std::exchange(requests_, {});
  }
  answer_served(fail(sqlstate::admin_shutdown, "no checkpoint is taken any more"));
}

std::vector<DirtyPage> Checkpointer::dirty_pages() const {
  // Listed first: a page that stops being pending meanwhile is in a frame as a dirty page.
  std::vector<DirtyPage> pages;
  if (parts_.pending_pages) pages = parts_.pending_pages();
  std::uint32_t looked_at = 0;
  parts_.frames.for_each_used([&](Frame& frame) {
    // A page that gets dirty after the walk has passed it has its first record after `begin`.
    if (++looked_at % kFramesBetweenYields == 0) Runtime::current().yield();
    // Waits for a writer that has a record before `begin` and has not marked the page yet. A writer
    // that latches the page later has its record after `begin`.
    static_cast<void>(frame.latch.optimistic());
    if (oldest_unwritten(frame) == Lsn::none) return;
    // Both are read under the latch, since otherwise the frame may be given to another page in
    // between.
    const SharedGuard hold(frame.latch);
    const Lsn since = oldest_unwritten(frame);
    const PageId page = frame.page_id();
    if (since != Lsn::none && page != PageId::none)
      pages.push_back({page, since, load<PageHeader>(frame.page()).lsn});
  });
  return pages;
}

// Releases the log that neither copy of the control file needs.
void Checkpointer::release_log() noexcept {
  if (retentions_.load() != 0) return;
  Lsn keep = oldest(previous_keep_from_, parts_.control.current().checkpoint.keep_from);
  if (parts_.kept_for_others) keep = std::min(keep, parts_.kept_for_others());
  parts_.log.keep_from(keep);
}

void Checkpointer::release_more_log() noexcept {
  const std::lock_guard in_turn(one_at_a_time_);
  release_log();
}

bool Checkpointer::could_make_room() const {
  if (retentions_.load() != 0) return false;
  Lsn held = parts_.log.durable();
  if (parts_.kept_for_others) held = std::min(held, parts_.kept_for_others());
  for (const ActiveTransaction& transaction : parts_.active_transactions(held))
    held = std::min(held, transaction.first);
  return raw(held) >= raw(parts_.log.oldest()) + parts_.log.location().segment_bytes;
}

Result<> Checkpointer::make_room(Cleaner& cleaner) {
  if (!could_make_room()) return {};
  if (parts_.finish_redo) parts_.finish_redo();
  RETURN_IF_ERROR(cleaner.clean_until(parts_.log.tail()));
  RETURN_IF_ERROR(take());
  // A second checkpoint follows, because the older copy of the control file still needs the log of
  // the previous one.
  return take();
}

/// Warns, once, of a transaction that does not end and so keeps all the log since its first change.
void Checkpointer::warn_of_old_transaction(const Checkpoint& taken) {
  const auto oldest = std::ranges::min_element(taken.active, {}, &ActiveTransaction::first);
  if (oldest == taken.active.end() || oldest->id == warned_of_) return;
  const std::uint64_t kept = raw(parts_.log.tail()) - raw(oldest->first);
  if (kept < kWorthAWarning * options_.redo_bytes) return;
  warned_of_ = oldest->id;
  const std::string gid = parts_.gid_of ? parts_.gid_of(oldest->id) : std::string{};
  if (!gid.empty()) {
    spdlog::warn(
        "prepared transaction \"{}\" waits since {} MB of log, which are kept for it: finish it by "
        "COMMIT PREPARED or ROLLBACK PREPARED (pg_prepared_xacts)",
        gid, kept >> 20U);
    return;
  }
  spdlog::warn(
      "transaction {} is open since {} MB of log, which are kept for it: end its session "
      "(pg_stat_activity, xact_start), or set idle_in_transaction_session_timeout",
      raw(oldest->id), kept >> 20U);
}

Checkpointer::Retention::Retention(Checkpointer& of) noexcept : of_(of) {
  // A checkpoint in progress releases log at its end; only then is it known what is left.
  const std::lock_guard in_turn(of_.one_at_a_time_);
  of_.retentions_.fetch_add(1);
}

Checkpointer::Retention::~Retention() {
  of_.retentions_.fetch_sub(1);
}

void Checkpointer::start(Cleaner& cleaner) {
  {
    const std::lock_guard hold(requests_mutex_);
    takes_requests_ = true;
  }
  task_.start("checkpointer", [this, &cleaner] {
    run(cleaner);
    refuse_requests();
  });
}

void Checkpointer::run(Cleaner& cleaner) {
  Runtime& runtime = Runtime::current();
  TimePoint due = runtime.now() + options_.interval;
  TimePoint not_before{};
  const auto stands = [&](const Error& error) {
    if (error.state() == sqlstate::disk_full) return true;
    if (options_.on_failure) options_.on_failure(error);
    return false;
  };
  while (!task_.is_stopping()) {
    if (parts_.log.lacks_room()) {
      const auto made = make_room(cleaner);
      parts_.log.released();
      if (!made && !stands(made.error())) break;
    }
    if (serve_requests()) continue;
    const std::uint64_t tail = raw(parts_.log.tail());
    const std::uint64_t begin = raw(last().begin);
    const std::uint64_t grown = tail > begin ? tail - begin : 0;
    // A log that has grown only by the checkpoint's own records needs no new checkpoint.
    constexpr std::uint64_t kIdleBytes = 4096;
    const bool by_time = runtime.now() >= due && grown > kIdleBytes;
    const bool by_volume = grown >= options_.log_bytes && runtime.now() >= not_before;
    if (by_volume || by_time) {
      auto taken = take();
      if (taken && !by_volume) by_time_.fetch_add(1, std::memory_order_relaxed);
      if (!taken && !stands(taken.error())) break;
      // The previous checkpoint still counts, so nothing is lost but room for the log, and time at
      // the next start.
      if (!taken)
        spdlog::warn("a checkpoint waits until the disk has room: {}", taken.error().message());
      due = runtime.now() + (taken ? options_.interval : kAfterFullDisk);
      not_before = taken ? TimePoint{} : due;
    }
    if (tail > options_.redo_bytes) cleaner.set_redo_target(Lsn{tail - options_.redo_bytes});
    task_.wait_until(runtime.now() + kCheckpointerLooksEvery);
  }
}

}  // namespace swizzle

#include "storage/recovery/checkpointer.h"

#include <algorithm>
#include <mutex>

#include "base/invariant.h"
#include "storage/btree/records.h"
#include "storage/latch/guards.h"

namespace swizzle {
namespace {

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
      previous_keep_from_(parts_.control.current().checkpoint.keep_from) {}

Checkpointer::~Checkpointer() {
  stop();
}

Result<> Checkpointer::take(Control::Shutdown shutdown, const Use& use) {
  const std::lock_guard in_turn(one_at_a_time_);
  ASSIGN_OR_RETURN(wal::Reservation space,
                   parts_.log.reserve(0, 1, wal::ReservePurpose::completion));
  wal::Appended begin;
  // Without logging nothing is in the log: it stays where it was, and opens there.
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

  parts_.log.flush_to(begin.end);
  RETURN_IF_ERROR(parts_.space.persist(map));
  RETURN_IF_ERROR(parts_.control.write(control));
  parts_.space.checkpoint_done();
  previous_keep_from_ = replaced_keep_from;
  taken_.fetch_add(1, std::memory_order_relaxed);
  release_log();
  if (use) use(control, map);
  return {};
}

std::vector<DirtyPage> Checkpointer::dirty_pages() const {
  std::vector<DirtyPage> pages;
  parts_.frames.for_each_used([&](Frame& frame) {
    // Waits for a writer whose record is before `begin` and who has not marked the page yet. One
    // that latches it later has its record behind `begin`.
    static_cast<void>(frame.latch.optimistic());
    if (oldest_unwritten(frame) == Lsn::none) return;
    // Together: the frame may be given to another page otherwise.
    const SharedGuard hold(frame.latch);
    const Lsn since = oldest_unwritten(frame);
    const PageId page = frame.page_id();
    if (since != Lsn::none && page != PageId::none) pages.push_back({page, since});
  });
  return pages;
}

// Down to what both copies of the control file need.
void Checkpointer::release_log() noexcept {
  if (retentions_.load() != 0) return;
  const Lsn keep = oldest(previous_keep_from_, parts_.control.current().checkpoint.keep_from);
  parts_.log.keep_from(keep);
}

Checkpointer::Retention::Retention(Checkpointer& of) noexcept : of_(of) {
  // A checkpoint that is being taken lets go of log at its end: only then do we know what is left.
  const std::lock_guard in_turn(of_.one_at_a_time_);
  of_.retentions_.fetch_add(1);
}

Checkpointer::Retention::~Retention() {
  of_.retentions_.fetch_sub(1);
}

void Checkpointer::start(Cleaner& cleaner) {
  INVARIANT(task_ == nullptr);
  stopping_.store(false);
  task_ = Runtime::current().spawn("checkpointer", [this, &cleaner] { run(cleaner); });
}

void Checkpointer::stop() noexcept {
  if (task_ == nullptr) return;
  stopping_.store(true);
  {
    const std::lock_guard hold(task_mutex_);
    if (task_parker_ != nullptr) task_parker_->unpark();
  }
  task_->join();
  task_.reset();
}

void Checkpointer::run(Cleaner& cleaner) {
  Runtime& runtime = Runtime::current();
  {
    const std::lock_guard hold(task_mutex_);
    task_parker_ = &runtime.parker();
  }
  TimePoint due = runtime.now() + options_.interval;
  while (!stopping_.load()) {
    const std::uint64_t tail = raw(parts_.log.tail());
    const std::uint64_t begin = raw(last().checkpoint.begin);
    const std::uint64_t grown = tail > begin ? tail - begin : 0;
    // The checkpoint's own records are no reason for another.
    constexpr std::uint64_t kIdleBytes = 4096;
    const bool by_time = runtime.now() >= due && grown > kIdleBytes;
    if (grown >= options_.log_bytes || by_time) {
      if (auto taken = take(); !taken) {
        if (options_.on_failure) options_.on_failure(taken.error());
        break;
      }
      due = runtime.now() + options_.interval;
    }
    if (tail > options_.log_bytes) cleaner.set_redo_target(Lsn{tail - options_.log_bytes});
    runtime.parker().park_until(runtime.now() + kCheckpointerLooksEvery);
  }
  const std::lock_guard hold(task_mutex_);
  task_parker_ = nullptr;
}

}  // namespace swizzle

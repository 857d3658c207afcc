#include "wal/internal/flusher.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/invariant.h"
#include "base/runtime/latch_count.h"
#include "base/runtime/spin_wait.h"

namespace swizzle::wal {
namespace {

// Writes up to this size are gathered in one buffer, tail block included: one request costs a lone
// committer less than two. Longer ones go straight from the ring.
constexpr std::size_t kStagingBytes = std::size_t{128} << 10U;

}  // namespace

Flusher::Flusher(LogBuffer& buffer, LogBudget& budget, SegmentStore& store,
                 const LogOptions& options, std::function<void()> on_new_segment)
    : buffer_(buffer),
      budget_(budget),
      store_(store),
      options_(options),
      on_new_segment_(std::move(on_new_segment)),
      staging_(kStagingBytes) {}

Flusher::~Flusher() {
  stop();
}

void Flusher::start_at(std::uint64_t end) {
  durable_ = mark_end_ = end;
  freed_ = block_floor(end);
  task_ = Runtime::current().spawn("log writer", [this] { run_task(); });
}

void Flusher::stop() noexcept {
  if (!task_) return;
  stopping_ = true;
  if (Parker* const parker = task_parker_.load()) parker->unpark();
  task_->join();
  task_.reset();
}

Flusher::Statistics Flusher::statistics() const noexcept {
  return {.writes = writes_.load(std::memory_order_relaxed),
          .bytes_written = bytes_written_.load(std::memory_order_relaxed),
          .flushes = flushes_.load(std::memory_order_relaxed),
          .waiters_released = waiters_released_.load(std::memory_order_relaxed),
          .sync_times = sync_times_.counts()};
}

// ---- waiting ----

void Flusher::flush_to(std::uint64_t end) noexcept {
  if (durable() >= end) return;
  assert_no_latch_held();
  if (gather(end)) return;
  Runtime& runtime = Runtime::current();
  Waiter waiter{.end = end, .parker = &runtime.parker()};
  push(waiter);
  if (runtime.owns_its_thread() && try_become_writer()) {
    SpinWait spin;
    while (!waiter.is_durable.load(std::memory_order_relaxed)) {
      // No record to write: one before ours is still being copied.
      if (!write_once()) spin.once();
    }
    resign();
  } else {
    nudge();
  }
  while (!waiter.is_durable.load(std::memory_order_acquire)) waiter.parker->park();
}

void Flusher::flush_soon(std::uint64_t end) noexcept {
  std::uint64_t wanted_end = lazy_end_.load(std::memory_order_relaxed);
  while (wanted_end < end) {
    if (lazy_end_.compare_exchange_weak(wanted_end, end)) break;
  }
  // A task with a deadline will write in any case.
  if (idle_.load() == Idle::until_nudged) nudge();
}

void Flusher::flush_for_room() noexcept {
  want_write();
}

void Flusher::want_write() noexcept {
  if (write_wanted_.load(std::memory_order_relaxed)) return;
  write_wanted_ = true;
  nudge();
}

/// Lets the ready fibers of this thread run, which mostly commit too. Wants a write as soon as as
/// many have gathered as are ready, so that it is under way while they run. Returns true if `end`
/// is durable by now; otherwise the caller must ask for a write.
bool Flusher::gather(std::uint64_t end) noexcept {
  Runtime& runtime = Runtime::current();
  const std::size_t others = runtime.others_ready();
  if (others == 0) return false;
  if (gathering_.fetch_add(1, std::memory_order_relaxed) + 1 >= others) want_write();
  runtime.yield();
  return durable() >= end;
}

void Flusher::push(Waiter& waiter) noexcept {
  waiter.next = arrived_.load(std::memory_order_relaxed);
  // Sequentially consistent with resign() and rest(): a thread that stops writing sees our waiter,
  // or we see that it has stopped.
  while (!arrived_.compare_exchange_weak(waiter.next, &waiter)) continue;
}

// ---- the writer ----

bool Flusher::wanted() const noexcept {
  return arrived_.load() != nullptr || write_wanted_.load() || collected_.load() != nullptr;
}

bool Flusher::try_become_writer() noexcept {
  return !writing_.exchange(true);
}

void Flusher::resign() noexcept {
  writing_.store(false);
  // Requests that came during the write found no free writer to nudge: look for them now.
  if (wanted() || lazy_wanted()) nudge();
}

void Flusher::nudge() noexcept {
  if (idle_.load() == Idle::no || idle_.exchange(Idle::no) == Idle::no) return;
  task_parker_.load()->unpark();
}

void Flusher::run_task() {
  task_parker_ = &Runtime::current().parker();
  std::optional<TimePoint> lazy_deadline;
  while (!stopping_.load()) {
    const bool lazy_due = lazy_deadline && Runtime::current().now() >= *lazy_deadline;
    if ((wanted() || lazy_due) && try_become_writer()) {
      if (lazy_due) static_cast<void>(write_once());
      lazy_deadline.reset();
      write_while_wanted();
      writing_.store(false);
      continue;
    }
    rest(lazy_deadline);
  }
}

// Sleeps until there is something to write, or the thread that writes has finished.
void Flusher::rest(std::optional<TimePoint>& lazy_deadline) noexcept {
  const TimePoint now = Runtime::current().now();
  if (!lazy_wanted()) {
    lazy_deadline.reset();
  } else if (!lazy_deadline) {
    lazy_deadline = now + options_.lazy_flush_delay;
  } else if (*lazy_deadline <= now) {
    lazy_deadline = now + std::chrono::milliseconds{1};  // another thread writes
  }
  if (options_.before_rest) options_.before_rest();
  idle_.store(lazy_deadline ? Idle::until_deadline : Idle::until_nudged);
  const bool missed = (wanted() && !writing_.load()) || (!lazy_deadline && lazy_wanted());
  if (!missed && !stopping_.load()) {
    Parker& parker = *task_parker_.load(std::memory_order_relaxed);
    lazy_deadline ? static_cast<void>(parker.park_until(*lazy_deadline)) : parker.park();
  }
  idle_.store(Idle::no);
}

void Flusher::write_while_wanted() noexcept {
  SpinWait spin;
  while (wanted()) {
    write_wanted_ = false;
    if (write_once()) continue;
    collect_waiters();
    wake_satisfied();
    if (collected_.load(std::memory_order_relaxed) != nullptr) spin.once();
  }
}

void Flusher::collect_waiters() noexcept {
  Waiter* arrived = arrived_.exchange(nullptr);
  Waiter* collected = collected_.load(std::memory_order_relaxed);
  while (arrived != nullptr) {
    Waiter* const next = arrived->next;
    arrived->next = collected;
    collected = arrived;
    arrived = next;
  }
  collected_.store(collected);
}

void Flusher::wake_satisfied() noexcept {
  const std::uint64_t durable_now = durable();
  const Parker* const own = &Runtime::current().parker();
  Waiter* left = nullptr;
  std::uint64_t released = 0;
  for (Waiter* waiter = collected_.load(std::memory_order_relaxed); waiter != nullptr;) {
    Waiter* const next = waiter->next;
    if (waiter->end > durable_now) {
      waiter->next = left;
      left = waiter;
    } else {
      Parker* const parker = waiter->parker;
      // From here on the waiter may be gone, and its parker in other use: parkers are recycled and
      // never freed, and a spurious wake does no harm (rule Base 2). If the waiter had to wait
      // until unpark() has returned, it would wait for a system call of a thread that may have lost
      // the processor to it.
      waiter->is_durable.store(true, std::memory_order_release);
      if (parker != own) parker->unpark();
      ++released;
    }
    waiter = next;
  }
  collected_.store(left);
  if (released != 0) waiters_released_.fetch_add(released, std::memory_order_relaxed);
}

// ---- writing ----

void Flusher::append_mark(std::uint64_t durable_now) noexcept {
  // One mark that is not durable yet is enough; and a log that is all durable needs none.
  if (mark_end_ > durable_now || buffer_.tail() == durable_now) return;
  const RecordHeader header{.kind = RecordKind::flush_mark};
  const std::array payload{Bytes{std::as_bytes(std::span{&durable_now, 1})}};
  EncodedHeader encoded;
  encode_header(header, encoded);
  const std::size_t bytes = record_bytes(encoded, sizeof durable_now);
  if (!budget_.try_take_mark(bytes)) return;
  budget_.count_record();
  mark_end_ = buffer_.insert(encoded, payload, bytes).end;
}

bool Flusher::write_once() noexcept {
  const std::uint64_t from = durable();
  gathering_.store(0, std::memory_order_relaxed);
  append_mark(from);
  const std::uint64_t end = buffer_.published_from(from, from + kMaxFlushBytes);
  if (end == from) return false;
#ifdef SWIZZLE_PLANTED_FAULTS
  if (options_.fault == PlantedFault::acknowledge_too_early) {
    durable_.store(end, std::memory_order_release);
    collect_waiters();
    wake_satisfied();
  }
#endif
  Runtime& runtime = Runtime::current();
  const TimePoint begin = runtime.now();
  write_range(block_floor(from), end);
  sync_times_.record(runtime.now() - begin);
  flushes_.fetch_add(1, std::memory_order_relaxed);
  // A reader of the new durable LSN may rely on it. Sequentially consistent: see Followers.
  durable_.store(end);
  collect_waiters();
  wake_satisfied();
  followers_.tell();

  const std::uint64_t free_below = block_floor(end);
  buffer_.clear(freed_, free_below);
  freed_ = free_below;
  budget_.set_ring_start(freed_);
  const auto& geometry = store_.geometry();
  if (geometry.number_of(end) != geometry.number_of(from)) {
    store_.close_below(geometry.number_of(end));
    on_new_segment_();
  }
  return true;
}

void Flusher::write_range(std::uint64_t from, std::uint64_t end) noexcept {
#ifdef SWIZZLE_PLANTED_FAULTS
  if (options_.fault == PlantedFault::lose_last_block && end - from > kWriteUnit) {
    end = block_floor(end - 1);
  }
#endif
  while (from < end) {
    const std::uint64_t stop = std::min(end, store_.geometry().end_of(from));
    write_in_segment(from, stop);
    from = stop;
  }
}

void Flusher::write_in_segment(std::uint64_t from, std::uint64_t end) noexcept {
  const auto file = store_.writable(store_.geometry().number_of(from));
  const auto written = block_ceiling(end) - from <= kStagingBytes ? write_staged(*file, from, end)
                                                                  : write_direct(*file, from, end);
  if (!written) panic(written.error().message());
  writes_.fetch_add(1, std::memory_order_relaxed);
  bytes_written_.fetch_add(block_ceiling(end) - from, std::memory_order_relaxed);
}

Result<> Flusher::write_staged(File& file, std::uint64_t from, std::uint64_t end) {
  buffer_.copy_out(from, end, staging_.data());
  std::memset(staging_.data() + (end - from), 0, block_ceiling(end) - end);
  return file.write_at(store_.geometry().file_offset(from),
                       staging_.bytes().first(block_ceiling(end) - from));
}

Result<> Flusher::write_direct(File& file, std::uint64_t from, std::uint64_t end) {
  const auto& geometry = store_.geometry();
  std::array<IoRequest, 3> requests{};  // two if the ring wraps, and the last block
  std::size_t count = 0;
  const auto add = [&](std::uint64_t at, MutableBytes memory) {
    IoRequest& request = requests[count++];
    request.kind = IoRequest::Kind::write;
    request.offset = geometry.file_offset(at);
    request.data = memory.data();
    request.size = memory.size();
  };
  // Records are still appended to the last block: write a copy with zeros after `end`.
  const std::uint64_t whole_end = block_floor(end);
  for (std::uint64_t at = from; at < whole_end;) {
    const MutableBytes part = buffer_.piece(at, whole_end);
    add(at, part);
    at += part.size();
  }
  if (whole_end < end) {
    buffer_.copy_out(whole_end, end, staging_.data());
    std::memset(staging_.data() + (end - whole_end), 0, whole_end + kWriteUnit - end);
    add(whole_end, staging_.bytes().first(kWriteUnit));
  }
  const std::span used{requests.data(), count};
  file.transfer_all(used);
  for (const IoRequest& request : used) {
    if (request.error != 0) return fail(file.failure(request));
  }
  return {};
}

void Flusher::panic(const std::string& reason) noexcept {
  const std::string message = "the log cannot be written, so no commit is safe: " + reason;
  if (options_.panic) options_.panic(message);
  std::fprintf(stderr, "PANIC: %s\n", message.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace swizzle::wal

#include "wal/internal/log_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "base/runtime/asked_to_end.h"
#include "base/runtime/latch_count.h"

namespace swizzle::wal {
namespace {

// Room for the writer's flush mark alone, so that inserts that fill the ring cannot keep it out;
// and one unit more, so that the tail never meets bytes that are not cleared yet.
constexpr std::size_t kKeptForMark = 64;

Error copy_of(const Error& error) {
  Error copy{error.state(), error.message()};
  return std::move(copy).with_detail(error.detail()).with_hint(error.hint());
}

}  // namespace

LogBudget::LogBudget(std::size_t ring_bytes, std::uint64_t completion_bytes,
                     const RollbackRoom& rollbacks, Hooks hooks)
    : ring_bytes_(ring_bytes),
      completion_bytes_(completion_bytes),
      rollbacks_(rollbacks),
      chunk_bytes_(std::min<std::size_t>(ring_bytes / 256, std::size_t{64} << 10U)),
      hooks_(std::move(hooks)) {}

void LogBudget::start_at(std::uint64_t tail, std::uint64_t ring_start,
                         std::uint64_t segments_end) noexcept {
  promised_ = tail;
  ring_start_ = ring_start;
  segments_end_ = segments_end;
}

bool LogBudget::take_from_stripe(std::size_t bytes) noexcept {
  auto& credits = own_stripe().credits;
  std::uint64_t have = credits.load(std::memory_order_relaxed);
  while (have >= bytes) {
    // Acquire and release here and in give_back: the credits stand for cleared room, which their
    // new owner must see cleared.
    if (credits.compare_exchange_weak(have, have - bytes, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void LogBudget::give_back(std::size_t bytes, std::size_t records, Credits of) noexcept {
  Stripe& stripe = own_stripe();
  if (records != 0) stripe.records.fetch_add(records, std::memory_order_relaxed);
  if (of == Credits::kept_for_completion) [[unlikely]] {
    promised_.fetch_sub(bytes, std::memory_order_seq_cst);
    if (waiting_.load(std::memory_order_seq_cst) != 0) serve_waiters();
    return;
  }
  auto& credits = stripe.credits;
  // Sequentially consistent with take_slowly: either we see the waiter, or it sees the credits in
  // our stripe.
  const std::uint64_t had = credits.fetch_add(bytes, std::memory_order_seq_cst);
  if (waiting_.load(std::memory_order_seq_cst) != 0) {
    serve_waiters();
  } else if (had + bytes > 4 * chunk_bytes_) {
    promised_.fetch_sub(credits.exchange(0, std::memory_order_acq_rel), std::memory_order_seq_cst);
    // A waiter that began between the two found neither the credits nor the room: serve it now.
    if (waiting_.load(std::memory_order_seq_cst) != 0) serve_waiters();
  }
}

std::uint64_t LogBudget::records() const noexcept {
  std::uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) sum += stripe.records.load(std::memory_order_relaxed);
  return sum;
}

LogBudget::Obstacle LogBudget::try_promise(std::size_t bytes, Credits credits) noexcept {
  const std::uint64_t kept =
      credits == Credits::of_growth ? completion_bytes_ + rollbacks_.unreserved_space() : 0;
  std::uint64_t promised = promised_.load(std::memory_order_relaxed);
  for (;;) {
    // Acquire: the room below these limits has been cleared, or prepared. Sequentially consistent
    // with set_ring_start: it sees our waiter, or we see its room.
    if (promised + bytes + kKeptForMark > ring_start_.load(std::memory_order_seq_cst) + ring_bytes_)
      return Obstacle::ring;
    if (promised + bytes + kKeptForMark + kept > segments_end_.load(std::memory_order_seq_cst))
      return Obstacle::segments;
    if (promised_.compare_exchange_weak(promised, promised + bytes, std::memory_order_acq_rel,
                                        std::memory_order_relaxed))
      return Obstacle::none;
  }
}

LogBudget::Obstacle LogBudget::try_promise_all(std::size_t bytes, Credits credits) noexcept {
  if (try_promise(bytes, credits) == Obstacle::none) return Obstacle::none;
  std::uint64_t unspent = 0;
  for (auto& stripe : stripes_) unspent += stripe.credits.exchange(0, std::memory_order_seq_cst);
  promised_.fetch_sub(unspent, std::memory_order_acq_rel);
  return try_promise(bytes, credits);
}

LogBudget::Promise LogBudget::try_promise_all(std::size_t bytes, ReservePurpose purpose) noexcept {
  const Obstacle obstacle = try_promise_all(bytes, Credits::of_growth);
  if (obstacle != Obstacle::segments || purpose == ReservePurpose::growth)
    return {obstacle, Credits::of_growth};
  return {try_promise(bytes, Credits::kept_for_completion), Credits::kept_for_completion};
}

bool LogBudget::try_take_mark(std::size_t bytes) noexcept {
  INVARIANT(bytes < kKeptForMark);
  std::uint64_t promised = promised_.load(std::memory_order_relaxed);
  do {
    // Strictly below: the tail must not meet the end of the cleared room.
    if (promised + bytes >= ring_start_.load(std::memory_order_acquire) + ring_bytes_ ||
        promised + bytes > segments_end_.load(std::memory_order_acquire)) {
      return false;
    }
  } while (!promised_.compare_exchange_weak(promised, promised + bytes, std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
  return true;
}

void LogBudget::ask_for_room(Obstacle obstacle, std::size_t bytes) noexcept {
  if (obstacle == Obstacle::ring) hooks_.want_ring();
  if (obstacle == Obstacle::segments)
    hooks_.want_segments(promised() + bytes + completion_bytes_ + rollbacks_.unreserved_space() +
                         kKeptForMark);
}

bool LogBudget::holds_rollbacks() const noexcept {
  const std::uint64_t kept = completion_bytes_ + rollbacks_.unreserved_space() + kKeptForMark;
  return promised_.load(std::memory_order_seq_cst) + kept <=
         segments_end_.load(std::memory_order_seq_cst);
}

bool LogBudget::has_waiting_completion() noexcept {
  const std::lock_guard guard{mutex_};
  return std::ranges::any_of(
      queue_, [](const Waiter* waiter) { return waiter->purpose == ReservePurpose::completion; });
}

// Takes growth's room in any case, because a stripe's credits are taken for any purpose.
void LogBudget::refill(std::size_t bytes) noexcept {
  // While a thread waits, credits go to it: a large reservation must not starve.
  if (waiting_.load(std::memory_order_relaxed) != 0) return;
  if (try_promise(bytes, Credits::of_growth) != Obstacle::none) return;
  give_back(bytes);
}

std::optional<Credits> LogBudget::try_take(std::size_t bytes, ReservePurpose purpose) noexcept {
  if (take_from_stripe(bytes)) return Credits::of_growth;
  const std::lock_guard guard{mutex_};
  if (!queue_.empty()) return std::nullopt;
  const Promise promise = try_promise_all(bytes, purpose);
  if (promise.obstacle != Obstacle::none) return std::nullopt;
  return promise.credits;
}

Result<Credits> LogBudget::take_slowly(std::size_t bytes, ReservePurpose purpose) {
  if (bytes > largest_take()) {
    return fail(sqlstate::program_limit_exceeded,
                fmt::format("cannot reserve {} bytes of log: the log buffer allows {} at a time",
                            bytes, largest_take()));
  }
  if (waiting_.load(std::memory_order_relaxed) == 0 &&
      try_promise(bytes, Credits::of_growth) == Obstacle::none) {
    refill(chunk_bytes_);
    // The writer starts early, so that a burst finds room and does not have to wait.
    if (promised() - ring_start_.load(std::memory_order_relaxed) > ring_bytes_ / 4) {
      hooks_.want_ring();
    }
    return Credits::of_growth;
  }
  assert_no_latch_held();
  waits_.fetch_add(1, std::memory_order_relaxed);
  Waiter waiter{bytes, purpose, &Runtime::current().parker(), Waiter::State::waiting, {}, {}};
  {
    const std::lock_guard guard{mutex_};
    queue_.push_back(&waiter);
    // Before the limits and stripes are read again in serve_waiters_locked: see give_back.
    waiting_.fetch_add(1, std::memory_order_seq_cst);
    serve_waiters_locked();
  }
  // A completion cannot be cancelled: a rollback has no alternative.
  const bool may_end = purpose == ReservePurpose::growth;
  for (;;) {
    const bool ends = may_end && is_asked_to_end();
    {
      const std::lock_guard guard{mutex_};
      if (waiter.state == Waiter::State::granted) return waiter.credits;
      if (waiter.state == Waiter::State::refused) return fail(std::move(*waiter.why));
      if (ends) {
        leave_queue(waiter);
        return fail(sqlstate::query_canceled, "canceling statement due to user request");
      }
    }
    may_end ? park_overseen() : waiter.parker->park();
  }
}

// Serves a smaller request behind the one that leaves, which may fit now.
void LogBudget::leave_queue(Waiter& waiter) noexcept {
  std::erase(queue_, &waiter);
  waiting_.fetch_sub(1, std::memory_order_seq_cst);
  serve_waiters_locked();
}

void LogBudget::answer(Waiter& waiter, Waiter::State state) noexcept {
  waiter.state = state;
  // Under the mutex: the owner cannot read the answer and destroy the waiter before.
  waiter.parker->unpark();
}

void LogBudget::serve_waiters() noexcept {
  const std::lock_guard guard{mutex_};
  serve_waiters_locked();
}

void LogBudget::serve_waiters_locked() noexcept {
  // Completions first: threads that wait for growth may be waiting for them. A failure to prepare
  // segments does not refuse completions, since a rollback has no alternative.
  if (serve_queue(ReservePurpose::completion) == Obstacle::ring) return;
  serve_queue(ReservePurpose::growth);
}

// Serves the requests in the order of arrival; returns the obstacle that stopped it.
LogBudget::Obstacle LogBudget::serve_queue(ReservePurpose purpose) noexcept {
  for (auto at = queue_.begin(); at != queue_.end();) {
    Waiter& waiter = **at;
    if (waiter.purpose != purpose) {
      ++at;
      continue;
    }
    const auto [obstacle, credits] = try_promise_all(waiter.bytes, purpose);
    waiter.credits = credits;
    if (obstacle != Obstacle::none) ask_for_room(obstacle, waiter.bytes);
    if (obstacle == Obstacle::segments && failure_ && purpose == ReservePurpose::growth) {
      waiter.why = copy_of(*failure_);
    } else if (obstacle != Obstacle::none) {
      return obstacle;
    }
    at = queue_.erase(at);
    waiting_.fetch_sub(1, std::memory_order_seq_cst);
    answer(waiter, waiter.why ? Waiter::State::refused : Waiter::State::granted);
  }
  return Obstacle::none;
}

void LogBudget::set_ring_start(std::uint64_t start) noexcept {
  ring_start_.store(start, std::memory_order_seq_cst);
  if (waiting_.load(std::memory_order_seq_cst) != 0) serve_waiters();
}

void LogBudget::set_segments_end(std::uint64_t end) noexcept {
  const std::lock_guard guard{mutex_};
  segments_end_.store(end, std::memory_order_seq_cst);
  failure_.reset();
  serve_waiters_locked();
}

void LogBudget::set_segments_failure(Error why) noexcept {
  const std::lock_guard guard{mutex_};
  failure_.emplace(std::move(why));
  serve_waiters_locked();
}

}  // namespace swizzle::wal

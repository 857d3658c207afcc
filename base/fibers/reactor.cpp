#include "base/fibers/reactor.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/fibers/crash_report.h"
#include "base/fibers/fiber_runtime.h"
#include "base/runtime/latch_count.h"
#include "base/runtime/long_work.h"
#include "base/runtime/spin.h"
#include "base/runtime/stack_depth.h"

namespace swizzle {
namespace {

thread_local Reactor* current_reactor = nullptr;

constexpr unsigned kUringCapacity = 256;
// A system call carries a batch: requests gather until there are this many, or this many turns
// passed.
constexpr unsigned kLongestGathering = 4;
// Number of turns between looks at wakes, timers and finished requests, and number of such rounds
// between looks at sockets and handlers, which cost a system call.
constexpr std::size_t kLongestRound = 16;
constexpr unsigned kRoundsBetweenPolls = 4;
// Number of fibers that may go ahead before one in line runs.
constexpr unsigned kMostAhead = 16;

}  // namespace

Reactor* Reactor::current() noexcept {
  return current_reactor;
}

Reactor::Reactor(FiberRuntime& runtime, std::size_t number, Settings settings)
    : runtime_(runtime), number_(number), settings_(settings), stacks_(settings.stack_bytes) {
  poller_.watch(wake_.descriptor, EPOLLIN, wake_);
  // The ring belongs to the thread that makes it, so the thread does. The constructor waits, since
  // has_uring() must be known at once.
  std::atomic<bool> started{false};
  thread_ = std::thread{[this, &started] {
    if (settings_.io_engine == IoEngine::io_uring) {
      uring_ = Uring::open(kUringCapacity, Uring::Use::one_thread);
      if (uring_ != nullptr && !uring_->announce_completions_through(wake_.descriptor)) {
        uring_.reset();
      }
      if (uring_ == nullptr) spdlog::warn("reactor {}: no io_uring to be had", number_);
    }
    // Release: publishes uring_.
    started.store(true, std::memory_order_release);
    started.notify_one();
    run();
  }};
  started.wait(false, std::memory_order_acquire);
}

Reactor::~Reactor() {
  // Release: the thread sees everything done before it stops.
  stopping_.store(true, std::memory_order_release);
  wake_.ring();
  thread_.join();
  // Acquire: see make_ready.
  while (wakers_.load(std::memory_order_acquire) != 0) cpu_relax();
}

// ---- Wakes

// Never read: each write announces itself, whatever the counter is.
Reactor::WakeDescriptor::WakeDescriptor() : descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor < 0) throw std::system_error{errno, std::system_category(), "eventfd"};
}

Reactor::WakeDescriptor::~WakeDescriptor() {
  ::close(descriptor);
}

void Reactor::WakeDescriptor::ring() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor, &one, sizeof one);
}

void Reactor::make_ready(Fiber& fiber) noexcept {
  if (current_reactor == this) {
    add_ready(fiber);
    return;
  }
  // Once in the inbox the fiber may run and end, and our owner be destroyed: the destructor waits
  // for us.
  wakers_.fetch_add(1, std::memory_order_relaxed);
  Fiber* head = inbox_.load(std::memory_order_relaxed);
  do {
    fiber.next_ = head;
    // Sequentially consistent, like the three accesses to sleeping_ and the reactor's look at the
    // inbox: either it sees the fiber before it sleeps, or we see that it sleeps.
  } while (!inbox_.compare_exchange_weak(head, &fiber, std::memory_order_seq_cst));
  if (sleeping_.load(std::memory_order_seq_cst) &&
      sleeping_.exchange(false, std::memory_order_seq_cst)) {
    wake_.ring();
  }
  // Release: our last access comes before the destructor's.
  wakers_.fetch_sub(1, std::memory_order_release);
}

bool Reactor::drain_inbox() noexcept {
  // Mostly empty; a load keeps the cache line shared.
  if (inbox_.load(std::memory_order_relaxed) == nullptr) return false;
  // Acquire: sees the fibers as their wakers left them.
  Fiber* fiber = inbox_.exchange(nullptr, std::memory_order_acquire);
  Fiber* in_order = nullptr;
  while (fiber != nullptr) {
    Fiber* const next = std::exchange(fiber->next_, in_order);
    in_order = std::exchange(fiber, next);
  }
  while (in_order != nullptr) {
    Fiber& arrived = *std::exchange(in_order, in_order->next_);
    add_ready(arrived);
  }
  return true;
}

void Reactor::expect(Fiber& fiber) noexcept {
  fiber.reactor_ = this;
  living_.fetch_add(1, std::memory_order_relaxed);
}

// ---- Requests of the running fiber

void Reactor::suspend() noexcept {
  running_->coroutine_->suspend();
}

void Reactor::suspend_until(TimePoint deadline) noexcept {
  Fiber& fiber = *running_;
  timers_.insert(fiber, deadline);
  suspend();
  timers_.remove(fiber);
}

void Reactor::go_to_the_end_of_the_queue() noexcept {
  ready_.push(*running_);
  suspend();
}

void Reactor::release_unused_stack() noexcept {
  swizzle::release_unused_stack();
}

// ---- The loop

void Reactor::run() noexcept {
  const std::string name = "reactor " + std::to_string(number_);
  pthread_setname_np(pthread_self(), name.c_str());
  const CrashStack crash_stack;
  const RuntimeScope scope{runtime_};
  current_reactor = this;
  // Acquire: pairs with the destructor and with the spawning threads.
  // Also waits for requests that outlive the fibers that submitted them, because the kernel still
  // writes to their memory.
  while (!stopping_.load(std::memory_order_acquire) ||
         living_.load(std::memory_order_acquire) != 0 || requests_under_way_ != 0) {
    if (!take_turn()) wait_for_work();
  }
  uring_.reset();
  current_reactor = nullptr;
}

bool Reactor::take_turn() noexcept {
  bool worked = drain_inbox();
  worked |= run_ready_fibers();
  worked |= serve_uring();
  worked |= fire_timers();
  // An idle reactor polls the descriptors when it waits.
  if (worked && ++turns_since_poll_ >= kRoundsBetweenPolls) poll_descriptors();
  return worked;
}

void Reactor::add_ready(Fiber& fiber) noexcept {
  (fiber.wakeup_priority_ == WakeupPriority::high ? ahead_ : ready_).push(fiber);
}

/// Pre: ready_count() != 0.
Fiber& Reactor::next_ready() noexcept {
  const bool is_ahead = ready_.empty() || (!ahead_.empty() && ran_ahead_ < kMostAhead);
  ran_ahead_ = is_ahead ? ran_ahead_ + 1 : 0;
  return (is_ahead ? ahead_ : ready_).pop();
}

bool Reactor::run_ready_fibers() noexcept {
  // Runs only as many as are ready now: wakes and finished requests are looked at in between.
  const std::size_t round = std::min(ready_count(), kLongestRound);
  for (std::size_t i = 0; i < round; ++i) {
    run_one(next_ready());
    // Fibers woken by other threads would wait for a whole round, which is too long.
    drain_inbox();
    if (uring_ != nullptr && uring_->has_unflushed() &&
        ++turns_since_submit_ >= kLongestGathering) {
      serve_uring();
    }
  }
  return round != 0;
}

bool Reactor::give_stack(Fiber& fiber) noexcept {
  try {
    // A wait must not need memory: a fiber without room for its timer does not begin.
    timers_.make_room_for(living_.load(std::memory_order_relaxed));
    fiber.coroutine_.emplace(
        stacks_.take(), [](void* self) noexcept { static_cast<Fiber*>(self)->run_body(); }, &fiber);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Reactor::go_without_stack(Fiber& fiber) noexcept {
  if (!fiber.refused_) return add_ready(fiber);
  fiber.refused_();
  fiber.body_ = nullptr;
  fiber.refused_ = nullptr;
  forget(fiber);
}

void Reactor::run_one(Fiber& fiber) noexcept {
  if (!fiber.coroutine_ && !give_stack(fiber)) return go_without_stack(fiber);
  turns_alone_ = &fiber == ran_last_ ? turns_alone_ + 1 : 0;
  ran_last_ = &fiber;
  const TimePoint start = std::chrono::steady_clock::now();
  begin_turn(start);
  turn_begin_.store(start.time_since_epoch().count(), std::memory_order_relaxed);
  running_ = &fiber;
  fiber.coroutine_->resume();
  running_ = nullptr;
  turn_begin_.store(kNoTurn, std::memory_order_relaxed);
  INVARIANT_SLOW(latches_held == 0);
  const Duration turn = std::chrono::steady_clock::now() - start;
  if (turn > kLongestTurn) [[unlikely]]
    note_turn(fiber, turn);
  if (fiber.coroutine_->finished()) finish(fiber);
}

void Reactor::note_turn(const Fiber& fiber, Duration turn) noexcept {
  long_turns_.fetch_add(1, std::memory_order_relaxed);
  if (turn.count() > longest_turn_.load(std::memory_order_relaxed))
    longest_turn_.store(turn.count(), std::memory_order_relaxed);
  if (turn <= kStall) return;
  stall_count_.fetch_add(1, std::memory_order_relaxed);
  stall_time_.fetch_add(turn.count(), std::memory_order_relaxed);
  if (fiber.stall_listener != nullptr) fiber.stall_listener->stalled(turn);
}

Stalls Reactor::stalls() const noexcept {
  return {stall_count_.load(std::memory_order_relaxed),
          Duration{stall_time_.load(std::memory_order_relaxed)},
          long_turns_.load(std::memory_order_relaxed),
          Duration{longest_turn_.load(std::memory_order_relaxed)}};
}

std::optional<TimePoint> Reactor::turn_begin() const noexcept {
  const Duration::rep begin = turn_begin_.load(std::memory_order_relaxed);
  if (begin == kNoTurn) return std::nullopt;
  return TimePoint{Duration{begin}};
}

void Reactor::signal(int number) noexcept {
  ::pthread_kill(thread_.native_handle(), number);
}

void Reactor::finish(Fiber& fiber) noexcept {
  const FiberStack stack = fiber.coroutine_->stack();
  fiber.coroutine_.reset();
  stacks_.give_back(stack);
  forget(fiber);
}

void Reactor::forget(Fiber& fiber) noexcept {
  Fiber::recycle(fiber);
  living_.fetch_sub(1, std::memory_order_release);
}

bool Reactor::fire_timers() noexcept {
  if (timers_.empty()) return false;
  bool fired = false;
  const TimePoint now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.first().deadline <= now) {
    Fiber& fiber = timers_.first();
    timers_.remove(fiber);
    std::uint32_t expected = Fiber::parked;
    // Otherwise a waker was faster: the fiber is in a queue already.
    if (fiber.state_.compare_exchange_strong(expected, Fiber::awake, std::memory_order_relaxed)) {
      add_ready(fiber);
      fired = true;
    }
  }
  return fired;
}

// ---- Files

void Reactor::submit(int descriptor, std::span<IoRequest* const> requests) noexcept {
  for (IoRequest* request : requests) {
    begin_transfer(descriptor, *request);
    waiting_requests_.push(*request);
  }
  start_waiting_requests();
  if (requests.size() >= kLongestGathering) uring_->flush();
}

void Reactor::start_waiting_requests() noexcept {
  while (!waiting_requests_.empty() && requests_under_way_ < uring_->capacity()) {
    uring_->start(waiting_requests_.pop());
    ++requests_under_way_;
  }
}

bool Reactor::serve_uring() noexcept {
  if (requests_under_way_ == 0) return false;
  turns_since_submit_ = 0;
  uring_->flush_and_poll();
  std::array<Uring::Completion, 64> room{};
  const auto completions = uring_->reap(room);
  for (const auto& [request, result] : completions) {
    if (advance_transfer(*request, result) == IoProgress::again) {
      uring_->start(*request);
    } else {
      --requests_under_way_;
      request->done(*request);
    }
  }
  if (completions.empty()) return false;
  start_waiting_requests();
  return true;
}

// ---- Waiting

bool Reactor::poll_descriptors() noexcept {
  turns_since_poll_ = 0;
  return poller_.poll();
}

void Reactor::wait_for_work() noexcept {
  if (settings_.longest_spin == Duration{}) return sleep();
  const TimePoint start = std::chrono::steady_clock::now();
  if (!may_spin() || !spin(start)) sleep();
  const Duration waited = std::chrono::steady_clock::now() - start;
  usual_wait_ = (usual_wait_ * 7 + waited) / 8;
}

/// Spinning pays only for a fiber that is alone on its reactor, while work usually comes soon and
/// no other process wants the processor. Now and then spins anyway, to notice a change.
bool Reactor::may_spin() noexcept {
  constexpr unsigned kRetrial = 16;
  constexpr unsigned kAlone = 16;
  if (turns_alone_ < kAlone) return false;
  if (waits_without_spin_ != 0) {
    --waits_without_spin_;
    return false;
  }
  return usual_wait_ < settings_.longest_spin || ++waits_ % kRetrial == 0;
}

/// Polls until there is work, which it returns, or for so long that sleeping is cheaper.
bool Reactor::spin(TimePoint start) noexcept {
  constexpr Duration kNobodyElseRan = std::chrono::microseconds{4};
  constexpr unsigned kLongestPenalty = 1024;
  for (;;) {
    const bool found = drain_inbox() || serve_uring() || fire_timers() || poll_descriptors();
    if (found) {
      next_penalty_ = std::max(next_penalty_ / 2, 1U);
      return true;
    }
    const TimePoint before = std::chrono::steady_clock::now();
    if (before - start >= settings_.longest_spin) return false;
    // Yields the processor to another process that waits for it. The duration of the call tells if
    // there was one.
    ::sched_yield();
    if (std::chrono::steady_clock::now() - before >= kNobodyElseRan) {
      waits_without_spin_ = next_penalty_;
      next_penalty_ = std::min(next_penalty_ * 2, kLongestPenalty);
      return false;
    }
  }
}

void Reactor::sleep() noexcept {
  const bool expects_completions = uring_ != nullptr && requests_under_way_ != 0;
  if (expects_completions) uring_->set_announcing(Uring::Announce::on);
  // Sequentially consistent: see make_ready.
  sleeping_.store(true, std::memory_order_seq_cst);
  // Finds work that was finished before announcements were switched on.
  const bool idle = inbox_.load(std::memory_order_seq_cst) == nullptr && ready_count() == 0 &&
                    !(expects_completions && uring_->has_finished());
  if (idle) {
    turns_since_poll_ = 0;
    poller_.wait(timers_.empty() ? std::nullopt : std::optional{timers_.first().deadline});
  }
  sleeping_.store(false, std::memory_order_seq_cst);
  if (expects_completions) uring_->set_announcing(Uring::Announce::off);
}

}  // namespace swizzle

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "base/fibers/fiber.h"
#include "base/fibers/poller.h"
#include "base/io/io_backend.h"
#include "base/io/io_transfer.h"
#include "base/io/uring.h"

namespace swizzle {

class FiberRuntime;

/// One thread that runs fibers, with an epoll instance and an io_uring of its own.
///
/// A wake from another thread goes through the inbox, a lock-free list; only if the reactor may be
/// asleep is the event descriptor written as well. The io_uring announces its completions there
/// too, while the reactor sleeps.
class Reactor final : public IoBackend {
 public:
  struct Settings {
    std::size_t stack_bytes;
    Duration longest_spin;
    IoEngine io_engine;
  };

  Reactor(FiberRuntime& runtime, std::size_t number, Settings settings);
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;
  /// Waits until every fiber has ended.
  ~Reactor() override;

  /// Returns the reactor of the calling thread, or null.
  static Reactor* current() noexcept;
  /// Returns null on the reactor's own stack.
  [[nodiscard]] Fiber* running_fiber() const noexcept { return running_; }
  /// For code on the reactor's thread.
  [[nodiscard]] Poller& poller() noexcept { return poller_; }
  [[nodiscard]] bool has_uring() const noexcept { return uring_ != nullptr; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  /// A longer turn is counted; one longer than kStall is a stall. From any thread.
  static constexpr Duration kLongestTurn = std::chrono::milliseconds{2};
  static constexpr Duration kStall = std::chrono::milliseconds{20};
  [[nodiscard]] Stalls stalls() const noexcept;
  /// Returns the begin of the present turn; nothing between turns. From any thread.
  [[nodiscard]] std::optional<TimePoint> turn_begin() const noexcept;
  /// Sends a signal to the reactor's thread.
  void signal(int number) noexcept;
  /// For code on the reactor's thread: the number of fibers that are ready.
  [[nodiscard]] std::size_t ready_count() const noexcept { return ready_.size() + ahead_.size(); }

  /// From any thread. The fiber is new, or was parked and its state changed to notified.
  void make_ready(Fiber& fiber) noexcept;
  /// From any thread: announces one more fiber that will end here.
  void expect(Fiber& fiber) noexcept;

  // For the running fiber.
  void suspend() noexcept;
  void suspend_until(TimePoint deadline) noexcept;
  void go_to_the_end_of_the_queue() noexcept;
  void release_unused_stack() noexcept;

  /// As File::submit, for the running fiber or a Poller::Listener.
  void submit(int descriptor, std::span<IoRequest* const> requests) noexcept override;
  [[nodiscard]] std::string_view name() const noexcept override { return "io_uring"; }

 private:
  void run() noexcept;
  bool take_turn() noexcept;
  void add_ready(Fiber& fiber) noexcept;
  Fiber& next_ready() noexcept;
  bool run_ready_fibers() noexcept;
  void run_one(Fiber& fiber) noexcept;
  /// False if the system has no memory for the fiber's stack.
  bool give_stack(Fiber& fiber) noexcept;
  void go_without_stack(Fiber& fiber) noexcept;
  void forget(Fiber& fiber) noexcept;
  void note_turn(const Fiber& fiber, Duration turn) noexcept;
  bool drain_inbox() noexcept;
  bool fire_timers() noexcept;
  bool serve_uring() noexcept;
  void start_waiting_requests() noexcept;
  bool poll_descriptors() noexcept;
  void wait_for_work() noexcept;
  bool may_spin() noexcept;
  bool spin(TimePoint start) noexcept;
  void sleep() noexcept;
  void finish(Fiber& fiber) noexcept;

  FiberRuntime& runtime_;
  std::size_t number_;
  Settings settings_;

  // Written by other threads.
  alignas(64) std::atomic<Fiber*> inbox_{nullptr};
  std::atomic<bool> sleeping_{false};
  std::atomic<std::size_t> living_{0};
  std::atomic<bool> stopping_{false};
  /// Threads that are about to release a fiber in make_ready().
  std::atomic<std::size_t> wakers_{0};

  // Written by the reactor's thread, read by others.
  std::atomic<std::uint64_t> long_turns_{0};
  std::atomic<Duration::rep> longest_turn_{0};
  std::atomic<std::uint64_t> stall_count_{0};
  std::atomic<Duration::rep> stall_time_{0};
  static constexpr Duration::rep kNoTurn = 0;
  std::atomic<Duration::rep> turn_begin_{kNoTurn};

  // The following belong to the reactor's thread alone.
  alignas(64) FiberQueue ready_;
  /// Those whose WakeupPriority is ahead.
  FiberQueue ahead_;
  unsigned ran_ahead_ = 0;
  Fiber* running_ = nullptr;
  TimerHeap<Fiber> timers_;
  StackPool stacks_;
  std::unique_ptr<Uring> uring_;
  IoQueue waiting_requests_;
  unsigned requests_under_way_ = 0;
  unsigned turns_since_submit_ = 0;
  unsigned turns_since_poll_ = 0;
  /// How long the last waits for work took, roughly.
  Duration usual_wait_{};
  /// The fiber that ran last, and the number of turns that it has had in a row: spinning pays only
  /// for a fiber that is alone. The pointer is only compared.
  const Fiber* ran_last_ = nullptr;
  unsigned turns_alone_ = 0;
  unsigned waits_ = 0;
  /// Number of waits without spinning, set when another process wanted the processor while we spun;
  /// it grows each time.
  unsigned waits_without_spin_ = 0;
  unsigned next_penalty_ = 1;

  /// Written to end a sleep; the reason is in the inbox or the io_uring.
  struct WakeDescriptor final : Poller::Listener {
    WakeDescriptor();
    ~WakeDescriptor() override;
    void changed(std::uint32_t) noexcept override {}
    void ring() const noexcept;
    int descriptor;
  };
  Poller poller_;
  WakeDescriptor wake_;
  std::thread thread_;
};

}  // namespace swizzle

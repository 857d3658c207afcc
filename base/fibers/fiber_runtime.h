#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/io/io_backend.h"
#include "base/runtime/runtime.h"
#include "base/runtime/stack_pool.h"

namespace swizzle {

class Fiber;
class FiberEnd;
class Reactor;

/// Stackful fibers, each pinned for life to one of some reactor threads. A reactor runs its fibers
/// in turn and, between them, one epoll instance (descriptor_watch.h) and one io_uring.
///
/// park() switches to the next ready fiber; file transfers of a fiber go through its reactor's
/// io_uring, in batches, or through the file system's own threads where io_uring is refused.
class FiberRuntime final : public Runtime {
 public:
  struct Options {
    /// 0: one per processor.
    std::size_t reactors = 0;
    std::size_t stack_bytes = FiberStack::kDefaultBytes;
    /// How long a reactor without work polls before it sleeps. It polls only while one fiber is
    /// alone on it, recent waits were that short, and no other process wants its processor. 0:
    /// never.
    Duration longest_spin = {};
    IoEngine io_engine = IoEngine::automatic;
  };

  explicit FiberRuntime(Options options);
  FiberRuntime(const FiberRuntime&) = delete;
  FiberRuntime& operator=(const FiberRuntime&) = delete;
  /// Waits until every fiber has ended. Pre: not on a reactor.
  ~FiberRuntime() override;

  [[nodiscard]] std::size_t reactor_count() const noexcept { return reactors_.size(); }
  /// The number of the reactor that runs the caller. Pre: on a reactor.
  [[nodiscard]] std::size_t this_reactor() const noexcept;

  /// Assigns reactors in turn. An exception that leaves `body` terminates the process. May be
  /// called from any thread.
  std::unique_ptr<Task> spawn(std::string name, std::function<void()> body) override;
  std::unique_ptr<Task> spawn_on(std::size_t reactor, std::string name, std::function<void()> body);
  /// Starts a fiber that cannot be joined; the runtime's destructor waits for it. If the system has
  /// no memory for its stack, `refused` is called in place of `body`, on the reactor's own stack:
  /// it must neither park nor throw. Other fibers are tried again until there is memory.
  void spawn_detached(std::size_t reactor, std::string name, std::function<void()> body,
                      std::function<void()> refused = {});
  /// Returns one reactor's stalls since it began. From any thread.
  [[nodiscard]] Stalls stalls_of(std::size_t reactor) const noexcept;
  /// Returns the begin of a reactor's present turn; nothing between turns. From any thread.
  [[nodiscard]] std::optional<TimePoint> turn_begin(std::size_t reactor) const noexcept;
  /// Sends a signal to a reactor's thread.
  void signal(std::size_t reactor, int number) const noexcept;
  /// The next reactor in turn.
  [[nodiscard]] std::size_t next_reactor() noexcept;

  /// Gives the memory below the caller's frame back to the system; worth it before a long idle
  /// wait, after deep calls. Pre: in a fiber.
  void release_unused_stack() noexcept;

  void run_aside(const std::function<void()>& work) override;
  void run_abandonable(std::function<void()> work) override;

  Parker& parker() noexcept override;
  TimePoint now() noexcept override;
  std::int64_t wall_clock_us() noexcept override;
  std::uint64_t random() noexcept override;
  void yield() noexcept override;
  void relax() noexcept override;
  std::size_t others_ready() noexcept override;
  IoBackend* io_backend() noexcept override;

 private:
  void start(std::size_t reactor, Fiber& fiber) noexcept;

  std::vector<std::unique_ptr<Reactor>> reactors_;
  std::atomic<std::size_t> next_reactor_{0};
};

}  // namespace swizzle

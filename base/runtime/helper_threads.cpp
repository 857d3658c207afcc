#include "base/runtime/helper_threads.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/runtime/stack_pool.h"

namespace swizzle {
namespace {

/// Interval at which a caller re-checks its overseer: a cancelled wait is not signalled.
constexpr Duration kBetweenLooks = std::chrono::milliseconds{10};

/// As deep as a fiber's stack: long texts, which are read here, may nest as deep as short ones.
constexpr std::size_t kStackBytes = FiberStack::kDefaultBytes;

void start_detached(std::function<void()> body) {
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const auto run = [](void* given) -> void* {
    const std::unique_ptr<std::function<void()>> whole{static_cast<std::function<void()>*>(given)};
    (*whole)();
    return nullptr;
  };
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, run, owned.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error{error, std::generic_category()};
  static_cast<void>(owned.release());
}

/// State shared by one piece of work and its caller.
struct Outcome {
  std::atomic<bool> is_done{false};
  std::exception_ptr failure;

  void record(const std::function<void()>& work) noexcept {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  /// Signals the end of the work. The caller may be gone as soon as it sees the flag, so it is not
  /// accessed afterwards.
  void announce() noexcept {
    // Release: publishes the failure and whatever the work wrote.
    is_done.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool done() const noexcept { return is_done.load(std::memory_order_acquire); }
};

/// A thread whose work cannot be ended. Once the caller has left, it runs with the lowest priority.
class Worker {
 public:
  void begin() {
    const std::lock_guard lock{mutex_};
    thread_ = ::gettid();
    if (is_alone_) give_way();
  }
  void end() {
    const std::lock_guard lock{mutex_};
    thread_ = 0;
  }
  void leave_alone() {
    const std::lock_guard lock{mutex_};
    is_alone_ = true;
    if (thread_ != 0) give_way();
  }

 private:
  void give_way() const { ::setpriority(PRIO_PROCESS, static_cast<id_t>(thread_), 19); }

  std::mutex mutex_;
  pid_t thread_ = 0;
  bool is_alone_ = false;
};

}  // namespace

HelperThreads& HelperThreads::of_the_process() {
  static HelperThreads& helpers = *new HelperThreads;
  return helpers;
}

void HelperThreads::run_for(Parker& caller, const std::function<void()>& work) {
  Outcome outcome;
  enqueue([&outcome, &caller, &work] {
    {
      std::optional<OversightScope> scope;
      if (caller.overseer != nullptr) scope.emplace(*caller.overseer);
      outcome.record(work);
    }
    outcome.announce();
    // A parker outlives its fiber; at worst this is a spurious wake.
    caller.unpark();
  });
  while (!outcome.done()) caller.park();
  if (outcome.failure) std::rethrow_exception(std::move(outcome.failure));
}

void HelperThreads::run_abandonable_for(Parker& caller, std::function<void()> work) {
  const auto wait_a_while = [&caller] {
    caller.park_until(std::chrono::steady_clock::now() + kBetweenLooks);
    if (caller.overseer != nullptr) caller.overseer->look();
  };
  while (!begin_abandonable()) wait_a_while();
  const auto outcome = std::make_shared<Outcome>();
  const auto worker = std::make_shared<Worker>();
  try {
    start_detached([this, outcome, worker, &caller, work = std::move(work)]() mutable {
      pthread_setname_np(pthread_self(), "helper");
      worker->begin();
      outcome->record(work);
      work = nullptr;
      worker->end();
      end_abandonable();
      outcome->announce();
      caller.unpark();
    });
  } catch (const std::system_error&) {
    end_abandonable();
    throw std::bad_alloc{};
  }
  struct Leaving {
    Worker& worker;
    ~Leaving() { worker.leave_alone(); }
  } const leaving{*worker};
  while (!outcome->done()) wait_a_while();
  if (outcome->failure) std::rethrow_exception(std::move(outcome->failure));
}

bool HelperThreads::begin_abandonable() {
  const std::lock_guard lock{mutex_};
  if (abandonable_ == kMostAbandonable) return false;
  ++abandonable_;
  return true;
}

void HelperThreads::end_abandonable() {
  const std::lock_guard lock{mutex_};
  --abandonable_;
}

void HelperThreads::enqueue(std::function<void()> job) {
  const std::lock_guard lock{mutex_};
  jobs_.push_back(std::move(job));
  if (idle_ >= jobs_.size() || threads_ == kMostThreads) return changed_.notify_one();
  try {
    start_detached([this] { serve(); });
    ++threads_;
  } catch (const std::system_error&) {
    // Existing threads do the work, if there are any.
    if (threads_ != 0) return;
    jobs_.pop_back();
    throw std::bad_alloc{};
  }
}

void HelperThreads::serve() noexcept {
  pthread_setname_np(pthread_self(), "helper");
  std::unique_lock lock{mutex_};
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return !jobs_.empty(); });
    --idle_;
    const std::function<void()> job = std::exchange(jobs_.front(), {});
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace swizzle

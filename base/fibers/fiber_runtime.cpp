#include "base/fibers/fiber_runtime.h"

#include <algorithm>
#include <utility>

#include "base/fibers/fiber.h"
#include "base/fibers/reactor.h"
#include "base/runtime/helper_threads.h"
#include "base/runtime/latch_count.h"
#include "base/runtime/park_rules.h"
#include "base/runtime/thread_runtime.h"

namespace swizzle {
namespace {

class FiberTask final : public Task {
 public:
  explicit FiberTask(std::shared_ptr<FiberEnd> end) noexcept : end_(std::move(end)) {}
  ~FiberTask() override { end_->wait(); }
  void join() noexcept override { end_->wait(); }

 private:
  std::shared_ptr<FiberEnd> end_;
};

}  // namespace

FiberRuntime::FiberRuntime(Options options) {
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = options.reactors == 0 ? processors : options.reactors;
  const Reactor::Settings settings{options.stack_bytes, options.longest_spin,
                                   resolve(options.io_engine)};
  for (std::size_t number = 0; number < count; ++number) {
    reactors_.push_back(std::make_unique<Reactor>(*this, number, settings));
  }
}

FiberRuntime::~FiberRuntime() {
  INVARIANT(Reactor::current() == nullptr);
  reactors_.clear();
}

std::size_t FiberRuntime::this_reactor() const noexcept {
  INVARIANT(Reactor::current() != nullptr);
  return Reactor::current()->number();
}

Stalls FiberRuntime::stalls_of(std::size_t reactor) const noexcept {
  return reactors_[reactor]->stalls();
}

std::optional<TimePoint> FiberRuntime::turn_begin(std::size_t reactor) const noexcept {
  return reactors_[reactor]->turn_begin();
}

void FiberRuntime::signal(std::size_t reactor, int number) const noexcept {
  reactors_[reactor]->signal(number);
}

std::size_t FiberRuntime::next_reactor() noexcept {
  return next_reactor_.fetch_add(1, std::memory_order_relaxed) % reactors_.size();
}

void FiberRuntime::start(std::size_t reactor, Fiber& fiber) noexcept {
  // Discard a wake-up that was meant for an earlier fiber.
  fiber.state_.store(Fiber::awake, std::memory_order_relaxed);
  fiber.wakeup_priority_ = WakeupPriority::normal;
  reactors_[reactor]->expect(fiber);
  reactors_[reactor]->make_ready(fiber);
}

std::unique_ptr<Task> FiberRuntime::spawn(std::string name, std::function<void()> body) {
  return spawn_on(next_reactor(), std::move(name), std::move(body));
}

std::unique_ptr<Task> FiberRuntime::spawn_on(std::size_t reactor, std::string name,
                                             std::function<void()> body) {
  auto end = std::make_shared<FiberEnd>();
  auto task = std::make_unique<FiberTask>(end);
  Fiber& fiber = Fiber::make();
  fiber.name_ = std::move(name);
  fiber.body_ = std::move(body);
  fiber.end_ = std::move(end);
  start(reactor, fiber);
  return task;
}

void FiberRuntime::spawn_detached(std::size_t reactor, std::string name, std::function<void()> body,
                                  std::function<void()> refused) {
  Fiber& fiber = Fiber::make();
  fiber.name_ = std::move(name);
  fiber.body_ = std::move(body);
  fiber.refused_ = std::move(refused);
  start(reactor, fiber);
}

void FiberRuntime::release_unused_stack() noexcept {
  INVARIANT(Reactor::current() != nullptr && Reactor::current()->running_fiber() != nullptr);
  Reactor::current()->release_unused_stack();
}

namespace {

bool is_in_a_fiber() noexcept {
  const Reactor* reactor = Reactor::current();
  return reactor != nullptr && reactor->running_fiber() != nullptr;
}

}  // namespace

void FiberRuntime::run_aside(const std::function<void()>& work) {
  if (!is_in_a_fiber() || !may_park()) return work();
  HelperThreads::of_the_process().run_for(parker(), work);
}

void FiberRuntime::run_abandonable(std::function<void()> work) {
  if (!is_in_a_fiber() || !may_park()) return work();
  HelperThreads::of_the_process().run_abandonable_for(parker(), std::move(work));
}

Parker& FiberRuntime::parker() noexcept {
  Reactor* reactor = Reactor::current();
  INVARIANT(reactor != nullptr && reactor->running_fiber() != nullptr);
  return *reactor->running_fiber();
}

TimePoint FiberRuntime::now() noexcept {
  return std::chrono::steady_clock::now();
}

std::int64_t FiberRuntime::wall_clock_us() noexcept {
  return ThreadRuntime::of_the_process().wall_clock_us();
}

std::uint64_t FiberRuntime::random() noexcept {
  return ThreadRuntime::of_the_process().random();
}

void FiberRuntime::yield() noexcept {
  assert_no_latch_held();
  if (is_in_a_fiber()) Reactor::current()->go_to_the_end_of_the_queue();
}

void FiberRuntime::relax() noexcept {
  ThreadRuntime::of_the_process().relax();
}

std::size_t FiberRuntime::others_ready() noexcept {
  return is_in_a_fiber() ? Reactor::current()->ready_count() : 0;
}

IoBackend* FiberRuntime::io_backend() noexcept {
  Reactor* reactor = Reactor::current();
  return reactor != nullptr && reactor->has_uring() ? reactor : nullptr;
}

}  // namespace swizzle

#include "base/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/io/io_backend.h"
#include "base/runtime/coroutine.h"
#include "base/runtime/latch_count.h"
#include "base/runtime/park_rules.h"
#include "base/runtime/stack_trace.h"
#include "base/runtime/watchdog.h"

namespace swizzle {
namespace {

thread_local Simulation* running_simulation = nullptr;

// Virtual time starts late enough that a deadline some hours ago is still a valid time.
constexpr Duration kStart = std::chrono::hours{24 * 365};
// 2026-01-01 00:00:00 UTC.
constexpr std::int64_t kWallClockStartUs = 1'767'225'600'000'000;

// Frames that are in every task's stack and so tell nothing.
bool is_machinery(std::string_view frame) noexcept {
  constexpr std::array<std::string_view, 6> kOurs{
      "swizzle::stack_trace",  "swizzle::Simulation::",  "swizzle::Coroutine::",
      "void boost::context::", "std::function<void ()>", "??"};
  return std::ranges::any_of(kOurs, [&](auto prefix) { return frame.starts_with(prefix); });
}

}  // namespace

class Simulation::SimulatedTask final : public Parker {
 public:
  enum class State : std::uint8_t { ready, running, parked, finished };

  SimulatedTask(Simulation& simulation, std::size_t number, std::string name,
                std::function<void()> body)
      : simulation_(simulation),
        number_(number),
        name_(std::move(name)),
        body_(std::move(body)),
        priority_(simulation.choices_()),
        since_(simulation.now_),
        coroutine_(
            simulation.stacks_.take(),
            [](void* task) noexcept { static_cast<SimulatedTask*>(task)->run_body(); }, this) {}

  void park() noexcept override { wait(std::nullopt); }
  bool park_until(TimePoint deadline) noexcept override { return wait(deadline); }
  void unpark() noexcept override;

  [[nodiscard]] std::string describe() const;
  [[nodiscard]] bool finished() const noexcept { return state_ == State::finished; }

 private:
  friend class Simulation;

  void run_body() noexcept;
  bool wait(std::optional<TimePoint> deadline) noexcept;
  bool sleep(std::optional<TimePoint> deadline) noexcept;

  Simulation& simulation_;
  std::size_t number_;
  std::string name_;
  std::function<void()> body_;
  std::uint64_t priority_;
  State state_ = State::ready;
  bool started_ = false;
  bool notified_ = false;
  bool spinning_ = false;
  TimePoint since_;
  std::optional<Timers::iterator> timer_;
  std::uint64_t spins_ = 0;
  int latches_held_ = 0;
  std::vector<SimulatedTask*> joiners_;
  std::vector<void*> stack_;
  Coroutine coroutine_;
};

class Simulation::Handle final : public Task {
 public:
  explicit Handle(std::shared_ptr<SimulatedTask> task) noexcept : task_(std::move(task)) {}
  ~Handle() override { wait(); }
  void join() noexcept override { wait(); }

 private:
  void wait() noexcept {
    if (!task_->finished()) task_->simulation_.wait_until_finished(*task_);
  }
  std::shared_ptr<SimulatedTask> task_;
};

void Simulation::SimulatedTask::run_body() noexcept {
  started_ = true;
  try {
    body_();
  } catch (...) {
    simulation_.failure_ = std::current_exception();
  }
  body_ = nullptr;
  state_ = State::finished;
  --simulation_.unfinished_;
  for (SimulatedTask* joiner : joiners_) joiner->unpark();
}

void Simulation::SimulatedTask::unpark() noexcept {
  INVARIANT(std::this_thread::get_id() == simulation_.thread_);
  if (notified_ || state_ == State::finished) return;
  notified_ = true;
  if (state_ == State::parked) simulation_.make_ready(*this);
}

bool Simulation::SimulatedTask::wait(std::optional<TimePoint> deadline) noexcept {
  assert_may_park();
  INVARIANT(simulation_.current_ == this);
  spins_ = 0;
  const std::uint64_t odds = simulation_.options_.spurious_odds;
  if (!notified_ && odds != 0 && simulation_.choices_.one_in(odds)) notified_ = true;
  return sleep(deadline);
}

bool Simulation::SimulatedTask::sleep(std::optional<TimePoint> deadline) noexcept {
  if (notified_ || (deadline && *deadline <= simulation_.now_)) {
    simulation_.make_ready(*this);
  } else {
    state_ = State::parked;
    since_ = simulation_.now_;
    if (deadline) timer_ = simulation_.timers_.emplace(*deadline, Timer{this, nullptr});
  }
  simulation_.switch_away();
  return std::exchange(notified_, false);
}

std::string Simulation::SimulatedTask::describe() const {
  const auto ago = std::chrono::duration<double, std::milli>{simulation_.now_ - since_}.count();
  std::string text = fmt::format("  task {} \"{}\": ", number_, name_);
  switch (state_) {
    case State::parked:
      text += fmt::format("parked since {:.3f} ms", ago);
      if (timer_) {
        const auto left =
            std::chrono::duration<double, std::milli>{(*timer_)->first - simulation_.now_};
        text += fmt::format(", deadline in {:.3f} ms", left.count());
      } else {
        text += ", no deadline";
      }
      break;
    case State::ready:
    case State::running:
      text += spinning_ ? fmt::format("spinning ({} times)", spins_) : "can run";
      break;
    case State::finished:
      text += "finished";
      break;
  }
  if (latches_held_ != 0) text += fmt::format(", holds {} latches", latches_held_);
  return text;
}

Simulation::Simulation(Options options)
    : options_(options),
      order_(options.order),
      choices_(options.seed),
      values_(choices_.split()),
      stacks_(options.stack_bytes),
      started_(kStart),
      now_(kStart),
      thread_(std::this_thread::get_id()) {
  if (order_ != Order::by_seed) return;
  constexpr std::array kOrders{Order::uniform, Order::sticky, Order::priorities};
  order_ = kOrders[choices_.below(kOrders.size())];
}

Simulation::~Simulation() {
  INVARIANT(running_simulation != this);
  detail::failing_seed = 0;
}

Simulation* Simulation::running() noexcept {
  return running_simulation;
}

Simulation::Outcome Simulation::run(std::function<void()> body) {
  INVARIANT(running_simulation == nullptr && !over_);
  INVARIANT(std::this_thread::get_id() == thread_);
  const RuntimeScope scope{*this};
  detail::failing_seed = options_.seed;
  running_simulation = this;
  start("main", std::move(body));
  {
    std::optional<Watchdog> watchdog;
    if (options_.longest_turn.count() != 0) {
      watchdog.emplace(switches_, options_.longest_turn, [this] { return describe_blocked(); });
    }
    loop();
  }
  if (!stuck_.empty()) stuck_ += stacks_of_tasks();
  over_ = stopped_ || failure_ != nullptr || !stuck_.empty();
  if (over_) abandon_all();
  running_simulation = nullptr;
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (!stuck_.empty()) throw SimulationStuck{stuck_};
  return stopped_ ? Outcome::stopped : Outcome::finished;
}

void Simulation::loop() {
  while (!stopped_ && failure_ == nullptr && stuck_.empty()) {
    run_due_timers();
    if (!ready_.empty()) {
      run_for_one_turn(choose());
    } else if (!timers_.empty()) {
      now_ = std::max(now_, timers_.begin()->first);
    } else if (unfinished_ != 0) {
      give_up("every task is parked without a deadline, and nothing is under way");
    } else {
      return;
    }
    if (switches() > options_.most_switches) give_up("too many switches");
    if (now_ - started_ > options_.longest) give_up("too much virtual time has passed");
  }
}

void Simulation::run_due_timers() {
  while (!timers_.empty() && timers_.begin()->first <= now_ && !stopped_) {
    auto node = timers_.extract(timers_.begin());
    Timer& timer = node.mapped();
    if (timer.task != nullptr) {
      timer.task->timer_.reset();
      make_ready(*timer.task);
    } else {
      timer.event();
    }
  }
}

Simulation::SimulatedTask& Simulation::choose() {
  const bool can_go_on = previous_ != nullptr && previous_->state_ == SimulatedTask::State::ready;
  constexpr std::uint64_t kStickiness = 16;
  if (order_ == Order::sticky && can_go_on && !choices_.one_in(kStickiness)) return *previous_;
  if (order_ == Order::priorities) return by_priority();
  return *ready_[choices_.below(ready_.size())];
}

Simulation::SimulatedTask& Simulation::by_priority() noexcept {
  constexpr std::uint64_t kRoleChange = 100;
  constexpr std::uint64_t kFairTurn = 32;
  if (choices_.one_in(kFairTurn)) return *ready_[choices_.below(ready_.size())];
  if (choices_.one_in(kRoleChange)) {
    ready_[choices_.below(ready_.size())]->priority_ = choices_();
  }
  return **std::ranges::max_element(ready_, {}, [](const SimulatedTask* task) {
    return std::pair{task->priority_, task->number_};
  });
}

void Simulation::run_for_one_turn(SimulatedTask& task) {
  std::erase(ready_, &task);
  switches_.store(switches() + 1, std::memory_order_relaxed);
  fingerprint_ = (fingerprint_ ^ task.number_ ^ choices_()) * 0x100000001B3U;
  constexpr std::uint64_t kShortestTurn = 20;
  constexpr std::uint64_t kLongestTurn = 500;
  now_ += Duration{choices_.between(kShortestTurn, kLongestTurn)};

  task.state_ = SimulatedTask::State::running;
  task.spinning_ = false;
  current_ = &task;
  const int latches = std::exchange(latches_held, task.latches_held_);
  task.coroutine_.resume();
  task.latches_held_ = std::exchange(latches_held, latches);
  current_ = nullptr;
  previous_ = &task;
  if (task.finished()) stacks_.give_back(task.coroutine_.stack());
}

void Simulation::make_ready(SimulatedTask& task) {
  if (task.timer_) timers_.erase(*std::exchange(task.timer_, std::nullopt));
  task.state_ = SimulatedTask::State::ready;
  ready_.push_back(&task);
}

void Simulation::switch_away() noexcept {
  SimulatedTask& task = *current_;
  task.coroutine_.suspend();
  while (tracing_stacks_) {
    task.stack_ = stack_trace();
    task.coroutine_.suspend();
  }
}

void Simulation::spin_once() noexcept {
  if (current_ == nullptr) return;
  SimulatedTask& task = *current_;
  task.spinning_ = true;
  if (++task.spins_ > options_.most_spins) {
    give_up(fmt::format("task \"{}\" spins without end", task.name_));
  }
  // A task that spins yields to all others, or it would spin for ever.
  if (order_ == Order::priorities) task.priority_ >>= 1U;
  make_ready(task);
  switch_away();
}

void Simulation::yield() noexcept {
  spin_once();
}
void Simulation::relax() noexcept {
  spin_once();
}

Parker& Simulation::parker() noexcept {
  INVARIANT(current_ != nullptr);
  return *current_;
}

std::int64_t Simulation::wall_clock_us() noexcept {
  const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now_ - started_);
  return kWallClockStartUs + passed.count();
}

IoBackend* Simulation::io_backend() noexcept {
  return &blocking_backend();
}

std::shared_ptr<Simulation::SimulatedTask> Simulation::start(std::string name,
                                                             std::function<void()> body) {
  auto task =
      std::make_shared<SimulatedTask>(*this, tasks_.size(), std::move(name), std::move(body));
  tasks_.push_back(task);
  ++unfinished_;
  ready_.push_back(task.get());
  return task;
}

std::unique_ptr<Task> Simulation::spawn(std::string name, std::function<void()> body) {
  INVARIANT(running_simulation == this);
  return std::make_unique<Handle>(start(std::move(name), std::move(body)));
}

void Simulation::call_at(TimePoint when, std::function<void()> event) {
  timers_.emplace(when, Timer{nullptr, std::move(event)});
}

void Simulation::wait_until_finished(SimulatedTask& task) noexcept {
  if (over_) return;
  INVARIANT(current_ != nullptr && current_ != &task);
  assert_no_latch_held();
  if (std::uncaught_exceptions() != 0) {
    // A failed test is being unwound. Its helper tasks may wait for it for ever.
    give_up(fmt::format("task \"{}\" ended with an exception while task \"{}\" was running",
                        current_->name_, task.name_));
    switch_away();
  }
  task.joiners_.push_back(current_);
  while (!task.finished()) current_->sleep(std::nullopt);
  std::erase(task.joiners_, current_);
}

void Simulation::stop() noexcept {
  stopped_ = true;
  if (current_ != nullptr) current_->coroutine_.suspend();
}

void Simulation::abandon_all() noexcept {
  for (const auto& task : tasks_) {
    if (!task->finished()) task->coroutine_.abandon();
  }
  ready_.clear();
  timers_.clear();
}

void Simulation::give_up(std::string why) noexcept {
  if (!stuck_.empty()) return;
  stuck_ = fmt::format("simulation with seed {} is stuck: {}\n", options_.seed, why);
}

std::string Simulation::describe_tasks() const {
  std::string text;
  for (const auto& task : tasks_) {
    if (!task->finished()) text += task->describe() + "\n";
  }
  return text;
}

std::string Simulation::describe_blocked() const {
  return fmt::format(
      "simulation with seed {}: task \"{}\" has not given way for {} ms; does it wait for "
      "something "
      "other than a Parker?\n{}",
      options_.seed, current_ == nullptr ? "(an event)" : current_->name_,
      options_.longest_turn.count(), describe_tasks());
}

std::string Simulation::stacks_of_tasks() {
  tracing_stacks_ = true;
  std::vector<std::vector<void*>> stacks;
  for (const auto& task : tasks_) {
    if (task->finished()) continue;
    // A task that never ran would begin to.
    if (task->started_) {
      current_ = task.get();
      task->coroutine_.resume();
      current_ = nullptr;
    }
    stacks.push_back(task->stack_);
  }
  tracing_stacks_ = false;
  const auto lines = describe_stack_traces(stacks);
  std::string text;
  auto line = lines.begin();
  for (const auto& task : tasks_) {
    if (task->finished()) continue;
    text += task->describe() + "\n";
    for (std::size_t i = 0; i < task->stack_.size(); ++i, ++line) {
      if (!is_machinery(*line)) text += "      " + *line + "\n";
    }
  }
  return text;
}

}  // namespace swizzle

#include "bench/load.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <deque>
#include <latch>
#include <thread>

namespace swizzle::bench {
namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds_of_this_process() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_between(Clock::time_point from, Clock::time_point to) noexcept {
  return std::chrono::duration<double>(to - from).count();
}

std::uint64_t sum(const std::deque<Worker>& workers) noexcept {
  std::uint64_t total = 0;
  for (const Worker& worker : workers) total += worker.operations();
  return total;
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::vector<double> watch(const Load& load, const std::deque<Worker>& workers,
                          Clock::time_point start) {
  std::vector<double> timeline;
  std::uint64_t before = sum(workers);
  Clock::time_point last = start;
  while (seconds_between(start, last) < load.seconds) {
    std::this_thread::sleep_until(last + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(load.tick_seconds)));
    const Clock::time_point now = Clock::now();
    const std::uint64_t after = sum(workers);
    timeline.push_back(static_cast<double>(after - before) / seconds_between(last, now));
    before = after;
    last = now;
  }
  return timeline;
}

}  // namespace

void pin_to_cpu(unsigned number) noexcept {
  const auto cpus = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(number % cpus, &set);
  // A container may forbid pinning; an unpinned thread still measures, less steadily.
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

namespace {

/// Counts from the end of the warm-up to the end of the load.
Measured observe(const Load& load, const std::deque<Worker>& workers, std::atomic<bool>& stop) {
  sleep_for(load.warm_up_seconds);
  Measured measured;
  const double cpu_before = cpu_seconds_of_this_process();
  const std::uint64_t before = sum(workers);
  const Clock::time_point start = Clock::now();
  if (load.tick_seconds > 0) {
    measured.timeline = watch(load, workers, start);
  } else {
    sleep_for(load.seconds);
  }
  measured.operations = sum(workers) - before;
  measured.seconds = seconds_between(start, Clock::now());
  measured.cpu_seconds = cpu_seconds_of_this_process() - cpu_before;
  stop.store(true, std::memory_order_relaxed);
  return measured;
}

}  // namespace

Measured measure(const Load& load, const std::function<void(Worker&)>& work) {
  std::atomic<bool> stop{false};
  std::deque<Worker> workers;
  for (unsigned i = 0; i < load.threads; ++i) workers.emplace_back(i, stop);
  std::vector<std::jthread> threads;
  for (Worker& worker : workers) {
    threads.emplace_back([&work, &worker] {
      pin_to_cpu(worker.number());
      work(worker);
    });
  }
  return observe(load, workers, stop);
}

Measured measure_fibers(Runtime& runtime, unsigned fibers, const Load& load,
                        const std::function<void(Worker&)>& work) {
  std::atomic<bool> stop{false};
  std::deque<Worker> workers;
  for (unsigned i = 0; i < fibers; ++i) workers.emplace_back(i, stop);
  std::vector<std::unique_ptr<Task>> tasks;
  for (Worker& worker : workers) {
    tasks.push_back(runtime.spawn("worker", [&work, &worker] { work(worker); }));
  }
  const Measured measured = observe(load, workers, stop);
  for (const auto& task : tasks) task->join();
  return measured;
}

Measured measure_once(unsigned thread_count, const std::function<void(Worker&)>& work) {
  std::atomic<bool> stop{false};
  std::deque<Worker> workers;
  std::latch start_together(static_cast<std::ptrdiff_t>(thread_count) + 1);
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < thread_count; ++i) {
    Worker& worker = workers.emplace_back(i, stop);
    threads.emplace_back([&work, &worker, &start_together] {
      pin_to_cpu(worker.number());
      start_together.arrive_and_wait();
      work(worker);
    });
  }
  Measured measured;
  const double cpu_before = cpu_seconds_of_this_process();
  // Take the time before the threads start: afterwards this thread may have to wait for a
  // processor.
  const Clock::time_point start = Clock::now();
  start_together.arrive_and_wait();
  threads.clear();
  measured.seconds = seconds_between(start, Clock::now());
  measured.operations = sum(workers);
  measured.cpu_seconds = cpu_seconds_of_this_process() - cpu_before;
  return measured;
}

}  // namespace swizzle::bench

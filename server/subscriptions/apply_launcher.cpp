#include "server/subscriptions/apply_launcher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "sql-lite-frontend/session/shared/database_shared.h"

namespace swizzle::server {
namespace {

/// Numbers of the workers' sessions, above those of connections.
constexpr std::int32_t kFirstPid = 2'000'000'000;

}  // namespace

ApplyLauncher::ApplyLauncher(sql::Database& database)
    : database_(database), next_pid_(kFirstPid), thread_([this] { run(); }) {}

ApplyLauncher::~ApplyLauncher() {
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
  }
  wakes_.notify_all();
  thread_.join();
}

void ApplyLauncher::run() {
  for (;;) {
    try {
      look();
    } catch (const std::exception& error) {
      spdlog::error("subscriptions could not be looked at: {}", error.what());
    }
    std::unique_lock lock{mutex_};
    wakes_.wait_for(lock, until_next_look(), [this] { return is_stopping_; });
    if (is_stopping_) break;
  }
  stop_workers();
}

Duration ApplyLauncher::until_next_look() const {
  constexpr Duration kIdle = std::chrono::seconds{1};
  constexpr Duration kWithWorkers = std::chrono::milliseconds{100};
  constexpr Duration kAfterChange = std::chrono::milliseconds{20};
  if (sql::have_subscriptions_changed(database_)) return kAfterChange;
  return workers_.empty() && not_before_.empty() ? kIdle : kWithWorkers;
}

void ApplyLauncher::look() {
  reap();
  const TimePoint now = Runtime::current().now();
  const std::vector<sql::ApplyJob> jobs = sql::find_apply_jobs(database_);
  // Of subscriptions that are dropped, or disabled.
  std::erase_if(not_before_, [&](const auto& entry) {
    return std::ranges::find(jobs, entry.first, task_of) == jobs.end();
  });
  for (const sql::ApplyJob& job : jobs) {
    if (workers_.contains(task_of(job)) || !has_room_for(job)) continue;
    const auto waits = not_before_.find(task_of(job));
    if (waits != not_before_.end() && now < waits->second) continue;
    start(job);
  }
}

bool ApplyLauncher::has_room_for(const sql::ApplyJob& job) const {
  const auto& settings = database_.shared().settings;
  const std::int64_t most = settings.integer("max_logical_replication_workers");
  if (static_cast<std::int64_t>(workers_.size()) >= most) return false;
  if (job.table == 0) return true;
  const auto copies = std::ranges::count_if(workers_, [&](const auto& entry) {
    return entry.first.first == job.subscription && entry.first.second != 0;
  });
  return copies < settings.integer("max_sync_workers_per_subscription");
}

void ApplyLauncher::reap() {
  const Duration pause =
      std::chrono::milliseconds{database_.shared().settings.integer("wal_retrieve_retry_interval")};
  std::erase_if(workers_, [&](auto& entry) {
    Worker& worker = *entry.second;
    if (!worker.has_ended.load()) return false;
    worker.thread.join();
    not_before_.erase(entry.first);
    if (worker.end == sql::ApplyEnd::failed)
      not_before_[entry.first] = Runtime::current().now() + pause;
    return true;
  });
}

void ApplyLauncher::start(sql::ApplyJob job) {
  job.pid = next_pid_;
  next_pid_ = next_pid_ == INT32_MAX ? kFirstPid : next_pid_ + 1;
  auto worker = std::make_unique<Worker>();
  Worker& started = *worker;
  worker->thread = std::thread{[this, &started, job] {
    try {
      started.end = sql::run_apply_worker(database_, started.door, job);
    } catch (const std::exception& error) {
      spdlog::error("a subscription's worker has ended: {}", error.what());
      started.end = sql::ApplyEnd::failed;
    }
    started.has_ended.store(true);
  }};
  workers_.emplace(task_of(job), std::move(worker));
}

void ApplyLauncher::stop_workers() {
  for (auto& [task, worker] : workers_) worker->door.stop();
  sql::stop_apply_workers(database_);
  for (auto& [task, worker] : workers_) worker->thread.join();
  workers_.clear();
}

}  // namespace swizzle::server

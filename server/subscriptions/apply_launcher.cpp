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
  const auto most = static_cast<std::size_t>(
      database_.shared().settings.integer("max_logical_replication_workers"));
  const TimePoint now = Runtime::current().now();
  const std::vector<sql::ApplyJob> jobs = sql::find_apply_jobs(database_);
  // Of subscriptions that are dropped, or disabled.
  std::erase_if(not_before_, [&](const auto& entry) {
    return std::ranges::find(jobs, entry.first, &sql::ApplyJob::subscription) == jobs.end();
  });
  for (const sql::ApplyJob& job : jobs) {
    if (workers_.size() >= most) return;
    if (workers_.contains(job.subscription)) continue;
    const auto waits = not_before_.find(job.subscription);
    if (waits != not_before_.end() && now < waits->second) continue;
    start(job);
  }
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
  workers_.emplace(job.subscription, std::move(worker));
}

void ApplyLauncher::stop_workers() {
  for (auto& [subscription, worker] : workers_) worker->door.stop();
  sql::stop_apply_workers(database_);
  for (auto& [subscription, worker] : workers_) worker->thread.join();
  workers_.clear();
}

}  // namespace swizzle::server

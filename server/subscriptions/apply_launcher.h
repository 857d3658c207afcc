#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "server/subscriptions/publisher_connection.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::server {

/// Keeps a worker running for each enabled subscription, and others for tables that are to be
/// copied, each on a thread of its own, and starts them again after an error.
class ApplyLauncher {
 public:
  /// `database` outlives it.
  explicit ApplyLauncher(sql::Database& database);
  ApplyLauncher(const ApplyLauncher&) = delete;
  ApplyLauncher& operator=(const ApplyLauncher&) = delete;
  /// Ends all workers.
  ~ApplyLauncher();

 private:
  struct Worker {
    PublisherConnections door;
    std::atomic<bool> has_ended{false};
    sql::ApplyEnd end = sql::ApplyEnd::over;
    std::thread thread;
  };

  void run();
  void look();
  [[nodiscard]] Duration until_next_look() const;
  /// Joins the threads of workers that have ended.
  void reap();
  /// False if as many workers run as may, of all or of the job's kind.
  [[nodiscard]] bool has_room_for(const sql::ApplyJob& job) const;
  void start(sql::ApplyJob job);
  void stop_workers();

  sql::Database& database_;
  std::mutex mutex_;  ///< of is_stopping_
  std::condition_variable wakes_;
  bool is_stopping_ = false;
  /// A subscription, and the table that its worker copies.
  using Task = std::pair<std::uint32_t, std::uint32_t>;
  static Task task_of(const sql::ApplyJob& job) { return {job.subscription, job.table}; }
  std::map<Task, std::unique_ptr<Worker>> workers_;
  std::map<Task, TimePoint> not_before_;  ///< after an error
  std::int32_t next_pid_;
  std::thread thread_;  ///< last, since it uses the others
};

}  // namespace swizzle::server

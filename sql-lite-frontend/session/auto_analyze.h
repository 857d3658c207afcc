#pragma once

#include <cstddef>

#include "base/runtime/background_task.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::sql {

/// Analyzes tables in the background that have changed much. A failure leaves the table for the
/// next round.
class AutoAnalyze {
 public:
  explicit AutoAnalyze(Database& database) noexcept : database_(database) {}
  AutoAnalyze(const AutoAnalyze&) = delete;
  AutoAnalyze& operator=(const AutoAnalyze&) = delete;
  ~AutoAnalyze() { stop(); }

  void start();
  /// Parks until the task has ended. Idempotent.
  void stop() noexcept { task_.stop(); }
  /// One round: how many tables were analyzed.
  std::size_t run_once();

 private:
  Database& database_;
  BackgroundTask task_;
};

}  // namespace swizzle::sql

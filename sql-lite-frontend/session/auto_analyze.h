#pragma once

#include <cstddef>

#include "base/runtime/background_task.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::sql {

/// Analyzes tables with many changes in the background. A table that fails is tried again in the
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
  /// Runs one round; returns how many tables were analyzed.
  std::size_t run_once();

 private:
  Database& database_;
  BackgroundTask task_;
};

}  // namespace swizzle::sql

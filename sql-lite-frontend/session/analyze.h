#pragma once

#include <cstddef>

#include "base/runtime/background_task.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::sql {

/// ANALYZE of one table in the session's transaction: counts its rows, samples them, and stores
/// statistics of the sample. Plans over the table are made anew once it commits.
void analyze_table(Session::State& session, const TablePtr& table);

/// Whether so much of a table changed that its statistics may mislead.
bool wants_analyze(const Table& table);

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

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/settings/settings.h"
#include "sql-lite-frontend/catalog/catalogs.h"
#include "sql-lite-frontend/execute/rows/temporary_files.h"
#include "sql-lite-frontend/publish/table_shapes.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/shared/advisory_locks.h"
#include "sql-lite-frontend/session/shared/database_usage.h"
#include "sql-lite-frontend/session/shared/exported_snapshots.h"
#include "sql-lite-frontend/session/shared/log_senders.h"
#include "sql-lite-frontend/session/shared/notifications.h"
#include "sql-lite-frontend/session/shared/sequences.h"
#include "sql-lite-frontend/session/shared/shared_plans.h"
#include "sql-lite-frontend/session/shared/transaction_numbers.h"
#include "sql-lite-frontend/statistics/statement_counters.h"
#include "sql-lite-frontend/statistics/statistics_store.h"

namespace swizzle::sql {

class AutoAnalyze;

struct Database::Shared {
  explicit Shared(Engine& the_engine);
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared();

  Engine& engine;
  Settings settings;
  /// Memory of the statements of all sessions.
  MemoryTotal memory;
  std::unique_ptr<Catalogs> catalogs;
  std::unique_ptr<TemporaryFiles> temporary_files;
  std::unique_ptr<StatisticsStore> statistics;
  Sequences sequences;
  TableShapes table_shapes;
  LogSenders log_senders;
  ExportedSnapshots exported_snapshots;
  std::atomic<std::int64_t> started_at{0};
  TransactionNumbers transaction_numbers;
  AdvisoryLocks advisory_locks;
  Notifications notifications;
  /// The server's part of ALTER SYSTEM: keeps a setting for the next reload or start. No value:
  /// forgets it; no name: forgets all. Empty where there is no server.
  std::function<Result<>(std::optional<std::string> name, std::optional<std::string> value)>
      store_server_setting;
  /// Returns the stored form of a password in clear text: a SCRAM-SHA-256 verifier. Takes
  /// milliseconds. Empty if there is no server.
  std::function<std::string(std::string_view password)> stored_password;
  /// swizzle_backup(): copies the server's directory to another; returns a report of the copy, and
  /// reports its progress meanwhile. Empty if there is no server.
  std::function<Result<std::string>(const std::string& target, const RecoveryObserver& observer)>
      back_up;
  /// pg_reload_conf().
  std::function<void()> request_reload;

  std::unique_ptr<AutoAnalyze> auto_analyze;
  StatementRegistry statements;
  /// Destroyed before the catalogs, because plans refer to their relations.
  SharedPlans plans;

  /// Sessions by backend pid, for pg_stat_activity and pg_terminate_backend.
  std::mutex sessions_mutex;
  std::map<std::int32_t, Session*> sessions;
  EndedSessions ended_sessions;
  /// Returns pg_stat_database's figures of each database: of all sessions, since pg_stat_reset().
  std::map<Oid, EndedSessions::Entry> usage_by_database();
  /// The counts of one begin anew.
  void reset_usage(Oid database);
  /// Forgets the usage of a dropped database.
  void forget_usage(Oid database);
};

/// The settings that say how plans are made, and those that say how their constants are read.
std::span<const std::string_view> planner_settings() noexcept;
std::span<const std::string_view> format_settings() noexcept;
/// Defines everything that SET and SHOW know.
void define_session_settings(Settings& settings);

}  // namespace swizzle::sql

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/shared/database_usage.h"
#include "sql-lite-frontend/session/shared/exported_snapshots.h"
#include "sql-lite-frontend/session/shared/log_senders.h"
#include "sql-lite-frontend/session/shared/notifications.h"
#include "sql-lite-frontend/session/shared/shared_plans.h"
#include "sql-lite-frontend/session/shared/subscription_workers.h"
#include "sql-lite-frontend/session/shared/transaction_numbers.h"
#include "sql-lite-frontend/statement/server_context.h"
#include "sql-lite-frontend/statement/transactions/advisory_locks.h"

namespace swizzle::sql {

class AutoAnalyze;

struct Database::Shared final : ServerContext {
  explicit Shared(Engine& the_engine);
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared();

  LogSenders log_senders;
  /// Streams of the log to standbys. They are not inside a standby's replay gate.
  std::atomic<std::size_t> streams{0};
  ExportedSnapshots exported_snapshots;
  TransactionNumbers transaction_numbers;
  AdvisoryLocks advisory_locks;
  Notifications notifications;
  /// swizzle_backup(): copies the server's directory to another, or what has changed since the
  /// backup `since`, unless that is empty; returns a report of the copy, and reports its progress
  /// meanwhile. Empty if there is no server.
  std::function<Result<std::string>(const std::string& target, const std::string& since,
                                    const RecoveryObserver& observer)>
      back_up;
  /// pg_reload_conf().
  std::function<void()> request_reload;

  /// On a standby, of the server's part that follows. Empty elsewhere; once it is promoted, the
  /// positions stay as they were.
  struct Standby {
    std::function<Lsn()> received;
    std::function<Lsn()> replayed;
    /// The time of the newest commit or rollback that is replayed, in microseconds since 1970; 0:
    /// none is known.
    std::function<std::int64_t()> replayed_at_us;
    /// The connection to the primary: pg_stat_wal_receiver. Times as above.
    struct Receiver {
      Lsn started_at = Lsn::none;
      std::uint32_t started_timeline = 0;
      Lsn written = Lsn::none;
      Lsn flushed = Lsn::none;
      std::uint32_t timeline = 0;
      std::int64_t sent_us = 0;   ///< of the last message, by the primary's clock
      std::int64_t heard_us = 0;  ///< when it came
      Lsn latest_end = Lsn::none;
      std::int64_t latest_end_us = 0;
      std::string slot;
      std::string host;
      int port = 0;
      std::string conninfo;
    };
    /// Nothing while it is not connected.
    std::function<std::optional<Receiver>()> receiver;
    std::function<bool()> is_paused;
    std::function<void(bool)> pause;
    /// Asks the server to promote itself.
    std::function<void()> promote;
  } standby;

  /// Connections to publishers; null if there is no server, which outlives the sessions.
  PublisherDoor* publishers = nullptr;
  SubscriptionWorkers subscription_workers;

  std::unique_ptr<AutoAnalyze> auto_analyze;
  /// Destroyed before the catalogs, because plans refer to their relations.
  SharedPlans plans;

  /// Sessions by backend pid, for pg_stat_activity and pg_terminate_backend.
  std::mutex sessions_mutex;
  std::map<std::int32_t, Session*> sessions;
  EndedSessions ended_sessions;
  /// Returns pg_stat_database's figures for each database: sums over all sessions since
  /// pg_stat_reset().
  std::map<Oid, EndedSessions::Entry> usage_by_database();
  /// Resets the counts of one database.
  void reset_usage(Oid database);
  /// Forgets the usage of a dropped database.
  void forget_usage(Oid database);
};

/// The settings that influence plans, and those that influence how their constants are read.
std::span<const std::string_view> planner_settings() noexcept;
std::span<const std::string_view> format_settings() noexcept;
/// Defines all settings of SET and SHOW. `in_hot_standby` is one that only a promotion changes.
void define_session_settings(Settings& settings, std::string_view in_hot_standby = "off");

}  // namespace swizzle::sql

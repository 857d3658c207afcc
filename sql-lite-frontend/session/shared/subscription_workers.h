#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/ids.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/catalog/oid.h"

namespace swizzle::sql {

/// The workers that apply subscriptions' changes, and their counts. Thread-safe.
class SubscriptionWorkers {
 public:
  SubscriptionWorkers() = default;
  SubscriptionWorkers(const SubscriptionWorkers&) = delete;
  SubscriptionWorkers& operator=(const SubscriptionWorkers&) = delete;

  /// A running worker, as pg_stat_subscription shows it. Times are in microseconds since 2000; 0:
  /// never.
  struct Worker {
    Oid subscription = kNoOid;
    Oid database = kNoOid;
    std::int32_t pid = 0;
    Oid table = kNoOid;  ///< that it copies now
    Lsn received = Lsn::none;
    std::int64_t sent_at = 0;
    std::int64_t heard_at = 0;
    Lsn latest_end = Lsn::none;
    std::int64_t latest_end_at = 0;
  };
  /// Notes a worker, and how to stop it. Returns false if the subscription has one, or must not
  /// have one now.
  bool enter(const Worker& worker, std::function<void()> stop);
  void leave(Oid subscription);
  /// Asks all to end.
  void stop_all();
  void show(const Worker& worker);
  [[nodiscard]] std::vector<Worker> list() const;
  [[nodiscard]] bool may_start(Oid subscription) const;

  /// Keeps workers of a subscription from starting, while it lives.
  class Hold {
   public:
    Hold(SubscriptionWorkers& workers, Oid subscription);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();
    /// Ends the running worker; parks until it is gone. `waits` is called repeatedly and may throw.
    void stop_worker(const std::function<void()>& waits);

   private:
    SubscriptionWorkers& workers_;
    Oid subscription_;
  };

  /// Counts of pg_stat_subscription_stats since the start of the server.
  struct Counts {
    std::int64_t apply_errors = 0;
    std::int64_t sync_errors = 0;
    std::int64_t insert_exists = 0;
    std::int64_t update_exists = 0;
    std::int64_t update_missing = 0;
    std::int64_t delete_missing = 0;
    std::int64_t reset_at = 0;
  };
  void count(Oid subscription, std::int64_t Counts::* which);
  [[nodiscard]] Counts counts(Oid subscription) const;
  /// kNoOid: all.
  void reset_counts(Oid subscription, std::int64_t now);

  /// Called when a statement has changed a subscription, before it commits: workers and their
  /// launcher look often for a while.
  void note_change();
  /// True within some seconds of note_change().
  [[nodiscard]] bool has_changed_lately() const;

 private:
  struct Entry {
    Worker worker;
    std::function<void()> stop;
  };
  mutable std::mutex mutex_;  ///< held while a worker is told to stop, never across a wait
  std::map<Oid, Entry> workers_;
  std::multiset<Oid> held_;
  std::map<Oid, Counts> counts_;
  TimePoint changed_at_{};
  bool has_changed_ = false;
};

}  // namespace swizzle::sql

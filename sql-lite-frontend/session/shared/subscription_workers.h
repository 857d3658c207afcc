#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/ids.h"
#include "base/runtime/runtime.h"
#include "sql-lite-frontend/catalog/subscription.h"

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
    FollowerId id;
    Oid database = kNoOid;
    std::int32_t pid = 0;
    Lsn received = Lsn::none;
    std::int64_t sent_at = 0;
    std::int64_t heard_at = 0;
    Lsn latest_end = Lsn::none;
    std::int64_t latest_end_at = 0;
  };
  /// Notes a worker, and how to stop it. Returns false if there is one already, or must not be one
  /// now.
  bool enter(const Worker& worker, std::function<void()> stop);
  void leave(const FollowerId& id);
  /// Asks all to end.
  void stop_all();
  void show(const Worker& worker);
  [[nodiscard]] std::vector<Worker> list() const;
  [[nodiscard]] bool may_start(const FollowerId& id) const;
  [[nodiscard]] bool is_running(const FollowerId& id) const;

  // A table's worker has copied the rows, and then goes on to where the subscription's worker is.
  // That one waits meanwhile, so that no change is left out or made twice.
  /// Called by a table's worker, which has the changes before `position`.
  void await_target(const FollowerId& id, Lsn position);
  /// Returns where it is to go to; nothing until set_targets().
  [[nodiscard]] std::optional<Lsn> target(const FollowerId& id) const;
  void note_caught_up(const FollowerId& id);
  /// Called by the subscription's worker, which has all before `position`: sets the targets of
  /// those that await one. Returns true if any has not caught up.
  bool set_targets(Oid subscription, Lsn position);

  /// Keeps workers of a subscription from starting, while it lives.
  class Hold {
   public:
    Hold(SubscriptionWorkers& workers, Oid subscription);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();
    /// Ends the running workers, or that of a table; parks until they are gone. `waits` is called
    /// repeatedly and may throw.
    void stop_workers(const std::function<void()>& waits) { stop_until_gone(std::nullopt, waits); }
    void stop_worker(Oid table, const std::function<void()>& waits) {
      stop_until_gone(table, waits);
    }

   private:
    void stop_until_gone(std::optional<Oid> table, const std::function<void()>& waits);

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
    enum class CatchUp : std::uint8_t { none, awaits_target, has_target };
    Worker worker;
    std::function<void()> stop;
    CatchUp catch_up = CatchUp::none;
    Lsn position = Lsn::none;  ///< of catch_up: its own, and then the target
  };
  mutable std::mutex mutex_;  ///< held while a worker is told to stop, never across a wait
  std::map<FollowerId, Entry> workers_;
  std::multiset<Oid> held_;
  std::map<Oid, Counts> counts_;
  TimePoint changed_at_{};
  bool has_changed_ = false;
};

}  // namespace swizzle::sql

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/subscriptions/change_applier.h"

namespace swizzle::sql {

/// Follows one subscription's publisher, or copies one of its tables. Of one thread.
///
/// A table's worker creates a slot, copies the rows of its snapshot (table state `finished`), and
/// then waits. The subscription's worker notices, says how far it is, and waits in turn until the
/// table's worker has applied what the slot has up to there (`copied`). From then on the table's
/// changes are the subscription's worker's.
class ApplyWorker {
 public:
  ApplyWorker(Database& database, PublisherDoor& door, const ApplyJob& job);
  ApplyWorker(const ApplyWorker&) = delete;
  ApplyWorker& operator=(const ApplyWorker&) = delete;
  ~ApplyWorker();

  ApplyEnd run();

 private:
  /// The reason why following has ended.
  struct Ended {
    ApplyEnd how = ApplyEnd::over;
    std::optional<Diagnostic> error = {};
  };
  /// Nothing: it goes on.
  using Step = std::optional<Ended>;

  [[nodiscard]] FollowerId id() const noexcept { return {job_.subscription, job_.table}; }
  [[nodiscard]] bool copies() const noexcept { return job_.table != kNoOid; }
  /// "logical replication apply worker for subscription …".
  [[nodiscard]] std::string called() const;

  Step follow();
  bool await_definition(Transaction& transaction) const;
  Step open();
  Step connect();
  /// Of the publisher's slot that the worker reads.
  [[nodiscard]] std::string slot_name() const;
  /// Connects, and asks for the changes.
  Step start();
  /// Applies changes until the worker is to end, or has reached its target.
  Step stream();
  [[nodiscard]] bool has_reached_target() const noexcept {
    return !applier_->is_in_transaction() && received_ >= target_;
  }
  /// Takes what has come; waits for `longest` if nothing has.
  Step take_messages(Duration longest);
  Step take(Bytes message);
  Step take_change(Bytes message);
  Step take_keepalive(Bytes message);
  void note_message(Lsn end, std::int64_t sent_at);
  /// Between two transactions: reads the definition again, now and then.
  Step look_around();
  /// True after changes of subscriptions, and while tables are copied.
  [[nodiscard]] bool looks_often() const;
  /// Returns how the worker ends if the subscription is not as it was.
  Step compare(const std::optional<Subscription>& now);

  // Of the subscription's worker (apply_worker_tables.cpp).
  void read_tables();
  /// Waits for the workers of tables that are to catch up.
  Step meet_copies();
  /// Notes the tables whose copy the changes have caught up with.
  void note_ready();
  [[nodiscard]] bool are_all_ready() const;
  /// True if prepared transactions are to be told: once all first copies are complete, since these
  /// would miss what was prepared before and commits later.
  [[nodiscard]] bool begins_two_phase() const;
  void enable_two_phase();
  /// Drops slots that copies have left at the publisher when they were interrupted.
  void drop_left_slots();

  // Of a table's worker.
  Step copy_and_catch_up();
  Step copy();
  Step await_target();
  void note_copied();
  void drop_slot_of_copy();

  Step check_silence();
  Result<> report(bool wants_reply);
  Result<> report_if_due();
  static Step failed(Diagnostic error);
  static Step failed(const Error& error);
  ApplyEnd finish(const Ended& ended);
  void disable();
  void log(Severity severity, std::string message);
  /// Runs `work` in a transaction of its own, and commits it.
  template <class Work>
  void in_transaction(const Work& work) {
    Session::State& state = session_->state();
    auto transaction = state.shared.engine.begin();
    transaction->begin_statement();
    work(state.catalog.of_database(), *transaction);
    value_of(transaction->commit());
  }

  /// Bounds the wait for the subscription's record: DROP SUBSCRIPTION has it, and waits for
  /// workers.
  static constexpr Duration kLongestLockWait = std::chrono::seconds{1};

  /// From any thread: ends the waits for the publisher and for locks.
  void request_stop();

  Database& database_;
  PublisherDoor& door_;
  ApplyJob job_;
  SubscriptionWorkers::Worker shown_;
  std::mutex session_mutex_;  ///< of the pointer, for request_stop()
  std::unique_ptr<Session> session_;
  std::optional<Subscription> subscription_;
  std::unique_ptr<ChangeApplier> applier_;
  std::unique_ptr<PublisherLink> link_;
  bool is_entered_ = false;  ///< the workers' list has it
  SubscribedTable table_;    ///< that it copies
  Lsn target_ = Lsn::max;    ///< a table's worker is to apply what committed before
  Lsn received_ = Lsn::none;
  Lsn told_flushed_ = Lsn::none;
  TimePoint heard_at_{};
  TimePoint told_at_{};
  TimePoint looked_at_{};
  bool has_asked_ = false;
  bool must_look_ = true;
};

}  // namespace swizzle::sql

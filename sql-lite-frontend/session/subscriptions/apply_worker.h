#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/subscriptions/change_applier.h"

namespace swizzle::sql {

/// Follows one subscription's publisher. Of one thread.
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

  Step follow();
  bool await_definition(Transaction& transaction) const;
  Step open();
  /// Connects, and asks for the changes.
  Step start();
  Step stream();
  /// Takes what has come; waits for `longest` if nothing has.
  Step take_messages(Duration longest);
  Step take(Bytes message);
  Step take_change(Bytes message);
  Step take_keepalive(Bytes message);
  void note_message(Lsn end, std::int64_t sent_at);
  /// Between two transactions: reads the definition again, now and then, and copies new tables.
  Step look_around();
  /// Returns how the worker ends if the subscription is not as it was.
  Step compare(const std::optional<Subscription>& now);
  Step copy_tables();
  Step copy_one(SubscribedTable table);
  /// Notes the tables whose copy the changes have caught up with. Returns false if some have not.
  bool note_ready();
  void read_tables();
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
  void in_transaction(const Work& work);

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
  bool copies_ = false;      ///< the error is of a table's copy
  Lsn received_ = Lsn::none;
  Lsn told_flushed_ = Lsn::none;
  TimePoint heard_at_{};
  TimePoint told_at_{};
  TimePoint looked_at_{};
  bool has_asked_ = false;
  bool must_look_ = true;
};

}  // namespace swizzle::sql

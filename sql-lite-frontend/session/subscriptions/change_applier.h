#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sql-lite-frontend/catalog/subscription.h"
#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/subscriptions/apply_target.h"
#include "sql-lite-frontend/session/subscriptions/change_messages.h"
#include "sql-lite-frontend/session/subscriptions/streamed_changes.h"

namespace swizzle::sql {

/// Applies a publisher's transactions, each as one transaction of its session, with the position
/// that it ends at. Belongs to its session's thread.
class ChangeApplier {
 public:
  using Tables = std::map<Oid, SubscribedTable>;

  /// `applied`: position up to which the subscription's changes are applied already, or those of
  /// one table, to which the others are not applied then.
  ChangeApplier(Session& session, PublisherDoor& door, Subscription subscription, Oid table,
                Lsn applied);
  ChangeApplier(const ChangeApplier&) = delete;
  ChangeApplier& operator=(const ChangeApplier&) = delete;
  ~ChangeApplier();

  /// Applies one message of the output plugin. The error has its context; the transaction is to be
  /// rolled back then.
  Outcome apply(Bytes message);
  /// True from the begin of a publisher's transaction, or of a part of one that is streamed, to its
  /// end.
  [[nodiscard]] bool is_in_transaction() const noexcept {
    return begin_.has_value() || streamed_ != nullptr;
  }
  void roll_back();

  // Between two transactions.
  void set_subscription(Subscription subscription) { subscription_ = std::move(subscription); }
  [[nodiscard]] const Subscription& subscription() const noexcept { return subscription_; }
  void set_tables(Tables tables) { tables_ = std::move(tables); }
  [[nodiscard]] const Tables& tables() const noexcept { return tables_; }

  /// Position before which all transactions are applied.
  [[nodiscard]] Lsn applied() const noexcept { return applied_; }
  /// Notes that the publisher has no other transactions before `position`.
  void note_applied(Lsn position) noexcept { applied_ = std::max(applied_, position); }
  /// The same, but durably.
  [[nodiscard]] Lsn flushed();
  [[nodiscard]] bool awaits_flush() const noexcept { return !unflushed_.empty(); }

 private:
  struct KeptTarget {
    std::unique_ptr<ApplyTarget> target;
    /// Prepared statements, by their kind and the columns that are sent.
    std::unordered_map<std::string, ApplyStatement> statements;
    bool is_checked = false;  ///< in this transaction
  };

  void take(Bytes message);
  /// Takes a message that neither begins nor ends anything, of the kind `kind_`.
  void take_change(ChangeMessageReader& message);

  // Transactions (applied_transactions.cpp).
  bool take_end_of_transaction(char kind, ChangeMessageReader& message);
  bool take_streamed(char kind, ChangeMessageReader& message);
  bool take_prepared(char kind, ChangeMessageReader& message);
  void require_outside() const;
  void begin(ChangeMessageReader& message);
  void commit(ChangeMessageReader& message);
  void begin_transaction(const BeginMessage& transaction);
  void end_transaction(Lsn end);
  void start_stream(ChangeMessageReader& message);
  void keep_streamed(char kind, ChangeMessageReader& message);
  void abort_stream(ChangeMessageReader& message);
  void commit_stream(ChangeMessageReader& message);
  void prepare_stream(ChangeMessageReader& message);
  void replay(std::uint32_t transaction);
  void begin_prepared(const PrepareMessage& prepared);
  void prepare(const PrepareMessage& prepared);
  void finish_prepared(const PrepareMessage& finished, std::string_view command);
  [[nodiscard]] std::string gid_of(std::uint32_t transaction) const;
  [[nodiscard]] bool is_prepared_here(const std::string& gid) const;
  /// Runs `work` as a request of the session within its transaction.
  template <class Work>
  void in_local(std::string_view name, const Work& work);

  // Tables and rows.
  void note_relation(ChangeMessageReader& message);
  void insert(ChangeMessageReader& message);
  void update(ChangeMessageReader& message);
  void remove(ChangeMessageReader& message);
  void truncate(ChangeMessageReader& message);

  /// Returns the target of the relation; null if its changes are not to be applied now.
  KeptTarget* find_target(std::uint32_t relation);
  KeptTarget& target_of(std::uint32_t relation);
  [[nodiscard]] bool wants(const ApplyTarget& target) const;
  void forget(KeptTarget& kept);
  /// Throws 0A000 or 42501 if the subscription's owner may not change the table.
  void require_may_apply(const ApplyTarget& target);

  /// Returns the prepared statement of that key; `make` returns it unprepared.
  template <class Make>
  const ApplyStatement& prepared(KeptTarget& kept, const std::string& key, const Make& make);
  /// Runs it with these rows; returns the number of rows that it has changed.
  std::uint64_t run(const ApplyTarget& target, const ApplyStatement& statement,
                    const PublishedRow& new_row, const PublishedRow& old_row);
  void run_text(const std::string& text);
  /// Runs `work` as the owner of the table, unless the subscription's owner is to do it.
  template <class Work>
  Outcome as_owner_of(const ApplyTarget& target, const Work& work);
  /// The cursor is on the row that equals `old_row_`; false: there is none.
  bool find_by_cursor(KeptTarget& kept);
  void require_missing(KeptTarget& kept);
  void end_cursor();
  void begin_locally();
  void finish_locally(Lsn end);
  void clear_skip(Lsn commit);
  void report_missing(const ApplyTarget& target, std::string_view conflict,
                      std::int64_t SubscriptionWorkers::Counts::* count);
  /// Counts a conflict with a row that is here, and words the error as one.
  void note_conflict(Diagnostic& error);
  void log(Severity severity, std::string message, std::string detail = {});
  [[nodiscard]] std::string context() const;
  [[nodiscard]] FollowerId id() const noexcept { return {subscription_.oid, table_}; }

  Session& session_;
  PublisherDoor& door_;
  Subscription subscription_;
  const Oid table_;  ///< kNoOid: the subscription's tables
  Tables tables_;
  Lsn applied_;
  std::unordered_map<std::uint32_t, PublishedRelation> relations_;
  std::unordered_map<std::uint32_t, KeptTarget> targets_;
  std::optional<BeginMessage> begin_;
  /// Transactions that have come in part, by the publisher's numbers, and the one that comes now.
  std::map<std::uint32_t, StreamedChanges> streams_;
  StreamedChanges* streamed_ = nullptr;
  bool is_prepared_ = false;  ///< the transaction ends with PREPARE
  bool is_repeated_ = false;  ///< it was prepared here before the last start
  bool is_skipping_ = false;
  bool has_local_ = false;  ///< a local transaction is open
  std::uint64_t next_name_ = 0;
  char kind_ = '\0';                      ///< of the message that is applied
  const ApplyTarget* current_ = nullptr;  ///< of that message
  PublishedRow new_row_;
  PublishedRow old_row_;
  std::vector<std::optional<Bytes>> values_;
  std::vector<Format> formats_;
  std::string key_;
  struct Unflushed {
    Lsn local;  ///< end of the log after the local commit
    Lsn end;    ///< of the publisher's transaction
  };
  std::deque<Unflushed> unflushed_;
  Lsn flushed_;
};

}  // namespace swizzle::sql

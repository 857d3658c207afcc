#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

/// The end of a transaction within a statement: COMMIT and ROLLBACK of procedures and DO.
namespace swizzle::sql {

/// The rows over which a loop goes while its body ends the transaction that it reads in.
class PinnedRows {
 public:
  explicit PinnedRows(Session::State& session) : session_(session) {
    session.transaction.pinned_rows.push_back(this);
  }
  PinnedRows(const PinnedRows&) = delete;
  PinnedRows& operator=(const PinnedRows&) = delete;
  virtual ~PinnedRows() { std::erase(session_.transaction.pinned_rows, this); }

  /// Reads the remaining rows, after which the transaction is needed no longer. Throws 55000 if the
  /// rows come from a statement that writes.
  virtual void hold() = 0;

 private:
  Session::State& session_;
};

/// While an object of this class exists, the statement that runs may, or may not, end the
/// transaction.
class TransactionControl {
 public:
  TransactionControl(Session::State& session, bool is_allowed)
      : session_(session), before_(std::exchange(session.transaction.may_end, is_allowed)) {}
  TransactionControl(const TransactionControl&) = delete;
  TransactionControl& operator=(const TransactionControl&) = delete;
  ~TransactionControl() { session_.transaction.may_end = before_; }

 private:
  Session::State& session_;
  bool before_;
};

enum class TransactionEnd : std::uint8_t { commit, rollback };
/// Whether the next one is of the same kind (AND CHAIN), or of the session's.
enum class NextTransaction : std::uint8_t { plain, same_modes };
/// Ends the transaction and begins another. No running statement may hold anything of the old one
/// but pinned objects. Throws 2D000 if that is not allowed; after any other error, such as a failed
/// commit, there is no transaction.
void end_transaction_within(Session::State& session, TransactionEnd end, NextTransaction next);

}  // namespace swizzle::sql

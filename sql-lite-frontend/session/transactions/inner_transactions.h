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

  /// Reads what is left, and needs the transaction no longer.
  /// Throws 55000 where the rows are what a statement has written.
  virtual void hold() = 0;

 private:
  Session::State& session_;
};

/// While it lives, what runs may end the transaction, or may not.
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
/// Ends the transaction and begins another. Nothing of what runs may hold anything of the old one
/// but what is pinned. Throws 2D000 where that is not allowed; what else it throws, a failed
/// commit, leaves no transaction.
void end_transaction_within(Session::State& session, TransactionEnd end, NextTransaction next);

}  // namespace swizzle::sql

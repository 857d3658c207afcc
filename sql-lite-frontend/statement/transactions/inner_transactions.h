#pragma once

#include <cstdint>
#include <utility>

#include "sql-lite-frontend/statement/transactions/statement_transaction.h"

/// The end of a transaction within a statement: COMMIT and ROLLBACK of procedures and DO.
namespace swizzle::sql {

/// The rows of a loop whose body ends the transaction that it reads in.
class PinnedRows {
 public:
  explicit PinnedRows(StatementTransaction& transaction) : transaction_(transaction) {
    transaction.pinned_rows.push_back(this);
  }
  PinnedRows(const PinnedRows&) = delete;
  PinnedRows& operator=(const PinnedRows&) = delete;
  virtual ~PinnedRows() { std::erase(transaction_.pinned_rows, this); }

  /// Reads the remaining rows, so that the transaction is not needed any more. Throws 55000 if the
  /// rows come from a statement that writes.
  virtual void hold() = 0;

 private:
  StatementTransaction& transaction_;
};

/// While an object of this class exists, the running statement may, or may not, end the
/// transaction.
class TransactionControl {
 public:
  TransactionControl(StatementTransaction& transaction, bool is_allowed)
      : transaction_(transaction), before_(std::exchange(transaction.may_end, is_allowed)) {}
  TransactionControl(const TransactionControl&) = delete;
  TransactionControl& operator=(const TransactionControl&) = delete;
  ~TransactionControl() { transaction_.may_end = before_; }

 private:
  StatementTransaction& transaction_;
  bool before_;
};

enum class TransactionEnd : std::uint8_t { commit, rollback };
/// The modes of the next transaction: those of this one (AND CHAIN), or the session's.
enum class NextTransaction : std::uint8_t { plain, same_modes };

}  // namespace swizzle::sql

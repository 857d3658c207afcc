#pragma once

#include <span>

#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "storage/transaction.h"

/// Detects rows that triggers and functions of a statement changed before the statement itself
/// writes them.
namespace swizzle::sql {

/// 27000: a statement run by a trigger or function has changed a row that the outer statement of
/// that kind is about to write.
[[noreturn]] void refuse_triggered_change(WriteKind kind);

/// Returns true if a statement of a trigger or function that ran for an earlier row of this
/// statement has changed or removed the row found under the key. Compares the row as it is now with
/// the row without the changes since this statement began.
bool is_changed_within(Execution& execution, const Table& table, Bytes key, Bytes row);

/// Throws 27000 if the locked row no longer equals `row`, provided that functions have run since
/// `mark`.
void require_same_row(Execution& execution, const WriteStatement& write,
                      const Transaction::Mark& mark, Bytes key, std::span<const Value> row);

}  // namespace swizzle::sql

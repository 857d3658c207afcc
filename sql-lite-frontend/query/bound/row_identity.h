#pragma once

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Functions behind ctid, for tables ordered by their primary key, whose rows have no fixed place.
/// A row gets a number when ctid is read, and has it until its transaction ends or the row is
/// written by that number. The session keeps the numbers.
struct RowIdentityFunctions {
  /// (table, columns of the primary key …): the row's number.
  const Function& number;
  /// (number, table, position in the primary key): that column's value of the row with that number;
  /// NULL if the row was written since. Throws 0A000 for a number that this transaction has not
  /// given.
  const Function& key;
  /// The same for a row that is written: later statements find it under another number.
  const Function& key_to_write;
  /// xmax of a row that INSERT returns, (true if it existed before): the transaction that has
  /// locked it, which is this one, or 0.
  const Function& changer;
};

}  // namespace swizzle::sql

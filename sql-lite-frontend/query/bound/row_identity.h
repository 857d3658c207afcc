#pragma once

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Functions behind ctid, xmin, xmax, cmin and cmax. Rows have no place of their own: a table's
/// tree is ordered by its primary key or by hidden row ids. ctid is made of a key that is a number
/// (types/system/row_places.h). Rows with other keys get a number when ctid is read, and have it
/// until their transaction ends or the row is written by that number. The session keeps these
/// numbers.
struct RowIdentityFunctions {
  /// (table, columns of the row's key …): ctid.
  const Function& number;
  /// (ctid, table, position in the row's key): that column's value of the row with that ctid; NULL
  /// if the row was written since. Throws 0A000 for a number that this transaction has not given.
  const Function& key;
  /// The same for a row that is written: later statements find it under another number.
  const Function& key_to_write;
  /// (array of ctids, table): the same of every element, for a key of one column.
  const Function& keys;
  /// (ctid): the first hidden row id whose ctid is at or after it, and the first after it.
  const Function& first_id_from;
  const Function& first_id_after;
  /// (n, n values, then pairs of a column's number and value …): xmin, a digest of the columns;
  /// NULL if there are n values and all are NULL.
  const Function& stamp;
  /// xmax of a row that INSERT returns, (true if it existed before): the transaction that has
  /// locked it, which is this one, or 0.
  const Function& changer;
  /// (n, n values): xmax, cmin and cmax of other rows: 0; NULL in the same case.
  const Function& no_changer;
  const Function& no_command;
  const Function& no_last_command;
  /// (n, n values): xmax of a row that the statement replaces or removes.
  const Function& ender;
};

/// True for the name of one of the columns behind which these functions are.
bool is_system_column_of_row(std::string_view name) noexcept;

}  // namespace swizzle::sql

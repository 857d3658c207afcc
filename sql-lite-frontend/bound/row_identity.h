#pragma once

#include "sql-lite-frontend/bound/expression.h"

/// ctid, for tables whose rows are found by their primary key and lie nowhere in particular: a
/// number that a row gets when it is asked for, and has until its transaction ends or the row is
/// written by that number. session/ keeps them.
namespace swizzle::sql {

/// (table, columns of the primary key …): the row's number.
const Function& row_identity();
/// (number, table, position in the primary key): that column's value of the row with that number;
/// NULL where the row was written since. Throws 0A000 for a number that this transaction has not
/// given.
const Function& key_of_identity();
/// The same where the row is written: later statements find it under another number.
const Function& key_of_written_identity();

/// xmax of a row that INSERT returns, (whether it was there before): the transaction that has
/// locked it, which is this one, or 0.
const Function& row_changer();

}  // namespace swizzle::sql

#pragma once

#include "sql-lite-frontend/bound/expression.h"

/// ctid, for tables that are ordered by their primary key and give their rows no fixed place. A row
/// gets a number when it is asked for, and has it until its transaction ends or the row is written
/// by that number. session/ keeps the numbers.
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

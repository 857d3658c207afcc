#pragma once

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// Runs what locks a row. At REPEATABLE READ somebody may have been faster; who locks a row, or
/// meets one with ON CONFLICT, is told of an update then, whatever has become of the row. UPDATE
/// and DELETE are told when it is gone.
template <class Lock>
decltype(auto) told_of_update(const Lock& lock) {
  try {
    return lock();
  } catch (const SqlError& error) {
    if (error.state() != sqlstate::serialization_failure) throw;
  }
  throw SqlError{sqlstate::serialization_failure,
                 "could not serialize access due to concurrent update"};
}

}  // namespace swizzle::sql

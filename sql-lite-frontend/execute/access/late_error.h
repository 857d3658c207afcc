#pragma once

#include <string_view>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// Runs what locks a row. At REPEATABLE READ somebody may have been faster; who locks a row, or
/// meets one with ON CONFLICT, is told of an update then, whatever has become of the row. UPDATE
/// and DELETE are told when it is gone. At READ COMMITTED a row that went to another partition says
/// so.
template <class Lock>
decltype(auto) told_of_update(const Lock& lock) {
  try {
    return lock();
  } catch (const SqlError& error) {
    const bool says_more = std::string_view{error.what()}.starts_with("tuple to be locked");
    if (error.state() != sqlstate::serialization_failure || says_more) throw;
  }
  throw SqlError{sqlstate::serialization_failure,
                 "could not serialize access due to concurrent update"};
}

}  // namespace swizzle::sql

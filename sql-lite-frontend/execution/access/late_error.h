#pragma once

#include <string_view>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// Runs `lock`, which locks a row, and rewords its serialization failures as PostgreSQL does. At
/// REPEATABLE READ, a reader that locks a row, or ON CONFLICT that meets one, reports a concurrent
/// update, whatever happened to the row. UPDATE and DELETE, which do not come here, report a
/// removal as such. At READ COMMITTED, the error for a row that has moved to another partition
/// keeps its own words.
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

#pragma once

#include <string_view>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

/// Runs `lock`, which locks a row, and changes its serialization failures to PostgreSQL's. At
/// REPEATABLE READ, a locking read and ON CONFLICT report a concurrent update, whatever happened to
/// the row; UPDATE and DELETE, which do not use this, report a removal as such. At READ COMMITTED,
/// the error for a row that has moved to another partition is kept.
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

#include "sql-lite-frontend/types/request_memory.h"

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

Result<> RequestMemory::take(std::size_t bytes) {
  try {
    account_.take(bytes);
  } catch (SqlError& error) {
    return fail(std::move(error).take_error());
  }
  taken_ += bytes;
  return {};
}

}  // namespace swizzle::sql

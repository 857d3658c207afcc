#include "sql-lite-frontend/statement/lasting_share.h"

#include <fmt/format.h>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

void LastingShare::set(MemoryAccount& account, std::size_t bytes) {
  if (bytes <= bytes_) return lower(bytes);
  const std::size_t more = bytes - bytes_;
  const std::size_t limit = account.limit_bytes() - account.limit_bytes() / 4;
  const std::size_t used = account.used_bytes();
  if (used > limit || more > limit - used) {
    throw sql_error(sqlstate::out_of_memory, "out of memory")
        .with_detail(fmt::format("The session keeps {} kB, {} kB more are asked for, and three "
                                 "quarters of session_memory_limit are {} kB.",
                                 used / 1024, (more + 1023) / 1024, limit / 1024))
        .with_hint("A superuser may raise session_memory_limit.");
  }
  account.take(more);
  account_ = &account;
  bytes_ = bytes;
}

}  // namespace swizzle::sql

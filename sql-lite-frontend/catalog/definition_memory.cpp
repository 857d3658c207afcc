#include "sql-lite-frontend/catalog/definition_memory.h"

#include <fmt/format.h>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

void DefinitionMemory::Share::require_within_limit(std::size_t replaced) const {
  const std::size_t used = memory_->used_bytes();
  const std::size_t limit = memory_->limit_.load(std::memory_order_relaxed);
  if (used <= limit || bytes_ <= replaced) return;
  throw sql_error(sqlstate::out_of_memory, "out of memory")
      .with_detail(fmt::format("With this one, the definitions of all databases take {} kB, and "
                               "half of server_memory_limit are {} kB.",
                               used / 1024, limit / 1024))
      .with_hint("Drop what is not needed, or raise server_memory_limit.");
}

}  // namespace swizzle::sql

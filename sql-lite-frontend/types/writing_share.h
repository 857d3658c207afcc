#pragma once

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {

/// Scope that charges memory that building long values needs outside of any arena.
class WritingShare {
 public:
  WritingShare(FunctionContext& context, std::size_t bytes) {
    if (bytes >= kLongBytes) share_.set(context.arena.account(), bytes);
  }

 private:
  MemoryShare share_;
};

}  // namespace swizzle::sql

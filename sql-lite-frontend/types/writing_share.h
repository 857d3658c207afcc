#pragma once

#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {

/// What writing long values down takes beside them, outside of any arena: counted while it lives.
class WritingShare {
 public:
  WritingShare(FunctionContext& context, std::size_t bytes) {
    if (bytes >= kLongBytes) share_.set(context.arena.account(), bytes);
  }

 private:
  MemoryShare share_;
};

}  // namespace swizzle::sql

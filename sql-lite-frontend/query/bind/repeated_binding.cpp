#include "sql-lite-frontend/query/bind/repeated_binding.h"

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

void RepeatedBinding::count(std::size_t nodes) {
  // With so many nodes, freeing the memory still takes less than one turn.
  constexpr std::size_t kMost = 50'000;
  nodes_ += nodes;
  if (nodes_ > kMost) {
    throw SqlError{sqlstate::statement_too_complex, "statement is too complex"}.with_detail(
        "Expressions that are compared more than once stand within one another.");
  }
}

}  // namespace swizzle::sql

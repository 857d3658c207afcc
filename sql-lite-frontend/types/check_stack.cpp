#include "sql-lite-frontend/types/check_stack.h"

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

void throw_stack_too_deep() {
  throw SqlError{sqlstate::statement_too_complex, "stack depth limit exceeded"}.with_hint(
      "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after "
      "ensuring the platform's stack depth limit is adequate.");
}

}  // namespace swizzle::sql

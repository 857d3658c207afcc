#include "sql-lite-frontend/query/bound/execution.h"

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

Execution::Execution(StatementServices& services_of_session, SessionContext& context)
    : services(services_of_session),
      memory(&services_of_session.work_memory()),
      functions{row_arena, context, {}} {
  row_arena.count_in(memory);
}

void Execution::check_interrupts() {
  rows_until_check = kRowsPerCheck;
  services.check_cancelled();
  Runtime::current().yield();
  // Other code may have counted its own rows during the check.
  rows_until_check = kRowsPerCheck;
}

}  // namespace swizzle::sql

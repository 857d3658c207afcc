#include "sql-lite-frontend/plpgsql/frame.h"
#include "sql-lite-frontend/types/sql_error.h"

/// COMMIT and ROLLBACK.
namespace swizzle::sql::plpgsql {

Flow TransactionStep::run(Frame& /*frame*/) {
  throw_error(sqlstate::feature_not_supported, "{} in PL/pgSQL is not supported", what());
}

}  // namespace swizzle::sql::plpgsql

// pg_stat_statements: a view with PostgreSQL's columns over the server's counters, which run even
// without the extension, and a function that resets them.
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value reset(FunctionContext& context, Arguments a) {
  const StatementContext* const session = SessionNames::context_of(context.session);
  if (session == nullptr) return Value::null();
  if (a[0].as_oid() != kNoOid) {
    throw SqlError{sqlstate::feature_not_supported,
                   "pg_stat_statements_reset for one role is not supported"}
        .with_detail("Statements are counted for all roles together.");
  }
  const Oid database = a[1].as_oid();
  const auto query = static_cast<std::uint64_t>(a[2].as_int8());
  for (const StatementCountersPtr& statement : session->shared.statements.all()) {
    if (database != kNoOid && statement->database != database) continue;
    if (query != 0 && query != statement->query_id()) continue;
    statement->counters.reset();
  }
  return Value::null();
}

constexpr ScalarEntry kStatementFunctions[] = {{"reset", &reset}};

/// NULL: the server does not count it.
constexpr std::string_view kStatementScript = R"SQL(
CREATE FUNCTION pg_stat_statements_reset(userid oid DEFAULT 0, dbid oid DEFAULT 0,
                                         queryid bigint DEFAULT 0) RETURNS void
  AS '$libdir/pg_stat_statements', 'reset' LANGUAGE c STRICT PARALLEL SAFE;
REVOKE ALL ON FUNCTION pg_stat_statements_reset(oid, oid, bigint) FROM PUBLIC;
CREATE VIEW pg_stat_statements AS
  SELECT NULL::oid AS userid, dbid, NULL::boolean AS toplevel, queryid, query,
         NULL::bigint AS plans, NULL::float8 AS total_plan_time, NULL::float8 AS min_plan_time,
         NULL::float8 AS max_plan_time, NULL::float8 AS mean_plan_time,
         NULL::float8 AS stddev_plan_time, calls, total_exec_time, NULL::float8 AS min_exec_time,
         NULL::float8 AS max_exec_time, mean_exec_time, NULL::float8 AS stddev_exec_time, rows,
         NULL::bigint AS shared_blks_hit, NULL::bigint AS shared_blks_read,
         NULL::bigint AS shared_blks_dirtied, NULL::bigint AS shared_blks_written,
         NULL::bigint AS local_blks_hit, NULL::bigint AS local_blks_read,
         NULL::bigint AS local_blks_dirtied, NULL::bigint AS local_blks_written,
         NULL::bigint AS temp_blks_read, NULL::bigint AS temp_blks_written,
         NULL::float8 AS blk_read_time, NULL::float8 AS blk_write_time,
         NULL::float8 AS temp_blk_read_time, NULL::float8 AS temp_blk_write_time,
         NULL::bigint AS wal_records, NULL::bigint AS wal_fpi, NULL::numeric AS wal_bytes,
         NULL::bigint AS jit_functions, NULL::float8 AS jit_generation_time,
         NULL::bigint AS jit_inlining_count, NULL::float8 AS jit_inlining_time,
         NULL::bigint AS jit_optimization_count, NULL::float8 AS jit_optimization_time,
         NULL::bigint AS jit_emission_count, NULL::float8 AS jit_emission_time
    FROM pg_catalog.pg_stat_statements;
GRANT SELECT ON pg_stat_statements TO PUBLIC;
)SQL";

}  // namespace

const BundledExtension& pg_stat_statements_extension() {
  static constexpr BundledExtension kExtension{
      .name = "pg_stat_statements",
      .version = "1.10",
      .comment = "track planning and execution statistics of all SQL statements executed",
      .trusted = false,
      .script = kStatementScript,
      .scalars = kStatementFunctions};
  return kExtension;
}

}  // namespace swizzle::sql

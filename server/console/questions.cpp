#include "server/console/questions.h"

#include <algorithm>
#include <array>

namespace swizzle::server {
namespace {

using namespace std::chrono_literals;

// Names are schema-qualified if users could create others; each statement has a limit.

constexpr std::array kSessions{
    QuestionPart{"sessions", R"(/* swizzle console */
SELECT pid, datname AS database, usename AS "user", application_name AS application,
  coalesce(client_addr::text, 'local') AS client, state, wait_event_type, wait_event,
  round(extract(epoch FROM clock_timestamp() - xact_start)::numeric, 3) AS transaction_seconds,
  round(extract(epoch FROM clock_timestamp() - query_start)::numeric, 3) AS query_seconds,
  round(extract(epoch FROM clock_timestamp() - state_change)::numeric, 3) AS state_seconds,
  left(query, 1000) AS query,
  CASE WHEN wait_event_type = 'Lock'
    THEN array_to_string(pg_catalog.pg_blocking_pids(pid), ',') END AS blocked_by
FROM pg_catalog.pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
ORDER BY CASE WHEN state = 'active' THEN 0 WHEN state LIKE 'idle in%' THEN 1 ELSE 2 END,
  xact_start, state_change DESC LIMIT 200)"},
    QuestionPart{"states", R"(/* swizzle console */
SELECT coalesce(state, 'unknown') AS state, count(*) FROM pg_catalog.pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() GROUP BY 1)"},
    QuestionPart{"prepared", R"(/* swizzle console */
SELECT gid, owner, database, round(extract(epoch FROM now() - prepared)::numeric, 1) AS seconds
FROM pg_catalog.pg_prepared_xacts ORDER BY prepared LIMIT 50)"},
};

constexpr std::array kStatements{
    QuestionPart{"statements", R"(/* swizzle console */
SELECT d.datname AS database, left(s.query, 2000) AS query, s.calls, s.total_exec_time AS total_ms,
  s.mean_exec_time AS mean_ms, s.rows
FROM pg_catalog.pg_stat_statements s LEFT JOIN pg_catalog.pg_database d ON d.oid = s.dbid
WHERE s.query NOT LIKE '/* swizzle console */%' ORDER BY s.total_exec_time DESC LIMIT 50)"},
    QuestionPart{"all", R"(/* swizzle console */
SELECT count(*) AS statements, coalesce(sum(calls), 0) AS calls,
  coalesce(sum(total_exec_time), 0) AS total_ms FROM pg_catalog.pg_stat_statements
WHERE query NOT LIKE '/* swizzle console */%')"},
};

constexpr std::array kTables{
    QuestionPart{"tables", R"(/* swizzle console */
SELECT t.schemaname AS schema, t.relname AS name, t.n_live_tup AS live, t.n_dead_tup AS dead,
  t.seq_scan, coalesce(t.idx_scan, 0) AS index_scan, t.n_tup_ins AS inserted,
  t.n_tup_upd AS updated, t.n_tup_del AS deleted,
  pg_catalog.pg_table_size(t.relid::regclass) AS table_bytes,
  pg_catalog.pg_indexes_size(t.relid::regclass) AS index_bytes,
  greatest(t.last_analyze, t.last_autoanalyze)::text AS analyzed
FROM (SELECT * FROM pg_catalog.pg_stat_user_tables ORDER BY n_live_tup DESC LIMIT 100) t)"},
    QuestionPart{"indexes", R"(/* swizzle console */
SELECT s.schemaname AS schema, s.relname AS table, s.indexrelname AS name, s.idx_scan AS scans,
  s.idx_tup_read AS entries_read, i.indisunique AS is_unique,
  i.indisprimary AS is_primary,
  pg_catalog.pg_relation_size(s.indexrelid::regclass) AS bytes
FROM (SELECT * FROM pg_catalog.pg_stat_user_tables ORDER BY n_live_tup DESC LIMIT 100) t
JOIN pg_catalog.pg_stat_user_indexes s ON s.relid = t.relid
JOIN pg_catalog.pg_index i ON i.indexrelid = s.indexrelid LIMIT 300)"},
};

constexpr std::array kStorage{
    QuestionPart{"slots", R"(/* swizzle console */
SELECT slot_name, plugin, slot_type, database, active, active_pid, wal_status,
  pg_catalog.pg_current_wal_lsn() - restart_lsn AS kept_bytes,
  pg_catalog.pg_current_wal_lsn() - confirmed_flush_lsn AS lag_bytes
FROM pg_catalog.pg_replication_slots ORDER BY slot_name LIMIT 50)"},
    QuestionPart{"senders", R"(/* swizzle console */
SELECT pid, usename AS "user", application_name AS application, client_addr::text AS client, state,
  pg_catalog.pg_current_wal_lsn() - flush_lsn AS lag_bytes
FROM pg_catalog.pg_stat_replication ORDER BY pid LIMIT 50)"},
    QuestionPart{"archive", R"(/* swizzle console */
SELECT archived_count, last_archived_wal, last_archived_time::text, failed_count, last_failed_wal,
  last_failed_time::text FROM pg_catalog.pg_stat_archiver)"},
    QuestionPart{"checkpoints", R"(/* swizzle console */
SELECT num_timed, num_requested, buffers_clean, buffers_alloc
FROM pg_catalog.pg_stat_checkpointer, pg_catalog.pg_stat_bgwriter)"},
    QuestionPart{"snapshots", R"(/* swizzle console */
SELECT pid, held_bytes, too_old FROM pg_catalog.swizzle_snapshots
ORDER BY held_bytes DESC NULLS LAST LIMIT 20)"},
};

constexpr std::array kSettings{
    QuestionPart{"settings", R"(/* swizzle console */
SELECT name, setting, coalesce(unit, '') AS unit, boot_val, source, context, pending_restart,
  short_desc FROM pg_catalog.pg_settings
WHERE setting IS DISTINCT FROM boot_val
  AND source NOT IN ('default', 'client', 'session', 'override') ORDER BY name LIMIT 300)"},
    QuestionPart{"server", R"(/* swizzle console */
SELECT pg_catalog.version() AS version, pg_catalog.pg_postmaster_start_time()::text AS started,
  current_user AS "user", current_database() AS database)"},
    QuestionPart{"databases", R"(/* swizzle console */
SELECT datname AS name, numbackends AS sessions, xact_commit AS commits, xact_rollback AS rollbacks
FROM pg_catalog.pg_stat_database WHERE datname IS NOT NULL ORDER BY datname LIMIT 200)"},
};

constexpr std::array kTrees{
    QuestionPart{"trees", R"(/* swizzle console */
SELECT tree, schema, name, kind FROM pg_catalog.swizzle_trees ORDER BY rows DESC LIMIT 2000)"},
};

constexpr std::array kQuestions{
    Question{"/api/sessions", kSessions, 1s}, Question{"/api/statements", kStatements, 1s},
    Question{"/api/tables", kTables, 5s},     Question{"/api/storage", kStorage, 1s},
    Question{"/api/settings", kSettings, 5s}, Question{"/api/trees", kTrees, 5s},
};

}  // namespace

const Question* find_question(std::string_view path) noexcept {
  const auto found = std::ranges::find(kQuestions, path, &Question::path);
  return found == kQuestions.end() ? nullptr : &*found;
}

}  // namespace swizzle::server

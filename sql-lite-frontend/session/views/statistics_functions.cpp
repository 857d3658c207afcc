#include "sql-lite-frontend/definitions/system_catalog/relation_statistics.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/providers.h"

/// pg_stat_get_…: single figures of the statistics views for one object, as older monitors query
/// them.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// A table, or one of its indexes.
struct CountedRelation {
  TablePtr table;
  const TableCounters* of_index = nullptr;
};

/// As in PostgreSQL, all counts of a relation that does not exist are 0.
std::optional<CountedRelation> counted_relation(Execution& execution, Oid oid) {
  Session::State& session = session_of(execution);
  if (const TablePtr table = session.names.table(oid)) {
    if (!table->runtime) return std::nullopt;
    return CountedRelation{table};
  }
  if (const TablePtr table = session.catalog.table_with_index(oid))
    for (const IndexAccess& access : table->indexes)
      if (access.index->oid == oid) return CountedRelation{table, access.counters};
  return std::nullopt;
}

template <Counted of_table, Counted of_index>
Value relation_count(Execution& execution, Arguments arguments) {
  const auto found = counted_relation(execution, arguments[0].as_oid());
  if (!found) return Value::from_int(0);
  const std::uint64_t count = found->of_index != nullptr
                                  ? found->of_index->since_reset(of_index)
                                  : found->table->runtime->counters.since_reset(of_table);
  return Value::from_int(static_cast<std::int64_t>(count));
}
/// Counts of tables only.
template <Counted what>
Value table_count(Execution& execution, Arguments arguments) {
  const auto found = counted_relation(execution, arguments[0].as_oid());
  if (!found || found->of_index != nullptr) return Value::from_int(0);
  return Value::from_int(
      static_cast<std::int64_t>(found->table->runtime->counters.since_reset(what)));
}
template <Value (*number)(const Table&)>
Value table_number(Execution& execution, Arguments arguments) {
  const auto found = counted_relation(execution, arguments[0].as_oid());
  if (!found || found->of_index != nullptr) return Value::from_int(0);
  return number(*found->table);
}
template <TableRuntime::Analyses TableRuntime::* who>
Value last_analyzed(Execution& execution, Arguments arguments) {
  const auto found = counted_relation(execution, arguments[0].as_oid());
  if (!found) return Value::null();
  const std::int64_t last = ((*found->table->runtime).*who).last.load(std::memory_order_relaxed);
  return last == 0 ? Value::null() : Value::from_int(last);
}
template <TableRuntime::Analyses TableRuntime::* who>
Value times_analyzed(Execution& execution, Arguments arguments) {
  const auto found = counted_relation(execution, arguments[0].as_oid());
  if (!found) return Value::from_int(0);
  const auto count = ((*found->table->runtime).*who).count.load(std::memory_order_relaxed);
  return Value::from_int(static_cast<std::int64_t>(count));
}
Value blocks_of(Execution& execution, Arguments arguments, bool with_reads) {
  const Oid oid = arguments[0].as_oid();
  const auto found = counted_relation(execution, oid);
  if (!found) return Value::from_int(0);
  Engine& engine = session_of(execution).shared.engine;
  RelationPages counts;
  if (found->of_index == nullptr) {
    counts = pages_of(engine, *found->table);
  } else {
    for (const IndexAccess& access : found->table->indexes)
      if (access.index->oid == oid) counts = pages_of(engine, access);
  }
  return Value::from_int(static_cast<std::int64_t>(counts.hit + (with_reads ? counts.read : 0)));
}
Value blocks_fetched(Execution& execution, Arguments arguments) {
  return blocks_of(execution, arguments, true);
}
Value blocks_hit(Execution& execution, Arguments arguments) {
  return blocks_of(execution, arguments, false);
}
/// Autovacuum never runs: storage removes ghosts itself.
Value nothing(Execution&, Arguments) {
  return Value::from_int(0);
}
Value never(Execution&, Arguments) {
  return Value::null();
}

/// Returns a column of a provider's row whose first column is `key`, or of its only row; NULL if
/// there is none.
Value column_of(Execution& execution, const RowProvider& provider, std::size_t column,
                std::optional<Oid> key) {
  Value found = Value::null();
  provider.rows(execution, [&](std::span<const Value> row) {
    if (!key || row[0].as_oid() == *key) found = row[column];
  });
  return found;
}

/// Columns of pg_stat_database. Without the database they are 0, except times and names.
template <std::size_t column>
Value database_number(Execution& execution, Arguments arguments) {
  const Value found =
      column_of(execution, database_providers().front(), column, arguments[0].as_oid());
  return found.is_null() ? Value::from_int(0) : found;
}
template <std::size_t column>
Value database_moment(Execution& execution, Arguments arguments) {
  return column_of(execution, database_providers().front(), column, arguments[0].as_oid());
}
Value database_pages(Execution& execution, Arguments arguments) {
  return Value::from_int(database_number<5>(execution, arguments).as_int8() +
                         database_number<6>(execution, arguments).as_int8());
}
/// Columns of pg_stat_bgwriter and pg_stat_checkpointer.
template <std::size_t provider, std::size_t column>
Value server_number(Execution& execution, Arguments) {
  return column_of(execution, server_statistics_providers()[provider], column, std::nullopt);
}
template <std::size_t column>
constexpr auto* writer_number = server_number<1, column>;
template <std::size_t column>
constexpr auto* checkpoint_number = server_number<2, column>;

}  // namespace

std::span<const SessionEntry> statistics_functions() {
  using enum Counted;
  static constexpr SessionEntry kFunctions[] = {
      {"pg_stat_get_numscans", relation_count<sequential_scans, index_scans>},
      {"pg_stat_get_tuples_returned", relation_count<sequential_rows, index_rows>},
      {"pg_stat_get_tuples_fetched", relation_count<index_rows, index_rows>},
      {"pg_stat_get_tuples_inserted", table_count<inserted>},
      {"pg_stat_get_tuples_updated", table_count<updated>},
      {"pg_stat_get_tuples_deleted", table_count<removed>},
      {"pg_stat_get_blocks_fetched", blocks_fetched},
      {"pg_stat_get_blocks_hit", blocks_hit},
      {"pg_stat_get_live_tuples", table_number<live_rows>},
      {"pg_stat_get_mod_since_analyze", table_number<changes_since_analyze>},
      {"pg_stat_get_tuples_hot_updated", nothing},
      {"pg_stat_get_dead_tuples", table_number<dead_rows>},
      {"pg_stat_get_ins_since_vacuum", nothing},
      {"pg_stat_get_vacuum_count", times_analyzed<&TableRuntime::vacuumed_by_users>},
      {"pg_stat_get_autovacuum_count", nothing},
      {"pg_stat_get_last_vacuum_time", last_analyzed<&TableRuntime::vacuumed_by_users>},
      {"pg_stat_get_last_autovacuum_time", never},
      {"pg_stat_get_last_analyze_time", last_analyzed<&TableRuntime::analyzed_by_users>},
      {"pg_stat_get_last_autoanalyze_time", last_analyzed<&TableRuntime::analyzed_by_server>},
      {"pg_stat_get_analyze_count", times_analyzed<&TableRuntime::analyzed_by_users>},
      {"pg_stat_get_autoanalyze_count", times_analyzed<&TableRuntime::analyzed_by_server>},
      {"pg_stat_get_db_numbackends", database_number<2>},
      {"pg_stat_get_db_xact_commit", database_number<3>},
      {"pg_stat_get_db_xact_rollback", database_number<4>},
      {"pg_stat_get_db_blocks_fetched", database_pages},
      {"pg_stat_get_db_blocks_hit", database_number<6>},
      {"pg_stat_get_db_tuples_returned", database_number<7>},
      {"pg_stat_get_db_tuples_fetched", database_number<8>},
      {"pg_stat_get_db_tuples_inserted", database_number<9>},
      {"pg_stat_get_db_tuples_updated", database_number<10>},
      {"pg_stat_get_db_tuples_deleted", database_number<11>},
      {"pg_stat_get_db_conflict_all", nothing},
      {"pg_stat_get_db_temp_files", database_number<13>},
      {"pg_stat_get_db_temp_bytes", database_number<14>},
      {"pg_stat_get_db_deadlocks", database_number<15>},
      {"pg_stat_get_db_checksum_failures", database_number<16>},
      {"pg_stat_get_db_checksum_last_failure", database_moment<17>},
      {"pg_stat_get_db_blk_read_time", database_number<18>},
      {"pg_stat_get_db_blk_write_time", database_number<19>},
      {"pg_stat_get_db_session_time", database_number<20>},
      {"pg_stat_get_db_active_time", database_number<21>},
      {"pg_stat_get_db_idle_in_transaction_time", database_number<22>},
      {"pg_stat_get_db_sessions", database_number<23>},
      {"pg_stat_get_db_sessions_abandoned", database_number<24>},
      {"pg_stat_get_db_sessions_fatal", database_number<25>},
      {"pg_stat_get_db_sessions_killed", database_number<26>},
      {"pg_stat_get_db_stat_reset_time", database_moment<27>},
      {"pg_stat_get_bgwriter_buf_written_clean", writer_number<0>},
      {"pg_stat_get_bgwriter_maxwritten_clean", writer_number<1>},
      {"pg_stat_get_buf_alloc", writer_number<2>},
      {"pg_stat_get_bgwriter_stat_reset_time", writer_number<3>},
      {"pg_stat_get_checkpointer_num_timed", checkpoint_number<0>},
      {"pg_stat_get_checkpointer_num_requested", checkpoint_number<1>},
      {"pg_stat_get_checkpointer_num_performed", checkpoint_number<2>},
      {"pg_stat_get_checkpointer_restartpoints_timed", checkpoint_number<3>},
      {"pg_stat_get_checkpointer_restartpoints_requested", checkpoint_number<4>},
      {"pg_stat_get_checkpointer_restartpoints_performed", checkpoint_number<5>},
      {"pg_stat_get_checkpointer_write_time", checkpoint_number<6>},
      {"pg_stat_get_checkpointer_sync_time", checkpoint_number<7>},
      {"pg_stat_get_checkpointer_buffers_written", checkpoint_number<8>},
      {"pg_stat_get_checkpointer_slru_written", checkpoint_number<9>},
      {"pg_stat_get_checkpointer_stat_reset_time", checkpoint_number<10>},
  };
  return kFunctions;
}

}  // namespace swizzle::sql

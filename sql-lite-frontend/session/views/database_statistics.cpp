#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/providers.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "storage/statistics.h"

/// pg_stat_database: the counters of each database since the start or pg_stat_reset().
namespace swizzle::sql {
namespace {

Value count_value(std::uint64_t value) {
  return Value::from_int(static_cast<std::int64_t>(value));
}

/// Returns a time in milliseconds, as PostgreSQL's view has it.
Value milliseconds_value(std::uint64_t nanoseconds) {
  return Value::from_float8(static_cast<double>(nanoseconds) / 1e6);
}

std::map<Oid, std::int64_t> backends_by_database(Database::Shared& shared) {
  std::map<Oid, std::int64_t> counts;
  const std::lock_guard lock{shared.sessions_mutex};
  for (const auto& [pid, session] : shared.sessions)
    ++counts[session->state().catalog.of_database().database()];
  return counts;
}

/// The engine has one file and one pool for all databases.
struct PageCounts {
  std::uint64_t read = 0;
  std::uint64_t hit = 0;
};

void rows_by_database(Execution& execution, const EmitRow& emit) {
  Session::State& session = session_of(execution);
  const EngineStatistics engine = session.shared.engine.statistics();
  const auto usages = session.shared.usage_by_database();
  const auto rows_of = session.shared.catalogs->counted_rows();
  const auto backends = backends_by_database(session.shared);
  const Oid own = session.catalog.of_database().database();

  const auto emit_row = [&](Oid oid, const Value& name, PageCounts pages, std::uint64_t failures) {
    const auto found_usage = usages.find(oid);
    const EndedSessions::Entry entry =
        found_usage == usages.end() ? EndedSessions::Entry{} : found_usage->second;
    const DatabaseUsage& usage = entry.usage;
    const auto found_rows = rows_of.find(oid);
    const CountedRows counted = found_rows == rows_of.end() ? CountedRows{} : found_rows->second;
    const auto connected = backends.find(oid);
    const std::int64_t since = entry.reset_at != 0
                                   ? entry.reset_at
                                   : session.shared.started_at.load(std::memory_order_relaxed);
    const bool has_failed = failures > 0;
    const Value row[] = {
        Value::from_oid(oid), name,
        Value::from_int(connected == backends.end() ? 0 : connected->second),
        count_value(usage.of(Used::commits)), count_value(usage.of(Used::rollbacks)),
        count_value(pages.read), count_value(pages.hit),
        count_value(counted.read + counted.read_by_index), count_value(counted.read_by_index),
        count_value(counted.inserted), count_value(counted.updated), count_value(counted.removed),
        // No conflicts with recovery.
        Value::from_int(0), count_value(usage.of(Used::temporary_files)),
        count_value(usage.of(Used::temporary_bytes)), count_value(usage.of(Used::deadlocks)),
        count_value(failures),
        has_failed
            ? Value::from_int(engine.last_checksum_failure_us - kUnixEpochDays * kMicrosPerDay)
            : Value::null(),
        // As with track_io_timing off.
        Value::from_float8(0), Value::from_float8(0), milliseconds_value(usage.session_us * 1'000),
        milliseconds_value(usage.of(Used::active_ns)),
        milliseconds_value(usage.of(Used::idle_in_transaction_ns)), count_value(usage.sessions),
        count_value(usage.abandoned), count_value(usage.fatal), count_value(usage.killed),
        Value::from_int(since),
        // Statements have no parallel workers.
        Value::from_int(0), Value::from_int(0)};
    emit(row);
  };

  // The database of a damaged page is unknown until it can be read.
  emit_row(kNoOid, Value::null(), {}, engine.checksum_failures);
  const std::uint64_t read = engine.pages_read;
  const std::uint64_t hit = engine.leaf_requests > read ? engine.leaf_requests - read : 0;
  for (const DatabasePtr& database : session.catalog.databases()) {
    emit_row(database->oid, text_value(execution, database->name),
             database->oid == own ? PageCounts{read, hit} : PageCounts{}, 0);
  }
}

}  // namespace

std::span<const RowProvider> database_providers() {
  static const std::vector<RowProvider> kProviders{
      {kPgCatalogSchema,
       "pg_stat_database",
       {{"datid"},
        {"datname"},
        {"numbackends"},
        {"xact_commit"},
        {"xact_rollback"},
        {"blks_read"},
        {"blks_hit"},
        {"tup_returned"},
        {"tup_fetched"},
        {"tup_inserted"},
        {"tup_updated"},
        {"tup_deleted"},
        {"conflicts"},
        {"temp_files"},
        {"temp_bytes"},
        {"deadlocks"},
        {"checksum_failures"},
        {"checksum_last_failure"},
        {"blk_read_time"},
        {"blk_write_time"},
        {"session_time"},
        {"active_time"},
        {"idle_in_transaction_time"},
        {"sessions"},
        {"sessions_abandoned"},
        {"sessions_fatal"},
        {"sessions_killed"},
        {"stats_reset"},
        {"parallel_workers_to_launch"},
        {"parallel_workers_launched"}},
       rows_by_database},
  };
  return kProviders;
}

}  // namespace swizzle::sql

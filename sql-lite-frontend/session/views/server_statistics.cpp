#include <algorithm>
#include <array>

#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/providers.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "storage/page/page.h"
#include "storage/statistics.h"

/// pg_stat_wal, pg_stat_bgwriter, pg_stat_checkpointer, pg_stat_io, pg_stat_archiver and
/// swizzle_recovery: the engine's counters since the start.
namespace swizzle::sql {
namespace {

Value engine_count(std::uint64_t value) {
  return Value::from_int(static_cast<std::int64_t>(value));
}
/// Converts microseconds since 1970 to a timestamp; 0, never, is NULL.
Value engine_moment(std::int64_t unix_us) {
  return unix_us == 0 ? Value::null() : Value::from_int(unix_us - kUnixEpochDays * kMicrosPerDay);
}
Value counted_since(const Session::State& session) {
  return Value::from_int(session.shared.started_at.load(std::memory_order_relaxed));
}

void log_rows(Execution& execution, const EmitRow& emit) {
  const Session::State& session = session_of(execution);
  const EngineStatistics now = session.shared.engine.statistics();
  const std::uint64_t bytes = now.log_tail - std::min(now.log_begin, now.log_tail);
  const Value row[] = {engine_count(now.log_records),
                       // Pages that a crash may tear are in the double-write area, not in the log.
                       Value::from_int(0), Value::from_decimal(static_cast<std::int64_t>(bytes), 0),
                       engine_count(now.log_waits_for_room), counted_since(session)};
  emit(row);
}

void writer_rows(Execution& execution, const EmitRow& emit) {
  const Session::State& session = session_of(execution);
  const EngineStatistics now = session.shared.engine.statistics();
  const Value row[] = {engine_count(now.pages_written), Value::from_int(0),
                       engine_count(now.pages_read), counted_since(session)};
  emit(row);
}

void checkpoint_rows(Execution& execution, const EmitRow& emit) {
  const Session::State& session = session_of(execution);
  const EngineStatistics now = session.shared.engine.statistics();
  // Checkpoints write no pages: the cleaner writes them continuously.
  const Value none = Value::from_int(0);
  const Value row[] = {engine_count(now.checkpoints_by_time),
                       engine_count(now.checkpoints - now.checkpoints_by_time),
                       engine_count(now.checkpoints),
                       none,
                       none,
                       none,
                       Value::from_float8(0),
                       Value::from_float8(0),
                       none,
                       none,
                       counted_since(session)};
  emit(row);
}

/// Input and output of files. Sessions read pages, the cleaner writes them, and whoever commits
/// writes the log; times are not measured by page.
void io_rows(Execution& execution, const EmitRow& emit) {
  const Session::State& session = session_of(execution);
  const EngineStatistics now = session.shared.engine.statistics();
  const Value null = Value::null();
  const auto bytes = [](std::uint64_t count) {
    return Value::from_decimal(static_cast<std::int64_t>(count), 0);
  };
  const auto row = [&](std::string_view who, std::string_view object,
                       const std::array<Value, 8>& counts) {
    const auto& [reads, read_bytes, writes, write_bytes, hits, evictions, fsyncs, fsync_time] =
        counts;
    const Value columns[] = {text_value(execution, who),
                             text_value(execution, object),
                             text_value(execution, "normal"),
                             reads,
                             read_bytes,
                             writes,
                             write_bytes,
                             hits,
                             evictions,
                             fsyncs,
                             fsync_time,
                             counted_since(session)};
    emit(columns);
  };
  const std::uint64_t misses = now.pages_read - std::min(now.pages_read_ahead, now.pages_read);
  row("client backend", "relation",
      {engine_count(now.pages_read), bytes(now.pages_read * kPageBytes), null, null,
       engine_count(now.leaf_requests - std::min(misses, now.leaf_requests)),
       engine_count(now.pages_evicted), null, null});
  row("background writer", "relation",
      {null, null, engine_count(now.pages_written), bytes(now.pages_written * kPageBytes), null,
       null, null, null});
  row("walwriter", "wal",
      {null, null, engine_count(now.log_writes), bytes(now.log_bytes_written), null, null,
       // A write returns durable, so its time includes the sync.
       engine_count(now.log_flushes),
       Value::from_float8(static_cast<double>(now.log_sync_times.sum_ns) / 1e6)});
}

void archiver_rows(Execution& execution, const EmitRow& emit) {
  const Session::State& session = session_of(execution);
  const wal::ArchiveStatistics now = session.shared.engine.statistics().archive;
  const auto name = [&](const std::string& segment) {
    return segment.empty() ? Value::null() : text_value(execution, segment);
  };
  const Value row[] = {
      engine_count(now.archived), name(now.last_archived), engine_moment(now.last_archived_us),
      engine_count(now.failed),   name(now.last_failed),   engine_moment(now.last_failed_us),
      counted_since(session)};
  emit(row);
}

/// Work that the last start left to the background; without such work no row.
void recovery_rows(Execution& execution, const EmitRow& emit) {
  const EngineStatistics now = session_of(execution).shared.engine.statistics();
  const Value since = engine_moment(now.opened_at_us);
  const auto row = [&](std::string_view task, Value transaction, std::string_view unit,
                       std::uint64_t left, std::uint64_t done, Value closed) {
    const Value columns[] = {text_value(execution, task),
                             transaction,
                             text_value(execution, unit),
                             engine_count(left),
                             engine_count(done),
                             closed,
                             since};
    emit(columns);
  };
  if (now.pages_pending != 0) {
    row("redo", Value::null(), "pages", now.pages_pending, now.pages_redone, Value::null());
    row("redo", Value::null(), "changes", now.changes_pending, now.changes_redone, Value::null());
  }
  if (now.is_restoring)
    row("restore", Value::null(), "pages", now.pages_unrestored, now.pages_restored, Value::null());
  for (const RestartRollback& rollback : now.restart_rollbacks)
    row("rollback", engine_count(raw(rollback.id)), "bytes of log",
        rollback.log_bytes - rollback.undone_bytes, rollback.undone_bytes,
        engine_count(rollback.closed_trees));
}

}  // namespace

std::span<const RowProvider> server_statistics_providers() {
  static const std::vector<RowProvider> kProviders{
      {kPgCatalogSchema,
       "pg_stat_wal",
       {{"wal_records"}, {"wal_fpi"}, {"wal_bytes"}, {"wal_buffers_full"}, {"stats_reset"}},
       log_rows},
      {kPgCatalogSchema,
       "pg_stat_bgwriter",
       {{"buffers_clean"}, {"maxwritten_clean"}, {"buffers_alloc"}, {"stats_reset"}},
       writer_rows},
      {kPgCatalogSchema,
       "pg_stat_checkpointer",
       {{"num_timed"},
        {"num_requested"},
        {"num_done"},
        {"restartpoints_timed"},
        {"restartpoints_req"},
        {"restartpoints_done"},
        {"write_time"},
        {"sync_time"},
        {"buffers_written"},
        {"slru_written"},
        {"stats_reset"}},
       checkpoint_rows},
      {kPgCatalogSchema,
       "pg_stat_io",
       {{"backend_type"},
        {"object"},
        {"context"},
        {"reads"},
        {"read_bytes"},
        {"writes"},
        {"write_bytes"},
        {"hits"},
        {"evictions"},
        {"fsyncs"},
        {"fsync_time"},
        {"stats_reset"}},
       io_rows},
      {kPgCatalogSchema,
       "swizzle_recovery",
       {{"task", TypeId::text},
        {"transaction", TypeId::int8},
        {"unit", TypeId::text},
        {"remaining", TypeId::int8},
        {"done", TypeId::int8},
        {"closed_trees", TypeId::int8},
        {"since", TypeId::timestamptz}},
       recovery_rows},
      {kPgCatalogSchema,
       "pg_stat_archiver",
       {{"archived_count"},
        {"last_archived_wal"},
        {"last_archived_time"},
        {"failed_count"},
        {"last_failed_wal"},
        {"last_failed_time"},
        {"stats_reset"}},
       archiver_rows},
  };
  return kProviders;
}

}  // namespace swizzle::sql

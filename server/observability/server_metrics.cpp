#include "server/observability/server_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <iterator>
#include <optional>

#include "server/observability/metric_families.h"
#include "sql-lite-frontend/session/shared/database_shared.h"

namespace swizzle::server {
namespace {

std::int64_t wall_clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

void add_sessions(MetricFamilies& out, std::size_t connections,
                  const sql::SessionCounts& sessions) {
  out.gauge("swizzle_connections", "Connections, those that log in included.", number(connections));
  const std::string help = "Sessions by what they do.";
  out.gauge("swizzle_sessions", help, number(sessions.active), {{"state", "active"}});
  out.gauge("swizzle_sessions", help, number(sessions.idle), {{"state", "idle"}});
  out.gauge("swizzle_sessions", help, number(sessions.idle_in_transaction),
            {{"state", "idle in transaction"}});
}

void add_statements(MetricFamilies& out, const StatementMetrics::Totals& totals) {
  for (std::size_t kind = 0; kind < kStatementKinds; ++kind) {
    out.histogram("swizzle_statement_duration_seconds",
                  "Time from a statement's message to its answer, the wait for the log included.",
                  totals.latencies[kind],
                  {{"kind", std::string{name_of(static_cast<StatementKind>(kind))}}});
  }
  for (std::size_t i = 0; i < totals.errors.size(); ++i) {
    const std::string name{i < kErrorClasses.size() ? kErrorClasses[i] : "other"};
    out.counter("swizzle_statement_errors_total", "Errors by the class of their SQLSTATE.",
                number(totals.errors[i]), {{"class", name}});
  }
}

void add_reactors(MetricFamilies& out, const FiberRuntime& reactors) {
  for (std::size_t i = 0; i < reactors.reactor_count(); ++i) {
    const Stalls stalls = reactors.stalls_of(i);
    const std::string name = std::to_string(i);
    out.counter("swizzle_reactor_stalls_total",
                "Times that one session kept all others of a reactor waiting for over 20 ms.",
                number(stalls.count), {{"reactor", name}});
    out.counter("swizzle_reactor_stall_seconds_total", "Time that these took.",
                std::chrono::duration<double>{stalls.total}.count(), {{"reactor", name}});
    out.counter("swizzle_reactor_long_turns_total",
                "Times that one task kept all others of a reactor waiting for over 2 ms.",
                number(stalls.long_turns), {{"reactor", name}});
    out.gauge("swizzle_reactor_longest_turn_seconds", "The longest of these since the start.",
              std::chrono::duration<double>{stalls.longest_turn}.count(), {{"reactor", name}});
    const std::optional<TimePoint> begin = reactors.turn_begin(i);
    const Duration lasted = begin ? std::chrono::steady_clock::now() - *begin : Duration{};
    out.gauge("swizzle_reactor_turn_seconds", "How long the present turn has lasted.",
              std::chrono::duration<double>{lasted}.count(), {{"reactor", name}});
  }
}

void add_pool(MetricFamilies& out, const EngineStatistics& now) {
  const std::string frames = "Frames of the buffer pool, by what is in them.";
  out.gauge("swizzle_pool_frames", frames, number(now.pool_swizzled), {{"state", "swizzled"}});
  out.gauge("swizzle_pool_frames", frames, number(now.pool_unswizzled), {{"state", "unswizzled"}});
  out.gauge("swizzle_pool_frames", frames, number(now.pool_free_frames), {{"state", "free"}});
  out.gauge("swizzle_pool_frames", frames, number(now.reads_in_flight), {{"state", "being_read"}});
  out.counter("swizzle_pool_leaf_requests_total",
              "Leaves that finished transactions asked for; those that were not read were hits.",
              number(now.leaf_requests));
  out.counter("swizzle_pages_read_total", "Pages read from the data file.", number(now.pages_read));
  out.counter("swizzle_pages_read_ahead_total", "Of these, before anybody asked for them.",
              number(now.pages_read_ahead));
  out.counter("swizzle_pages_written_total", "Pages written to the data file.",
              number(now.pages_written));
  out.counter("swizzle_pages_evicted_total", "Pages that left the pool for others.",
              number(now.pages_evicted));
  out.counter("swizzle_pages_swizzled_total", "References to pages that became addresses.",
              number(now.pages_swizzled));
  out.counter("swizzle_pages_unswizzled_total", "Addresses that became page numbers again.",
              number(now.pages_unswizzled));
  out.counter("swizzle_pool_sweeps_total", "Rounds that looked for pages to unswizzle.",
              number(now.sweeps));
  out.counter("swizzle_pages_repaired_total", "Damaged pages that were rebuilt from the log.",
              number(now.pages_repaired));
  out.gauge("swizzle_pages_given_up", "Pages that could not be rebuilt: reading them is an error.",
            number(now.pages_given_up));
  out.gauge("swizzle_pages_pending", "Pages that are still to be redone after a crash.",
            number(now.pages_pending));
  out.counter("swizzle_pages_redone_total", "Pages that were redone after the start.",
              number(now.pages_redone));
  out.counter("swizzle_changes_redone_total", "Log records that were applied to them.",
              number(now.changes_redone));
  out.gauge("swizzle_restoring", "1 while a restore on demand still needs its backups.",
            now.is_restoring ? 1 : 0);
  out.gauge("swizzle_pages_unrestored", "Pages that are still to be read from the backups.",
            number(now.pages_unrestored));
  out.counter("swizzle_pages_restored_total", "Pages that were read from the backups.",
              number(now.pages_restored));
  out.gauge("swizzle_restart_rollbacks",
            "Transactions that a crash interrupted and that are still to be rolled back.",
            number(now.restart_rollbacks.size()));
  constexpr double kPerSecond = 1e6;
  out.gauge("swizzle_redo_duration_seconds",
            "Time from the start until no page was to be redone; -1: some are.",
            now.redo_done_us < 0 ? -1 : static_cast<double>(now.redo_done_us) / kPerSecond);
  out.gauge("swizzle_pages_allocated", "Pages of the data file in use.",
            number(now.pages_allocated));
}

void add_log(MetricFamilies& out, const EngineStatistics& now) {
  out.counter("swizzle_log_bytes_total", "Bytes of log records, since the database was made.",
              number(now.log_tail));
  out.gauge("swizzle_log_not_durable_bytes", "Bytes of log records that are not on disk yet.",
            number(now.log_tail - now.log_durable));
  out.counter("swizzle_log_written_bytes_total", "Bytes written to the log's files.",
              number(now.log_bytes_written));
  out.counter("swizzle_log_flushes_total", "Writes that made records durable.",
              number(now.log_flushes));
  out.counter("swizzle_log_commits_flushed_total",
              "Sessions that these writes let go on; over the flushes, the size of a group.",
              number(now.log_waiters_released));
  out.counter("swizzle_log_insert_groups_total",
              "Times that several inserts took room in the log together.",
              number(now.log_insert_groups));
  out.counter("swizzle_log_grouped_inserts_total", "Inserts that took room in this way.",
              number(now.log_grouped_inserts));
  out.histogram("swizzle_log_sync_duration_seconds", "Time of a durable write to the log.",
                now.log_sync_times);
  out.gauge("swizzle_log_archive_backlog", "Finished segments that wait for the archive.",
            number(now.archive_backlog));
  out.counter("swizzle_checkpoints_total", "Checkpoints taken.", number(now.checkpoints));
}

void add_transactions(MetricFamilies& out, const EngineStatistics& now) {
  out.counter("swizzle_transactions_total", "Transactions, by how they ended.", number(now.commits),
              {{"outcome", "commit"}});
  out.counter("swizzle_transactions_total", "", number(now.rollbacks), {{"outcome", "rollback"}});
  out.gauge("swizzle_prepared_transactions",
            "Transactions that are prepared and wait for their end.", number(now.prepared));
  for (const auto& [mode, waits] : now.lock_waits_by_mode) {
    out.counter("swizzle_lock_waits_total", "Waits for locks, by what was asked for.",
                number(waits), {{"mode", mode}});
  }
  out.counter("swizzle_deadlocks_total", "Deadlocks.", number(now.deadlocks));
  out.counter("swizzle_lock_timeouts_total", "Waits for locks that took too long.",
              number(now.lock_timeouts));
  out.counter("swizzle_lock_escalations_total", "Times that many locks became one on a table.",
              number(now.lock_escalations));
  out.gauge("swizzle_lock_bytes", "Memory of the lock table.", number(now.lock_bytes));
  out.gauge("swizzle_version_bytes", "Memory of old row versions that are kept for snapshots.",
            number(now.version_bytes));
  out.gauge("swizzle_version_file_bytes", "Files of old row versions that memory has no room for.",
            number(now.version_file_bytes));
  out.counter("swizzle_tidied_leaves_total",
              "Leaves that the background task or VACUUM looked at for removed records.",
              number(now.leaves_tidied));
  out.counter("swizzle_tidied_records_total", "Removed records that they took out of leaves.",
              number(now.ghosts_tidied));
  out.counter("swizzle_tidied_pages_total", "Pages that they gave back by merging leaves.",
              number(now.pages_tidied));
  out.gauge("swizzle_tidying_hints", "Ranges of keys whose leaves wait to be tidied.",
            number(now.tidying_hints));
  out.counter("swizzle_snapshots_too_old_total", "Snapshots given up for the store's bound.",
              number(now.snapshots_too_old));
  out.gauge("swizzle_undo_spilled_bytes", "Undo records of long transactions in files.",
            number(now.undo_spilled_bytes));
}

void add_memory(MetricFamilies& out, const sql::MemoryTotal& total) {
  out.gauge("swizzle_statement_memory_bytes", "Memory that sessions have for their statements.",
            number(total.used_bytes()));
  out.gauge("swizzle_statement_memory_limit_bytes", "What they may have together.",
            number(total.limit_bytes()));
}

void add_plans(MetricFamilies& out, const sql::SharedPlans::Counts& now) {
  out.gauge("swizzle_shared_plans", "Plans that are kept for all sessions.", number(now.plans));
  out.counter("swizzle_shared_plans_made_total", "Plans that sessions made for all.",
              number(now.made));
  out.counter("swizzle_shared_plans_taken_total",
              "Times that a session took a plan over and did not make it.", number(now.taken));
}

std::string numbers(const auto& values) {
  return fmt::format("[{}]", fmt::join(values, ","));
}

template <class Value>
void member(std::string& out, std::string_view name, const Value& value) {
  fmt::format_to(std::back_inserter(out), "{}\"{}\":{}", out.ends_with('{') ? "" : ",", name,
                 value);
}

}  // namespace

ServerMetrics::ServerMetrics(Sources sources) : sources_(sources), started_us_(wall_clock_us()) {}

std::vector<prometheus::MetricFamily> ServerMetrics::families() const {
  MetricFamilies out;
  const EngineStatistics now = sources_.engine.statistics();
  out.gauge("swizzle_start_time_seconds", "When the server started, since 1970.",
            static_cast<double>(started_us_) * 1e-6);
  out.gauge("swizzle_recovery_duration_seconds", "How long the start's recovery took.",
            std::chrono::duration<double>{sources_.recovery}.count());
  add_sessions(out, sources_.sessions.size(), sources_.database.session_counts());
  add_statements(out, sources_.statements.totals());
  add_reactors(out, sources_.reactors);
  add_memory(out, sources_.database.shared().memory);
  add_plans(out, sources_.database.shared().plans.counts());
  add_transactions(out, now);
  add_pool(out, now);
  add_log(out, now);
  return out.take();
}

std::string ServerMetrics::status_json() {
  const std::scoped_lock lock{status_mutex_};
  const TimePoint now = Runtime::current().now();
  if (status_.empty() || now >= status_made_ + kStatusFresh) {
    status_ = make_status_json();
    status_made_ = now;
  }
  return status_;
}

std::string ServerMetrics::make_status_json() const {
  const EngineStatistics now = sources_.engine.statistics();
  const sql::SessionCounts sessions = sources_.database.session_counts();
  const StatementMetrics::Totals statements = sources_.statements.totals();
  DurationHistogram::Counts all;
  for (const DurationHistogram::Counts& one : statements.latencies) all += one;
  std::uint64_t errors = 0;
  for (const std::uint64_t one : statements.errors) errors += one;
  std::string out{"{"};
  member(out, "now_us", wall_clock_us());
  member(out, "started_us", started_us_);
  member(out, "connections", sources_.sessions.size());
  member(out, "active", sessions.active);
  member(out, "idle_in_transaction", sessions.idle_in_transaction);
  member(out, "idle", sessions.idle);
  member(out, "statements", all.total());
  member(out, "statement_ns", all.sum_ns);
  member(out, "bounds_us", numbers(DurationHistogram::kBoundsUs));
  out += ",\"latency\":{";
  for (std::size_t kind = 0; kind < kStatementKinds; ++kind) {
    member(out, name_of(static_cast<StatementKind>(kind)),
           numbers(statements.latencies[kind].steps));
  }
  out += "},\"errors_by_class\":{";
  for (std::size_t i = 0; i < kErrorClasses.size(); ++i) {
    member(out, kErrorClasses[i], statements.errors[i]);
  }
  out += '}';
  member(out, "errors", errors);
  member(out, "commits", now.commits);
  member(out, "rollbacks", now.rollbacks);
  member(out, "frames", now.pool_frames);
  member(out, "free", now.pool_free_frames);
  member(out, "swizzled", now.pool_swizzled);
  member(out, "unswizzled", now.pool_unswizzled);
  member(out, "pages_read", now.pages_read);
  member(out, "pages_written", now.pages_written);
  member(out, "evictions", now.pages_evicted);
  member(out, "leaf_requests", now.leaf_requests);
  member(out, "pages_read_ahead", now.pages_read_ahead);
  member(out, "log_bytes", now.log_tail);
  member(out, "log_not_durable", now.log_tail - now.log_durable);
  member(out, "log_flushes", now.log_flushes);
  member(out, "log_waiters", now.log_waiters_released);
  member(out, "log_sync_ns", now.log_sync_times.sum_ns);
  member(out, "log_syncs", now.log_sync_times.total());
  member(out, "log_sync_steps", numbers(now.log_sync_times.steps));
  member(out, "checkpoints", now.checkpoints);
  member(out, "checkpoints_by_time", now.checkpoints_by_time);
  member(out, "archive_backlog", now.archive_backlog);
  member(out, "recovery_us", sources_.recovery.count() / 1'000);
  member(out, "lock_waits", now.lock_waits);
  member(out, "deadlocks", now.deadlocks);
  member(out, "lock_timeouts", now.lock_timeouts);
  member(out, "lock_bytes", now.lock_bytes);
  member(out, "prepared", now.prepared);
  member(out, "pages_allocated", now.pages_allocated);
  member(out, "undo_spilled", now.undo_spilled_bytes);
  member(out, "snapshots_too_old", now.snapshots_too_old);
  member(out, "tidying_hints", now.tidying_hints);
  member(out, "memory_used", sources_.database.shared().memory.used_bytes());
  member(out, "memory_limit", sources_.database.shared().memory.limit_bytes());
  std::uint64_t stalls = 0;
  for (std::size_t i = 0; i < sources_.reactors.reactor_count(); ++i) {
    stalls += sources_.reactors.stalls_of(i).count;
  }
  member(out, "stalls", stalls);
  member(out, "version_bytes", now.version_bytes);
  std::vector<std::uint32_t> trees;
  for (const TreeId tree : now.pool_map_trees) trees.push_back(raw(tree));
  member(out, "trees", numbers(trees));
  member(out, "map", '"' + now.pool_map + '"');
  out += '}';
  return out;
}

}  // namespace swizzle::server

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <vector>

#include "base/runtime/long_work.h"
#include "base/settings/setting_value.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/analyze.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/statement/names/heirs.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/statement/statement_options.h"

/// VACUUM and ANALYZE.
namespace swizzle::sql {
namespace {

/// Storage removes ghosts in the background anyway. VACUUM does it at once for a whole table; FULL
/// also returns free space at the end of the data file to the file system; ANALYZE collects
/// statistics. Other options are only checked, as in PostgreSQL.
struct VacuumOptions {
  bool analyze = false;
  bool full = false;
  bool disable_page_skipping = false;
  bool process_main = true;
  bool process_toast = true;
  bool limits_buffers = false;
  bool only_database_statistics = false;
  bool skip_locked = false;
  bool verbose = false;
  int workers = 0;
};

int read_workers(const ast::DefElem& option) {
  constexpr int kMost = 1024;
  const auto refuse = [&](std::string_view what) {
    throw sql_error(sqlstate::syntax_error, "{} between 0 and {}", what, kMost)
        .at_position(option.location + 1);
  };
  if (option.arg == nullptr) refuse("parallel option requires a value");
  const std::int32_t workers = option_integer(option);
  if (workers < 0 || workers > kMost) refuse("parallel workers for vacuum must be");
  return workers;
}

/// Checks INDEX_CLEANUP, which accepts "auto" as well.
void check_index_cleanup(const ast::DefElem& option) {
  const auto* word = ast::try_as<ast::String>(option.arg);
  if (word == nullptr || word->sval != "auto") static_cast<void>(option_flag(option));
}

std::optional<std::int64_t> size_in_kilobytes(const ast::DefElem& option) {
  std::string text;
  if (const auto* word = ast::try_as<ast::String>(option.arg)) {
    text = word->sval;
  } else {
    text = std::to_string(option_integer(option));
  }
  const auto size =
      parse_integer_setting(option.defname, text, SettingUnit::kilobytes, {0, INT32_MAX});
  return size ? std::optional{*size} : std::nullopt;
}

/// Checks BUFFER_USAGE_LIMIT: kilobytes, or a text with a unit. Scans have no ring of buffers here.
void check_buffer_usage_limit(const ast::DefElem& option) {
  constexpr std::int64_t kLeast = 128;
  constexpr std::int64_t kMost = 16'777'216;
  const auto kilobytes = size_in_kilobytes(option);
  if (kilobytes && (*kilobytes == 0 || (*kilobytes >= kLeast && *kilobytes <= kMost))) return;
  throw_error(sqlstate::invalid_parameter_value, "{} option must be 0 or between {} kB and {} kB",
              "BUFFER_USAGE_LIMIT", kLeast, kMost);
}

VacuumOptions read_options(const ast::VacuumStmt& statement) {
  VacuumOptions options;
  options.analyze = !statement.is_vacuumcmd;
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    const std::string_view name = option.defname;
    if (name == "verbose") {
      options.verbose = option_flag(option);
    } else if (name == "skip_locked") {
      options.skip_locked = option_flag(option);
    } else if (name == "buffer_usage_limit") {
      check_buffer_usage_limit(option);
      options.limits_buffers = true;
    } else if (!statement.is_vacuumcmd) {
      refuse_option("ANALYZE", option);
    } else if (name == "analyze") {
      options.analyze = option_flag(option);
    } else if (name == "full") {
      options.full = option_flag(option);
    } else if (name == "disable_page_skipping") {
      options.disable_page_skipping = option_flag(option);
    } else if (name == "process_toast") {
      options.process_toast = option_flag(option);
    } else if (name == "process_main") {
      options.process_main = option_flag(option);
    } else if (name == "only_database_stats") {
      options.only_database_statistics = option_flag(option);
    } else if (name == "freeze" || name == "truncate" || name == "skip_database_stats") {
      static_cast<void>(option_flag(option));
    } else if (name == "index_cleanup") {
      check_index_cleanup(option);
    } else if (name == "parallel") {
      options.workers = read_workers(option);
    } else {
      refuse_option("VACUUM", option);
    }
  }
  return options;
}

[[noreturn]] void refuse(std::string_view message) {
  throw SqlError{sqlstate::feature_not_supported, std::string{message}};
}

void check_columns(const Table& table, ast::NodeList columns) {
  std::vector<std::string_view> seen;
  for (const ast::Node* node : columns) {
    const std::string_view name = ast::string_of(node);
    if (!table.column_position(name)) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  name, table.relation.name);
    }
    if (std::ranges::find(seen, name) != seen.end()) {
      throw_error(SqlState{"42701"}, "column \"{}\" of relation \"{}\" appears more than once",
                  name, table.relation.name);
    }
    seen.push_back(name);
  }
}

bool owns_this_database(const StatementContext& session) {
  const DatabasePtr database = session.catalog.database(session.options.database);
  return database && session.rights.owns(database->owner);
}

/// Returns the warning with which a named table is skipped; nothing if it is not skipped.
std::optional<std::string> reason_to_skip(const StatementContext& session, const Table& table,
                                          std::string_view verb) {
  if (!owns_this_database(session) && !session.rights.may_maintain(table)) {
    return fmt::format("permission denied to {} \"{}\", skipping it", verb, table.relation.name);
  }
  if (table.computed != nullptr || keeps_rows(table.relation.kind) ||
      table.relation.is_partitioned()) {
    return std::nullopt;
  }
  return fmt::format("skipping \"{}\" --- cannot {} non-tables or special system tables",
                     table.relation.name, verb);
}

/// Checks ONLY_DATABASE_STATS, after which there is nothing to do: no statistics are kept per
/// database.
void check_only_database_statistics(const ast::VacuumStmt& statement) {
  if (!statement.rels.empty()) {
    refuse("ONLY_DATABASE_STATS cannot be specified with a list of tables");
  }
  for (const ast::Node* node : statement.options) {
    const std::string_view name = ast::as<ast::DefElem>(node).defname;
    if (name == "full" || name == "freeze" || name == "analyze" || name == "skip_locked" ||
        name == "disable_page_skipping") {
      refuse("ONLY_DATABASE_STATS cannot be specified with other VACUUM options");
    }
  }
}

/// A table of the statement, or a partition of one.
struct VacuumTarget {
  TablePtr table;
  ast::NodeList columns;
  bool is_named = true;
};

/// Locks the table and returns its current version; null if it is skipped, with a warning if the
/// statement names it. Pre: the user may vacuum it.
TablePtr lock_target(StatementContext& session, const VacuumTarget& target, bool skips_locked,
                     std::string_view verb, ResultSink& sink) {
  const Oid oid = target.table->relation.oid;
  const auto skip = [&](SqlState state, std::string_view reason) {
    if (!target.is_named) return;
    session.notice(
        sink, Severity::warning, state,
        fmt::format("skipping {} of \"{}\" --- {}", verb, target.table->relation.name, reason));
  };
  const bool locked = value_of(session.transaction->lock_relation(
      lock::RelationId{oid}, lock::RelationMode::share_update_exclusive,
      skips_locked ? WaitPolicy::skip : WaitPolicy::wait));
  if (!locked) {
    skip(sqlstate::lock_not_available, "lock not available");
    return {};
  }
  TablePtr now = session.catalog.table(oid);
  if (!now) skip(sqlstate::undefined_table, "relation no longer exists");
  return now;
}

TidiedTree tidy_tree(StatementContext& session, TreeId tree) {
  // Storage does not pass exceptions on: keep it until the call has returned.
  std::exception_ptr cancelled;
  auto tidied = session.shared.engine.tidy(tree, [&] {
    try {
      session.check_cancelled();
      return true;
    } catch (const SqlError&) {
      cancelled = std::current_exception();
      return false;
    }
  });
  if (cancelled) std::rethrow_exception(cancelled);
  return value_of(std::move(tidied));
}

/// Removes ghosts from a table and its indexes. Reports its work to `told`, unless null.
void tidy_table(StatementContext& session, const Table& table, ResultSink* told) {
  const TidiedTree rows = tidy_tree(session, table.relation.tree);
  TidiedTree entries;
  for (const Index& index : table.relation.indexes) {
    if (index.orders_rows()) continue;  // the table itself is this index
    const TidiedTree one = tidy_tree(session, index.tree);
    entries.leaves += one.leaves;
    entries.ghosts_removed += one.ghosts_removed;
    entries.ghosts_left += one.ghosts_left;
    entries.pages_freed += one.pages_freed;
  }
  TableRuntime& runtime = *table.runtime;
  runtime.dead_rows.store(rows.ghosts_left, std::memory_order_relaxed);
  runtime.vacuumed_by_users.last.store(session.session_context.clock(), std::memory_order_relaxed);
  runtime.vacuumed_by_users.count.fetch_add(1, std::memory_order_relaxed);
  if (told == nullptr) return;
  session.notice(*told, Severity::info, SqlState{"00000"},
                 fmt::format("finished vacuuming \"{}.{}.{}\": index entries: {} removed\n"
                             "pages: {} removed, {} remain\n"
                             "tuples: {} removed, {} are dead but not yet removable",
                             session.options.database, session.schema_name(table.relation.schema),
                             table.relation.name, entries.ghosts_removed,
                             rows.pages_freed + rows.overflow_pages_freed + entries.pages_freed,
                             rows.leaves + entries.leaves - rows.pages_freed - entries.pages_freed,
                             rows.ghosts_removed, rows.ghosts_left));
}

/// Stores the exact number of rows that VACUUM has found, if it has changed.
void keep_row_count(StatementContext& session, const TablePtr& table) {
  TableRuntime& runtime = *table->runtime;
  const std::int64_t delta = runtime.row_delta();
  const std::int64_t counted = runtime.analyzed_delta.load(std::memory_order_relaxed);
  if (table->relation.estimated_rows < 0 || delta == counted) return;
  const TablePtr locked = session.catalog.lock_for_change(
      *session.transaction, table, lock::RelationMode::share_update_exclusive);
  Relation relation = locked->relation;
  const auto more = static_cast<double>(delta - counted);
  relation.estimated_rows = std::max(0.0, relation.estimated_rows + more);
  const TreeId tree = relation.tree;
  relation.estimated_pages =
      static_cast<std::int64_t>(value_of(session.shared.engine.size_of(tree)).pages);
  session.catalog.replace(*session.transaction, *locked, std::move(relation));
  runtime.analyzed_delta.store(delta, std::memory_order_relaxed);
}

}  // namespace

void vacuum_tables(StatementContext& session, const ast::VacuumStmt& statement, ResultSink& sink) {
  const VacuumOptions wanted = read_options(statement);
  if (wanted.full && wanted.workers > 0) refuse("VACUUM FULL cannot be performed in parallel");
  const auto names_columns = [](const ast::Node* node) {
    return !ast::as<ast::VacuumRelation>(node).va_cols.empty();
  };
  if (!wanted.analyze && std::ranges::any_of(statement.rels, names_columns)) {
    refuse("ANALYZE option must be specified when a column list is provided");
  }
  if (statement.is_vacuumcmd) session.transaction.prevent_in_block("VACUUM");
  if (wanted.full && wanted.disable_page_skipping) {
    refuse("VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL");
  }
  if (wanted.limits_buffers && wanted.full && !wanted.analyze) {
    refuse("BUFFER_USAGE_LIMIT cannot be specified for VACUUM FULL");
  }
  if (wanted.only_database_statistics) {
    check_only_database_statistics(statement);
    return;
  }
  if (wanted.full && !wanted.process_toast) refuse("PROCESS_TOAST required with VACUUM FULL");

  Arena arena;
  Binder binder{session.names, arena};
  // Returning the end of the data file requires the right to vacuum some table.
  bool may_vacuum = statement.rels.empty() && owns_this_database(session);
  const std::string_view verb = statement.is_vacuumcmd ? "vacuum" : "analyze";
  const auto look_at = [&](const VacuumTarget& target, bool locks) {
    // There may be thousands of relations, and nothing in the loop waits.
    constexpr std::size_t kWorkOfRelation = 50'000;
    yield_point(kWorkOfRelation);
    if (const auto reason = reason_to_skip(session, *target.table, verb)) {
      return session.notice(sink, Severity::warning, SqlState{"01000"}, *reason);
    }
    may_vacuum = true;
    TablePtr table = target.table;
    // A partitioned table has no rows, and locking it would block changes of its partitions.
    if (locks && table->computed == nullptr && keeps_rows(table->relation.kind)) {
      table = lock_target(session, target, wanted.skip_locked, verb, sink);
      if (!table) return;
    }
    check_columns(*table, target.columns);
    if (statement.is_vacuumcmd && wanted.process_main && table->computed == nullptr &&
        keeps_rows(table->relation.kind)) {
      tidy_table(session, *table, wanted.verbose ? &sink : nullptr);
      if (!wanted.analyze) keep_row_count(session, table);
    }
    if (wanted.analyze && keeps_rows(table->relation.kind)) analyze_table(session, table);
  };
  std::vector<VacuumTarget> targets;
  for (const ast::Node* node : statement.rels) {
    const auto& named = ast::as<ast::VacuumRelation>(node);
    if (!named.relation->inh) {
      throw SqlError{sqlstate::feature_not_supported, "VACUUM or ANALYZE of ONLY is not supported"};
    }
    const TablePtr table = binder.require_relation(*named.relation);
    targets.push_back({table, named.va_cols});
    for (const TablePtr& one : with_parts(session, table)) {
      if (one->relation.oid != table->relation.oid) targets.push_back({one, named.va_cols, false});
    }
  }
  for (const VacuumTarget& target : targets) look_at(target, true);
  if (statement.rels.empty()) {
    // Reads all relations: the statement is about all of them.
    for (const TablePtr& table : session.catalog.tables()) {
      if (!keeps_rows(table->relation.kind)) continue;
      try {
        // Do not lock them, except for SKIP_LOCKED: the locks would be held until the end of the
        // statement and block changes of every table.
        look_at({table, {}, false}, wanted.skip_locked);
      } catch (const SqlError& error) {
        // A table that was dropped meanwhile: the statement did not name it.
        if (error.state() != sqlstate::undefined_table) throw;
      }
    }
  }
  if (wanted.full && may_vacuum) {
    value_of(session.shared.engine.shrink());
    // The wait for dropped trees' pages ends early when the statement is to end.
    session.check_cancelled();
  }
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/session/functions/session_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ranges>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/definitions/indexes/verify_entries.h"
#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/rows_cursor.h"
#include "sql-lite-frontend/routines/functions.h"
#include "sql-lite-frontend/session/functions/listening.h"
#include "sql-lite-frontend/session/shared/postgres_version.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/command_progress.h"
#include "sql-lite-frontend/statement/rights/session_user.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "storage/statistics.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value text(Execution& execution, std::string_view value) {
  return make_text(execution.row_arena, value);
}

TablePtr sequence_named(Session::State& session, Oid oid) {
  TablePtr table = session.names.table(oid);
  if (!table || !table->relation.sequence) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is not a sequence",
                table ? table->relation.name : std::to_string(oid));
  }
  return table;
}
TablePtr sequence_named(Execution& execution, Oid oid) {
  return sequence_named(session_of(execution), oid);
}

/// True if the user has one of the privileges.
bool has_any(Session::State& session, const TablePtr& sequence, Privileges privileges) {
  if (session.rights.is_superuser(session.user)) return true;
  const Relation& relation = sequence->relation;
  const AccessList list{relation.grants, relation.owner, GrantedOn::sequence};
  return (list.allowed(session.rights.roles_of(session.user)) & privileges) != 0;
}

/// One of the two is enough; the error is about the second.
void require_any(Session::State& session, const TablePtr& sequence, Privileges one,
                 Privileges other) {
  if (!has_any(session, sequence, one)) session.rights.require(sequence, other);
}

void require_writable(Session::State& session, const Table& sequence, std::string_view function) {
  if (sequence.relation.persistence == Persistence::temporary) return;
  session.transaction.require_read_write(function);
}

/// Keeps definitions of the sequence from changing until the transaction ends, as PostgreSQL does.
/// Returns the sequence as it is then.
TablePtr locked_sequence(Session::State& session, const TablePtr& sequence) {
  const Relation& relation = sequence->relation;
  if (relation.persistence == Persistence::temporary) return sequence;
  const lock::RelationId id{relation.oid};
  constexpr auto kMode = lock::RelationMode::row_exclusive;
  if (value_of(session.transaction->lock_relation(id, kMode, WaitPolicy::skip))) [[likely]]
    return sequence;
  value_of(session.transaction->lock_relation(id, kMode, WaitPolicy::wait));
  TablePtr now = session.catalog.table(relation.oid);
  if (!now)
    throw_error(sqlstate::undefined_table, "could not open relation with OID {}", relation.oid);
  return now;
}

Value next_of(Session::State& session, const TablePtr& found) {
  require_writable(session, *found, "nextval()");
  const TablePtr sequence = locked_sequence(session, found);
  SequenceUse& use = session.sequence_uses[sequence->relation.oid];
  use.last_value = session.shared.sequences.next(session.catalog.of_database(), sequence->relation,
                                                 *session.transaction, use.handle);
  session.last_sequence = sequence->relation.oid;
  return Value::from_int(*use.last_value);
}

Value nextval(Execution& execution, Arguments arguments) {
  const TablePtr sequence = sequence_named(execution, arguments[0].as_oid());
  require_any(session_of(execution), sequence, privilege::kUsage, privilege::kUpdate);
  return next_of(session_of(execution), sequence);
}

Value identity_value(Execution& execution, Arguments arguments) {
  return next_of(session_of(execution), sequence_named(execution, arguments[0].as_oid()));
}

Value currval(Execution& execution, Arguments arguments) {
  const TablePtr sequence = sequence_named(execution, arguments[0].as_oid());
  require_any(session_of(execution), sequence, privilege::kUsage, privilege::kSelect);
  const auto found = session_of(execution).sequence_uses.find(sequence->relation.oid);
  if (found == session_of(execution).sequence_uses.end() || !found->second.last_value) {
    throw_error(sqlstate::object_not_in_prerequisite_state,
                "currval of sequence \"{}\" is not yet defined in this session",
                sequence->relation.name);
  }
  return Value::from_int(*found->second.last_value);
}

/// Returns a sequence's row, as reading it as a table shows it.
SequenceState sequence_state(Execution& execution, Oid oid) {
  Session::State& session = session_of(execution);
  const TablePtr sequence = sequence_named(execution, oid);
  require_any(session, sequence, privilege::kUsage, privilege::kSelect);
  return session.shared.sequences.state(session.catalog.of_database(), sequence->relation);
}
Value sequence_value(Execution& execution, Arguments arguments) {
  return Value::from_int(sequence_state(execution, arguments[0].as_oid()).last_value);
}
Value sequence_is_called(Execution& execution, Arguments arguments) {
  return Value::from_bool(sequence_state(execution, arguments[0].as_oid()).is_called);
}
/// NULL before the first nextval, and for a user who may not see it.
Value sequence_last_value(Execution& execution, Arguments arguments) {
  const TablePtr sequence = sequence_named(execution, arguments[0].as_oid());
  if (!has_any(session_of(execution), sequence, privilege::kUsage | privilege::kSelect))
    return Value::null();
  const SequenceState state = sequence_state(execution, arguments[0].as_oid());
  return state.is_called ? Value::from_int(state.last_value) : Value::null();
}

/// The state of a sequence, for dumps; NULL for a user who may not see it.
std::unique_ptr<SetCursor> sequence_data(FunctionContext& context, Arguments arguments) {
  Session::State& session = session_of(context);
  const TablePtr sequence = sequence_named(session, arguments[0].as_oid());
  std::array row{Value::null(), Value::null()};
  if (has_any(session, sequence, privilege::kSelect)) {
    const SequenceState state =
        session.shared.sequences.state(session.catalog.of_database(), sequence->relation);
    row = {Value::from_int(state.last_value), Value::from_bool(state.is_called)};
  }
  constexpr std::array kTypes{TypeId::int8, TypeId::bool_};
  return rows_cursor({make_record(context.arena, kTypes, row)});
}

Value lastval(Execution& execution, Arguments) {
  const auto& last = session_of(execution).last_sequence;
  if (!last || !session_of(execution).catalog.table(*last)) {
    throw SqlError{sqlstate::object_not_in_prerequisite_state,
                   "lastval is not yet defined in this session"};
  }
  require_any(session_of(execution), sequence_named(execution, *last), privilege::kUsage,
              privilege::kSelect);
  return Value::from_int(*session_of(execution).sequence_uses.at(*last).last_value);
}

Value setval(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  const TablePtr found = sequence_named(execution, arguments[0].as_oid());
  require_writable(session, *found, "setval()");
  session.rights.require(found, privilege::kUpdate);
  const TablePtr sequence = locked_sequence(session, found);
  const SequenceDefinition& definition = *sequence->relation.sequence;
  const std::int64_t value = arguments[1].as_int8();
  if (value < definition.minimum || value > definition.maximum) {
    throw_error(sqlstate::numeric_value_out_of_range,
                "setval: value {} is out of bounds for sequence \"{}\" ({}..{})", value,
                sequence->relation.name, definition.minimum, definition.maximum);
  }
  const bool called = arguments.size() < 3 || arguments[2].as_bool();
  session.shared.sequences.set(session.catalog.of_database(), sequence->relation,
                               *session.transaction, value, called);
  if (called) session.sequence_uses[sequence->relation.oid].last_value = value;
  return Value::from_int(value);
}

Value serial_sequence(Execution& execution, Arguments arguments) {
  const auto parts = split_identifier(arguments[0].as_text());
  const std::string_view schema =
      parts.size() > 1 ? std::string_view{parts[0]} : std::string_view{};
  const TablePtr table = session_of(execution).names.find_table(schema, parts.back());
  if (!table) {
    throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist",
                arguments[0].as_text());
  }
  const auto position = table->column_position(arguments[1].as_text());
  if (!position) {
    throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                arguments[1].as_text(), table->relation.name);
  }
  for (const TablePtr& other : session_of(execution).catalog.sequences_of(table->relation.oid)) {
    if (other->relation.sequence->owner_column == static_cast<std::int16_t>(*position + 1)) {
      return text(execution, session_of(execution).names.qualified_name(*other));
    }
  }
  return Value::null();
}

/// Returns the ctid under which a row is found now, for the ODBC driver: updates do not change it.
Value latest_ctid(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  const auto parts = split_identifier(arguments[0].as_text());
  const std::string_view schema =
      parts.size() > 1 ? std::string_view{parts[0]} : std::string_view{};
  const TablePtr table = session.names.find_table(schema, parts.back());
  if (!table) {
    throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist",
                arguments[0].as_text());
  }
  session.rights.require(table, privilege::kSelect);
  if (table->relation.kind == RelationKind::view) {
    throw SqlError{sqlstate::feature_not_supported, "currtid cannot handle views with no CTID"};
  }
  if (!table->tree) {
    throw_error(sqlstate::feature_not_supported,
                "cannot look at latest visible tid for relation \"{}.{}\"",
                session.names.schema_name(table->relation.schema), table->relation.name);
  }
  return arguments[1];
}

Value current_user(Execution& execution, Arguments) {
  return text(execution, current_user_name(session_of(execution)));
}
Value session_user(Execution& execution, Arguments) {
  return text(execution, session_user_name(session_of(execution)));
}
Value current_database(Execution& execution, Arguments) {
  return text(execution, session_of(execution).options.database);
}
/// True for the schemas that the search path contains implicitly: pg_catalog and the session's
/// temporary one.
bool is_implicit(Session::State& session, Oid schema) {
  const bool is_temporary = schema == session.names.temp_schema;
  if (schema != kPgCatalogSchema && !is_temporary) return false;
  const std::string_view name = is_temporary ? "pg_temp" : "pg_catalog";
  const std::string path = session.settings.text("search_path");
  return std::ranges::none_of(std::views::split(path, ','), [&](const auto& part) {
    std::string_view word = trim_space(std::string_view{part.begin(), part.end()});
    if (word.size() > 1 && word.starts_with('"')) word = word.substr(1, word.size() - 2);
    return equals_ignoring_case(word, name);
  });
}

Value current_schema(Execution& execution, Arguments) {
  Session::State& session = session_of(execution);
  // The temporary schema is made when it is the current one.
  const std::string path = session.settings.text("search_path");
  if (trim_space(std::string_view{path}.substr(0, path.find(','))) == "pg_temp") {
    static_cast<void>(session.names.temporary_schema());
  }
  for (const Oid oid : session.names.search_path()) {
    if (!is_implicit(session, oid)) return text(execution, session.names.schema_name(oid));
  }
  return Value::null();
}
Value current_schemas(Execution& execution, Arguments arguments) {
  std::vector<Value> names;
  for (const Oid oid : session_of(execution).names.search_path()) {
    if (!arguments[0].as_bool() && is_implicit(session_of(execution), oid)) continue;
    names.push_back(text(execution, session_of(execution).names.schema_name(oid)));
  }
  return make_array(execution.row_arena, TypeId::name, names);
}
Value backend_pid(Execution& execution, Arguments) {
  return Value::from_int(session_of(execution).options.backend_pid);
}
Value version(Execution& execution, Arguments) {
  return text(execution,
              fmt::format("PostgreSQL {} on x86_64-pc-linux-gnu, compiled by gcc, 64-bit",
                          server_version()));
}
/// Of all tables of the database, or of one table or index.
Value reset_statistics(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  if (!session.rights.is_superuser(session.user)) {
    throw sql_error(SqlState{"42501"}, "permission denied for function {}",
                    arguments.empty() ? "pg_stat_reset" : "pg_stat_reset_single_table_counters");
  }
  Engine& engine = session.shared.engine;
  std::vector<TablePtr> tables;
  if (arguments.empty()) {
    // Reads all relations: it restarts the counters of all of them.
    tables = session.catalog.tables();
  } else {
    const Oid number = arguments[0].as_oid();
    for (TablePtr table :
         {session.catalog.table(number), session.catalog.table_with_index(number)}) {
      if (table) tables.push_back(std::move(table));
    }
  }
  for (const TablePtr& table : tables) {
    const bool is_meant = arguments.empty() || arguments[0].as_oid() == table->relation.oid;
    if (is_meant && table->runtime)
      reset_counters(engine, table->runtime->counters, table->relation.tree);
    for (const IndexAccess& access : table->indexes) {
      const bool index_is_meant = arguments.empty() || arguments[0].as_oid() == access.index->oid;
      if (index_is_meant) reset_counters(engine, *access.counters, access.index->tree);
    }
  }
  if (arguments.empty()) {
    session.catalog.of_database().forget_rows_of_dropped();
    session.shared.reset_usage(session.catalog.of_database().database());
  }
  return text(execution, "");
}
/// Of one subscription, or (NULL) of all.
Value reset_subscription_counts(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  if (!session.rights.is_superuser(session.user)) {
    throw SqlError{SqlState{"42501"},
                   "permission denied for function pg_stat_reset_subscription_stats"};
  }
  session.shared.subscription_workers.reset_counts(
      arguments[0].is_null() ? kNoOid : arguments[0].as_oid(), SessionContext::system_clock_now());
  return text(execution, "");
}
Value current_setting(Execution& execution, Arguments arguments) {
  const auto value = session_of(execution).variables.shown_value(arguments[0].as_text());
  if (value) return text(execution, *value);
  // Missing is one thing, secret another.
  const bool secret = value.error().state() == sqlstate::insufficient_privilege;
  if (!secret && arguments.size() > 1 && arguments[1].as_bool()) return Value::null();
  throw SqlError{Error{value.error().state(), value.error().message()}};
}
Value set_config(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  if (arguments[0].is_null()) {
    throw SqlError{sqlstate::null_value_not_allowed, "SET requires parameter name"};
  }
  const std::string_view name = arguments[0].as_text();
  const bool is_local = !arguments[2].is_null() && arguments[2].as_bool();
  const auto lifetime =
      is_local ? SessionSettings::Lifetime::transaction : SessionSettings::Lifetime::session;
  if (arguments[1].is_null()) {
    session.variables.reset(name);
  } else {
    session.variables.apply(name, arguments[1].as_text(), lifetime);
  }
  return text(execution, value_of(session.settings.show(name)));
}
void require_superuser(const Session::State& session, std::string_view function) {
  if (session.rights.is_superuser(session.user)) return;
  throw_error(sqlstate::insufficient_privilege, "permission denied for function {}", function);
}
Value always_null(Execution&, Arguments) {
  return Value::null();
}
Value reload_configuration(Execution& execution, Arguments) {
  require_superuser(session_of(execution), "pg_reload_conf");
  const auto& request = session_of(execution).shared.request_reload;
  if (request) request();
  return Value::from_bool(static_cast<bool>(request));
}
/// Locks a table and compares its indexes' entries with its rows. One that another session is
/// defining anew is left out unless it is the only one asked for.
void add_entry_findings(Session::State& session, Oid oid, WaitPolicy wait,
                        std::vector<std::string>& findings) {
  if (!value_of(session.transaction->lock_relation(lock::RelationId{oid},
                                                   lock::RelationMode::access_share, wait))) {
    return;
  }
  const TablePtr table = session.catalog.table(oid);
  if (!table || !table->tree) return;
  for (std::string& line : verify_entries(session, table)) findings.push_back(std::move(line));
}

/// Returns the engine's findings and those about entries of indexes, a line each; empty if all
/// rules hold.
Value verify(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  require_superuser(session, "swizzle_verify");
  std::vector<std::string> findings;
  if (arguments.empty()) {
    findings = value_of(session.shared.engine.verify(std::nullopt));
    // Reads all relations: all of them are verified.
    for (const TablePtr& table : session.catalog.tables())
      add_entry_findings(session, table->relation.oid, WaitPolicy::skip, findings);
  } else {
    const TablePtr table = session.names.table(arguments[0].as_oid());
    if (!table || !table->tree)
      throw SqlError{sqlstate::wrong_object_type, "only tables can be verified"};
    findings = value_of(session.shared.engine.verify(table->relation.tree));
    add_entry_findings(session, table->relation.oid, WaitPolicy::wait, findings);
  }
  return text(execution, fmt::format("{}", fmt::join(findings, "\n")));
}
/// Sets the progress of PostgreSQL's base backup: the data file is its one tablespace.
void note_backup(CommandProgress& progress, const RecoveryProgress& now) {
  if (now.phase == "checkpoint") {
    progress.set(CommandProgress::backup_phase, CommandProgress::kBackupCheckpoint);
  } else if (now.phase == "backup") {
    progress.set(CommandProgress::backup_phase, CommandProgress::kBackupPages);
    progress.set(CommandProgress::backup_bytes_all, now.total);
    progress.set(CommandProgress::backup_bytes_done, now.done);
    progress.set(CommandProgress::backup_tablespaces_all, 1);
  } else if (now.phase == "log") {
    progress.set(CommandProgress::backup_phase, CommandProgress::kBackupLog);
    progress.set(CommandProgress::backup_tablespaces_done, 1);
  }
}
Value back_up(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  require_superuser(session, "swizzle_backup");
  if (!session.shared.back_up) {
    throw SqlError{sqlstate::feature_not_supported, "there is no server to be backed up"};
  }
  CommandProgress progress{session, CommandProgress::Command::backup, kNoOid};
  progress.set(CommandProgress::backup_bytes_all, CommandProgress::kUnknown);
  std::string since;
  if (arguments.size() > 1) {
    since = arguments[1].as_text();
    // Without a name it would be a full backup.
    if (since.empty())
      throw SqlError{SqlState{"42602"}, "backup directory \"\" is not an absolute path"};
  }
  return text(execution, value_of(session.shared.back_up(
                             std::string{arguments[0].as_text()}, since,
                             [&](const RecoveryProgress& now) { note_backup(progress, now); })));
}
Value own_temporary_schema(Execution& execution, Arguments) {
  return Value::from_oid(session_of(execution).names.temp_schema);
}
Value text_of_request(Execution& execution, Arguments) {
  return text(execution, session_of(execution).current_query);
}
/// This server follows no other, so there is nothing to pause or to end.
Value refuse_recovery(Execution&, Arguments) {
  throw SqlError{sqlstate::object_not_in_prerequisite_state, "recovery is not in progress"}
      .with_hint("Recovery control functions can only be executed during recovery.");
}
/// Returns true if the table's policies apply to the user. Ignores row_security.
Value security_of_rows(Execution& execution, Arguments arguments) {
  const std::string_view name = arguments[0].as_text();
  std::uint32_t oid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), oid);
  const bool is_number = error == std::errc{} && end == name.data() + name.size();
  if (!is_number) {
    const auto found = session_of(execution).names.find(TypeId::regclass, name);
    if (!found) throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", name);
    oid = *found;
  }
  const TablePtr table = session_of(execution).names.table(oid);
  return Value::from_bool(table && session_of(execution).names.hides_rows(*table));
}
Value nothing(Execution& execution, Arguments) {
  return text(execution, "");
}
Value start_time(Execution& execution, Arguments) {
  return Value::from_int(session_of(execution).shared.started_at.load());
}
/// On a standby the log is another server's.
void require_no_recovery(Execution& execution) {
  if (!session_of(execution).shared.engine.is_standby()) return;
  throw SqlError{sqlstate::object_not_in_prerequisite_state, "recovery is in progress"}.with_hint(
      "WAL control functions cannot be executed during recovery.");
}
Value is_in_recovery(Execution& execution, Arguments) {
  return Value::from_bool(session_of(execution).shared.engine.is_standby());
}
Value log_received(Execution& execution, Arguments) {
  const auto& standby = session_of(execution).shared.standby;
  if (!standby.received) return Value::null();
  return Value::from_int(static_cast<std::int64_t>(raw(standby.received())));
}
/// The place in the log that readers see.
Value log_replayed(Execution& execution, Arguments) {
  const auto& standby = session_of(execution).shared.standby;
  if (!standby.replayed) return Value::null();
  return Value::from_int(static_cast<std::int64_t>(raw(standby.replayed())));
}
Value replayed_at(Execution& execution, Arguments) {
  const auto& standby = session_of(execution).shared.standby;
  const std::int64_t unix_us = standby.replayed_at_us ? standby.replayed_at_us() : 0;
  if (unix_us == 0) return Value::null();
  return Value::from_int(unix_us - kUnixEpochDays * kMicrosPerDay);
}
Value replay_paused(Execution& execution, Arguments arguments) {
  const auto& standby = session_of(execution).shared.standby;
  if (!standby.is_paused) return refuse_recovery(execution, arguments);
  return Value::from_bool(standby.is_paused());
}
Value replay_pause_state(Execution& execution, Arguments arguments) {
  const auto& standby = session_of(execution).shared.standby;
  if (!standby.is_paused) return refuse_recovery(execution, arguments);
  return text(execution, standby.is_paused() ? "paused" : "not paused");
}
template <bool pauses>
Value pause_replay(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  require_superuser(session, pauses ? "pg_wal_replay_pause" : "pg_wal_replay_resume");
  if (!session.shared.standby.pause) return refuse_recovery(execution, arguments);
  session.shared.standby.pause(pauses);
  return Value::null();
}
/// Waiting, it lets redo and the promotion go by, so nothing of the statement may depend on what is
/// read: no table, no view of an earlier statement.
void require_may_await_promotion(Session::State& session) {
  const bool holds_view =
      session.transaction.keeps_view(false) || session.transaction->keeps_views();
  const bool is_alone = session.tables_in_use.is_of_one_run_without_tables() &&
                        session.call_places.empty() && session.executes_running == 0;
  if (!holds_view && is_alone) return;
  throw SqlError{sqlstate::feature_not_supported,
                 "pg_promote cannot wait in a statement that reads tables, in a routine, beside "
                 "cursors or at REPEATABLE READ"}
      .with_hint("Use pg_promote(wait => false).");
}

Value promote(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  require_superuser(session, "pg_promote");
  if (!session.shared.standby.promote) return refuse_recovery(execution, arguments);
  const std::int64_t seconds = arguments[1].as_int8();
  if (seconds <= 0) {
    throw SqlError{sqlstate::numeric_value_out_of_range,
                   "\"wait_seconds\" must not be negative or zero"};
  }
  const bool waits = arguments[0].as_bool();
  if (waits) require_may_await_promotion(session);
  session.shared.standby.promote();
  if (!waits) return Value::from_bool(true);
  const bool is_promoted = session.await_promotion(std::chrono::seconds{seconds});
  // The engine's transaction is another one since.
  execution.transaction = session.transaction.get();
  session.transaction.begin_statement();
  if (is_promoted) return Value::from_bool(true);
  if (session.sink_for_notices != nullptr) {
    session.notice(
        *session.sink_for_notices, Severity::warning, SqlState{"01000"},
        fmt::format("server did not promote within {} second{}", seconds, seconds == 1 ? "" : "s"));
  }
  return Value::from_bool(false);
}
Value log_written(Execution& execution, Arguments) {
  require_no_recovery(execution);
  const std::uint64_t durable = session_of(execution).shared.engine.statistics().log_durable;
  return Value::from_int(static_cast<std::int64_t>(durable));
}
Value log_filled(Execution& execution, Arguments) {
  require_no_recovery(execution);
  const std::uint64_t tail = session_of(execution).shared.engine.statistics().log_tail;
  return Value::from_int(static_cast<std::int64_t>(tail));
}
Value create_restore_point(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  require_superuser(session, "pg_create_restore_point");
  require_no_recovery(execution);
  const Lsn end = value_of(session.shared.engine.create_restore_point(arguments[0].as_text()));
  return Value::from_int(static_cast<std::int64_t>(raw(end)));
}
Value switch_log_segment(Execution& execution, Arguments) {
  Session::State& session = session_of(execution);
  require_superuser(session, "pg_switch_wal");
  require_no_recovery(execution);
  const Lsn end = value_of(session.shared.engine.close_log_segment());
  return Value::from_int(static_cast<std::int64_t>(raw(end)));
}
Value sleep(Execution& execution, double wanted) {
  // NaN sleeps as little as a negative number; beyond some decades there is no visible difference.
  constexpr double kLongest = 1e9;
  const double seconds = wanted > 0 ? std::min(wanted, kLongest) : 0;
  Runtime& runtime = Runtime::current();
  const auto until =
      runtime.now() + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  // In slices, so that a cancel is noticed.
  while (runtime.now() < until) {
    session_of(execution).check_cancelled();
    runtime.sleep_until(std::min(until, runtime.now() + std::chrono::milliseconds{20}));
  }
  return text(execution, "");
}
Value sleep_seconds(Execution& execution, Arguments arguments) {
  return sleep(execution, arguments[0].as_float8());
}
Value sleep_for(Execution& execution, Arguments arguments) {
  constexpr double kDay = 86'400;
  const Interval interval = arguments[0].as_interval();
  const double days = interval.months * 30.0 + interval.days;
  return sleep(execution, days * kDay + static_cast<double>(interval.microseconds) / 1e6);
}
Value sleep_until(Execution& execution, Arguments arguments) {
  const std::int64_t left = arguments[0].as_int8() - SessionContext::system_clock_now();
  return sleep(execution, static_cast<double>(left) / 1e6);
}
std::span<const SessionEntry> functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"nextval", nextval},
      {"currval", currval},
      {"lastval", lastval},
      {"setval", setval},
      {"pg_get_serial_sequence", serial_sequence},
      {"currtid2", latest_ctid},
      {"current_user", current_user},
      {"session_user", session_user},
      {"current_database", current_database},
      {"current_schema", current_schema},
      {"current_schemas", current_schemas},
      {"pg_backend_pid", backend_pid},
      {"version", version},
      {"current_setting", current_setting},
      {"set_config", set_config},
      {"pg_postmaster_start_time", start_time},
      {"pg_conf_load_time", start_time},
      {"pg_is_in_recovery", is_in_recovery},
      {"pg_current_wal_lsn", log_written},
      {"pg_current_wal_flush_lsn", log_written},
      {"pg_current_wal_insert_lsn", log_filled},
      {"pg_switch_wal", switch_log_segment},
      {"pg_create_restore_point", create_restore_point},
      {"pg_last_wal_receive_lsn", log_received},
      {"pg_last_wal_replay_lsn", log_replayed},
      {"pg_last_xact_replay_timestamp", replayed_at},
      {"pg_sequence_last_value", sequence_last_value},
      {"pg_sleep", sleep_seconds},
      {"pg_sleep_for", sleep_for},
      {"pg_sleep_until", sleep_until},
      {"pg_is_wal_replay_paused", replay_paused},
      {"pg_get_wal_replay_pause_state", replay_pause_state},
      {"pg_wal_replay_pause", pause_replay<true>},
      {"pg_wal_replay_resume", pause_replay<false>},
      {"pg_promote", promote},
      {"current_query", text_of_request},
      {"getpgusername", current_user},
      {"row_security_active", security_of_rows, true},
      // Counters are read as they are, not from a snapshot.
      {"pg_stat_clear_snapshot", nothing},
      {"pg_stat_force_next_flush", nothing},
      {"pg_stat_get_snapshot_timestamp", always_null},
      {"pg_my_temp_schema", own_temporary_schema},
      {"pg_stat_reset", reset_statistics},
      {"pg_stat_reset_single_table_counters", reset_statistics},
      {"pg_stat_reset_subscription_stats", reset_subscription_counts},
      {"pg_reload_conf", reload_configuration},
  };
  return kFunctions;
}

/// Functions that PostgreSQL lacks, or has only as keywords. Their numbers are those that
/// PostgreSQL leaves to others (8000 to 9999).
std::span<const Function> own_functions() {
  static constexpr TypeId kNumber[] = {TypeId::oid};
  static constexpr TypeId kRelation[] = {TypeId::regclass};
  static constexpr TypeId kText[] = {TypeId::text};
  static constexpr TypeId kTwoTexts[] = {TypeId::text, TypeId::text};
  const auto function = [](std::uint32_t oid, std::string_view name, TypeId result,
                           std::span<const TypeId> arguments, SessionCall call) {
    Function own;
    own.oid = oid;
    own.name = name;
    own.volatility = Volatility::volatile_;
    own.result = result;
    own.arguments = arguments;
    own.session = call;
    return own;
  };
  static const std::vector<Function> kFunctions = [&] {
    std::vector<Function> list{
        function(8000, "swizzle_verify", TypeId::text, {}, verify),
        function(8001, "swizzle_verify", TypeId::text, kRelation, verify),
        function(8002, "swizzle_backup", TypeId::text, kText, back_up),
        function(8003, "swizzle_sequence_value", TypeId::int8, kNumber, sequence_value),
        function(8004, "swizzle_sequence_is_called", TypeId::bool_, kNumber, sequence_is_called),
        function(8005, "current_role", TypeId::name, {}, current_user),
        function(8006, "current_catalog", TypeId::name, {}, current_database),
        function(8007, "swizzle_backup", TypeId::text, kTwoTexts, back_up)};
    list[5].volatility = list[6].volatility = Volatility::stable;
    return list;
  }();
  return kFunctions;
}

}  // namespace

void add_session_functions() {
  static const bool is_added = [] {
    for (const std::span<const SessionEntry> list : {functions(),
                                                     catalog_functions(),
                                                     index_property_functions(),
                                                     privilege_functions(),
                                                     advisory_functions(),
                                                     notification_functions(),
                                                     size_functions(),
                                                     blocking_functions(),
                                                     connection_functions(),
                                                     routine_functions(),
                                                     trigger_functions(),
                                                     replication_functions(),
                                                     slot_functions(),
                                                     control_functions(),
                                                     statistics_functions(),
                                                     description_functions(),
                                                     identity_functions(),
                                                     snapshot_functions(),
                                                     large_object_functions(),
                                                     file_functions(),
                                                     event_trigger_functions()}) {
      add_builtin_functions({.sessions = list});
    }
    add_builtin_functions({.own = own_functions()});
    static constexpr SetEntry kSets[] = {{"pg_get_sequence_data(regclass)", sequence_data}};
    add_builtin_functions({.sets = kSets});
    add_builtin_functions({.sets = event_trigger_sets()});
    add_builtin_functions({.sets = file_sets()});
    return true;
  }();
  static_cast<void>(is_added);
}

const Function& identity_numbers() {
  static const Function kFunction = [] {
    static constexpr TypeId kRelation[] = {TypeId::regclass};
    Function function;
    function.name = "nextval";
    function.volatility = Volatility::volatile_;
    function.result = TypeId::int8;
    function.arguments = kRelation;
    function.session = identity_value;
    return function;
  }();
  return kFunction;
}

}  // namespace swizzle::sql

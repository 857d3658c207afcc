#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/shared/known_settings.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/activity_values.h"
#include "sql-lite-frontend/session/views/providers.h"
#include "sql-lite-frontend/types/array/array.h"
#include "storage/statistics.h"

/// System relations about the server's activity: sessions, prepared statements, settings.
namespace swizzle::sql {
namespace {

void activity(Execution& execution, const EmitRow& emit) {
  for (const ActivityValues& row : activity_values(execution.functions, std::nullopt)) {
    const Value values[] = {row.database,
                            row.database_name,
                            row.pid,
                            row.user,
                            row.user_name,
                            row.application,
                            row.client_address,
                            row.client_port,
                            row.connected_at,
                            row.transaction_start,
                            row.query_start,
                            row.state_change,
                            row.wait_event_type,
                            row.wait_event,
                            row.state,
                            row.transaction,
                            row.oldest_unseen,
                            row.query,
                            row.kind};
    emit(values);
  }
}

void encryption_rows(Execution& execution, const EmitRow& emit) {
  struct Seen {
    std::int32_t pid;
    Oid user;
    std::optional<Encryption> encryption;
  };
  std::vector<Seen> sessions;
  {
    Database::Shared& shared = session_of(execution).shared;
    const std::lock_guard lock{shared.sessions_mutex};
    for (const auto& [pid, session] : shared.sessions) {
      const Session::State& state = session->state();
      sessions.push_back({pid, state.login, state.options.encryption});
    }
  }
  for (const Seen& seen : sessions) {
    const RolePtr role = session_of(execution).catalog.role(seen.user);
    const bool shown = role && session_of(execution).rights.owns(role->oid);
    const auto& encryption = seen.encryption;
    const bool tells = shown && encryption;
    const Value row[] = {Value::from_int(seen.pid),
                         shown ? flag(encryption.has_value()) : Value::null(),
                         tells ? text_value(execution, encryption->version) : Value::null(),
                         tells ? text_value(execution, encryption->cipher) : Value::null(),
                         tells ? Value::from_int(encryption->bits) : Value::null()};
    emit(row);
  }
}

/// Emits a row for each counter: name and value.
void statistics_rows(Execution& execution, const EmitRow& emit) {
  const EngineStatistics now = session_of(execution).shared.engine.statistics();
  const std::pair<std::string_view, std::uint64_t> counters[] = {
      {"pool_frames", now.pool_frames},
      {"pool_free_frames", now.pool_free_frames},
      {"pool_swizzled", now.pool_swizzled},
      {"pool_unswizzled", now.pool_unswizzled},
      {"leaf_requests", now.leaf_requests},
      {"pages_read", now.pages_read},
      {"pages_read_ahead", now.pages_read_ahead},
      {"pages_written", now.pages_written},
      {"pages_evicted", now.pages_evicted},
      {"pages_swizzled", now.pages_swizzled},
      {"pages_unswizzled", now.pages_unswizzled},
      {"log_tail", now.log_tail},
      {"log_durable", now.log_durable},
      {"log_flushes", now.log_flushes},
      {"checkpoints", now.checkpoints},
      {"commits", now.commits},
      {"rollbacks", now.rollbacks},
      {"lock_waits", now.lock_waits},
      {"lock_timeouts", now.lock_timeouts},
      {"deadlocks", now.deadlocks},
      {"version_bytes", now.version_bytes}};
  for (const auto& [name, value] : counters) {
    const Value row[] = {text_value(execution, name),
                         Value::from_int(static_cast<std::int64_t>(value))};
    emit(row);
  }
}

/// Emits every tree and its relation.
void tree_rows(Execution& execution, const EmitRow& emit) {
  Session::State& session = session_of(execution);
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    const auto row_of = [&](TreeId tree, std::string_view name, std::string_view kind) {
      const Value row[] = {Value::from_int(static_cast<std::int64_t>(raw(tree))),
                           text_value(execution, session.names.schema_name(relation.schema)),
                           text_value(execution, name), text_value(execution, kind),
                           Value::from_float8(table->expected_rows())};
      emit(row);
    };
    if (relation.kind == RelationKind::table) row_of(relation.tree, relation.name, "table");
    for (const Index& index : relation.indexes) {
      if (!index.orders_rows()) row_of(index.tree, index.name, "index");
    }
  }
}

/// Types of a statement's rows; NULL if it returns none.
Value result_types(Execution& execution, const Statement& statement) {
  if (!statement.returns_rows) return Value::null();
  std::vector<Value> types;
  for (const OutputTarget& column : statement.columns())
    types.push_back(Value::from_oid(raw(without_collation(column.type))));
  return make_array(execution.row_arena, TypeId::regtype, types);
}

void prepared(Execution& execution, const EmitRow& emit) {
  const auto& all = session_of(execution).statements;
  for (const auto& [name, statement] : std::map{all.begin(), all.end()}) {
    if (name.empty()) continue;
    std::vector<Value> types;
    for (const TypeId type : statement->parameter_types) {
      types.push_back(Value::from_oid(raw(type)));
    }
    const Value row[] = {text_value(execution, name),
                         text_value(execution, statement->text()),
                         Value::from_int(statement->prepared_at),
                         make_array(execution.row_arena, TypeId::regtype, types),
                         flag(statement->from_sql),
                         Value::from_int(0),
                         Value::from_int(0),
                         result_types(execution, *statement)};
    emit(row);
  }
}

/// Lists cursors, and the portals of the protocol's Bind.
void cursor_rows(Execution& execution, const EmitRow& emit) {
  for (const auto& [name, portal] : session_of(execution).portals.all()) {
    const Value row[] = {text_value(execution, name),
                         text_value(execution, portal->statement->text()),
                         flag(portal->holds),
                         flag(portal->binary),
                         flag(portal->is_cursor && portal->scrolls),
                         Value::from_int(portal->opened_at)};
    emit(row);
  }
}

Value bound(Execution& execution, const SettingDefinition& definition, bool lower) {
  if (definition.type_name() == "integer") {
    const auto& bounds = definition.integer_bounds;
    return text_value(execution, std::to_string(lower ? bounds.least : bounds.most));
  }
  if (definition.type_name() == "real") {
    const auto& bounds = definition.real_bounds;
    return text_value(execution, fmt::format("{}", lower ? bounds.least : bounds.most));
  }
  return Value::null();
}

/// True for settings whose shown value is computed.
bool is_worked_out(std::string_view setting) {
  return setting == "ssl" || setting == "archive_mode" || setting == "hba_file";
}

void setting_rows(Execution& execution, const EmitRow& emit) {
  for (const SettingView& view : session_of(execution).settings.all()) {
    if (!session_of(execution).rights.may_examine(view.definition->name)) continue;
    const SettingDefinition& definition = *view.definition;
    std::vector<Value> values;
    for (const std::string& value : definition.values) {
      values.push_back(text_value(execution, value));
    }
    const std::string_view unit = name_of(definition.unit);
    const Value row[] = {
        text_value(execution, shown_setting_name(definition.name)),
        text_value(execution,
                   is_worked_out(definition.name)
                       ? value_of(session_of(execution).variables.shown_value(definition.name))
                       : bare_setting(view.value)),
        unit.empty() ? Value::null() : text_value(execution, unit),
        text_value(execution, definition.category),
        text_value(execution, definition.description),
        text_value(execution, name_of(definition.context)),
        text_value(execution, definition.type_name()),
        text_value(execution, name_of(view.source)),
        bound(execution, definition, true),
        bound(execution, definition, false),
        values.empty() ? Value::null() : make_array(execution.row_arena, TypeId::text, values),
        text_value(execution, bare_setting(definition.default_value)),
        text_value(execution, bare_setting(view.reset_value)),
        flag(view.pending_restart)};
    emit(row);
  }
}

/// Waits that pg_stat_activity tells.
struct WaitEvent {
  std::string_view type;
  std::string_view name;
  std::string_view description;
};
constexpr WaitEvent kWaitEvents[] = {
    {"Client", "ClientRead", "The session has nothing to do until its client sends something"},
    {"IPC", "SyncRep", "A commit is not yet confirmed by the synchronous standbys"},
    {"Lock", "advisory", "An advisory lock is held by another session"},
    {"Lock", "object", "A database, or an object that is no relation, is locked"},
    {"Lock", "relation", "A relation is locked"},
    {"Lock", "transactionid", "A row was changed or locked by a transaction that is still open"},
};

void wait_event_rows(Execution& execution, const EmitRow& emit) {
  for (const WaitEvent& event : kWaitEvents) {
    const Value row[] = {text_value(execution, event.type), text_value(execution, event.name),
                         text_value(execution, event.description)};
    emit(row);
  }
}

}  // namespace

std::span<const RowProvider> activity_providers() {
  static const std::vector<RowProvider> kProviders{
      {kPgCatalogSchema,
       "pg_stat_ssl",
       {{"pid"}, {"ssl"}, {"version"}, {"cipher"}, {"bits"}},
       encryption_rows},
      {kPgCatalogSchema,
       "pg_stat_activity",
       {{"datid"},
        {"datname"},
        {"pid"},
        {"usesysid"},
        {"usename"},
        {"application_name"},
        {"client_addr"},
        {"client_port"},
        {"backend_start"},
        {"xact_start"},
        {"query_start"},
        {"state_change"},
        {"wait_event_type"},
        {"wait_event"},
        {"state"},
        {"backend_xid"},
        {"backend_xmin"},
        {"query"},
        {"backend_type"}},
       activity},
      {kPgCatalogSchema, "pg_wait_events", {{"type"}, {"name"}, {"description"}}, wait_event_rows},
      {kPgCatalogSchema,
       "swizzle_statistics",
       {{"name", TypeId::text}, {"value", TypeId::int8}},
       statistics_rows},
      {kPgCatalogSchema,
       "swizzle_trees",
       {{"tree", TypeId::int8},
        {"schema", TypeId::name},
        {"name", TypeId::name},
        {"kind", TypeId::text},
        {"rows", TypeId::float8}},
       tree_rows},
      {kPgCatalogSchema,
       "pg_prepared_statements",
       {{"name"},
        {"statement"},
        {"prepare_time"},
        {"parameter_types"},
        {"from_sql"},
        {"generic_plans"},
        {"custom_plans"},
        {"result_types"}},
       prepared},
      {kPgCatalogSchema,
       "pg_cursors",
       {{"name"},
        {"statement"},
        {"is_holdable"},
        {"is_binary"},
        {"is_scrollable"},
        {"creation_time"}},
       cursor_rows},
      {kPgCatalogSchema,
       "pg_settings",
       {{"name"},
        {"setting"},
        {"unit"},
        {"category"},
        {"short_desc"},
        {"context"},
        {"vartype"},
        {"source"},
        {"min_val"},
        {"max_val"},
        {"enumvals"},
        {"boot_val"},
        {"reset_val"},
        {"pending_restart"}},
       setting_rows},
  };
  return kProviders;
}

}  // namespace swizzle::sql

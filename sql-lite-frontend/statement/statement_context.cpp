#include "sql-lite-frontend/statement/statement_context.h"

#include "sql-lite-frontend/execution/rows/temporary_files.h"
#include "sql-lite-frontend/statement/call_place.h"

namespace swizzle::sql {
namespace {

Oid database_oid(ServerContext& server, std::string_view name) {
  const DatabasePtr database = server.catalogs->shared_objects().database(name);
  if (!database)
    throw_error(sqlstate::invalid_catalog_name, "database \"{}\" does not exist", name);
  return database->oid;
}

}  // namespace

StatementContext::StatementContext(const Parts& parts, SessionOptions session_options)
    : shared(parts.shared),
      transaction(parts.transaction),
      variables(parts.variables),
      inner(parts.inner),
      options(std::move(session_options)),
      settings(parts.shared.settings,
               [this] {
                 return rights.is_superuser(user) ? SessionSettings::Power::superuser
                                                  : SessionSettings::Power::ordinary;
               }),
      database_use(*parts.shared.catalogs, database_oid(parts.shared, options.database)),
      catalog(database_use.catalog()),
      temporary_files(parts.shared.temporary_files->counted_in(usage)),
      memory(parts.shared.memory) {
  session_context.names = &names;
  memory.files = &temporary_files;
}

StatementContext::~StatementContext() = default;

void StatementContext::notice(ResultSink& sink, Severity severity, SqlState state,
                              std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.state = state;
  diagnostic.message = std::move(message);
  send_notice(sink, std::move(diagnostic));
}

namespace {

/// Returns the least severity that is sent at this client_min_messages. Our debugging messages are
/// of the first of its five levels.
Severity least_heard(std::string_view level) {
  if (level.starts_with("debug")) return Severity::debug;
  if (level == "log") return Severity::log;
  if (level == "warning") return Severity::warning;
  return level == "error" ? Severity::error : Severity::notice;
}

}  // namespace

void StatementContext::send_notice(ResultSink& sink, Diagnostic diagnostic) {
  if (diagnostic.where.empty()) diagnostic.where = call_context(*this);
  const bool is_heard = diagnostic.severity >= least_heard(settings.text("client_min_messages"));
  // Messages of level INFO, which the user has requested, are always sent.
  if (is_heard || diagnostic.severity == Severity::info) sink.notice(diagnostic);
}

std::unique_ptr<Scratch> StatementContext::new_scratch() {
  return std::make_unique<Scratch>(*this, session_context);
}

WorkSpace StatementContext::maintenance_space() {
  const auto kilobytes = static_cast<std::size_t>(settings.integer("maintenance_work_mem"));
  return {kilobytes << 10U, memory.files};
}

bool StatementContext::is_deferred(const Constraint& constraint) {
  return constraint.deferrable &&
         transaction.is_deferred(constraint.oid, constraint.initially_deferred);
}

bool StatementContext::is_deferred(const Trigger& trigger) {
  return trigger.deferrable &&
         transaction.is_deferred(trigger.constraint, trigger.initially_deferred);
}

std::string StatementContext::schema_name(Oid schema) {
  return names.schema_name(schema);
}

bool StatementContext::hides_rows(const Table& table) {
  return names.hides_rows(table);
}

bool StatementContext::keep_definition(const TablePtr& table, lock::RelationMode mode,
                                       CatalogView::Stamp& seen_at) {
  if (table->relation.persistence != Persistence::temporary) {
    value_of(transaction->lock_relation(lock::RelationId{table->relation.oid}, mode));
  } else {
    transaction.note_temporary();
  }
  const CatalogView::Stamp now = catalog.stamp();
  if (now == seen_at) return true;
  if (catalog.table(table->relation.oid) != table) return false;
  seen_at = now;
  return true;
}

bool StatementContext::logs_changes() {
  return settings.text("wal_level") == "logical";
}

}  // namespace swizzle::sql

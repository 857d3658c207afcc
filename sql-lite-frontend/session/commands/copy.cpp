#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/relation_noun.h"
#include "sql-lite-frontend/session/commands/copy_directions.h"
#include "sql-lite-frontend/session/commands/copy_ends.h"
#include "sql-lite-frontend/session/commands/statements.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

std::vector<std::size_t> copy_columns(const Table& table, ast::NodeList names) {
  std::vector<std::size_t> columns;
  if (names.empty()) {
    for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
      const Column& column = table.relation.columns[i];
      if (!column.dropped && !column.generated) columns.push_back(i);
    }
  }
  for (const ast::Node* name : names) {
    const auto position = table.column_position(ast::string_of(name));
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  ast::string_of(name), table.relation.name);
    }
    if (table.relation.columns[*position].generated) {
      throw sql_error(SqlState{"42P10"}, "column \"{}\" is a generated column",
                      ast::string_of(name))
          .with_detail("Generated columns cannot be used in COPY.");
    }
    if (std::ranges::find(columns, *position) != columns.end()) {
      throw_error(SqlState{"42701"}, "column \"{}\" specified more than once",
                  ast::string_of(name));
    }
    columns.push_back(*position);
  }
  return columns;
}

/// Throws unless the columns that an option names are among those copied.
void require_copied(const Table& table, std::span<const std::size_t> columns,
                    const std::vector<std::string>& names, std::string_view option) {
  for (const std::string& name : names) {
    const auto position = table.column_position(name);
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  name, table.relation.name);
    }
    if (std::ranges::find(columns, *position) == columns.end()) {
      throw_error(SqlState{"42P10"}, "{} column \"{}\" not referenced by COPY", option, name);
    }
  }
}

void require_copyable(const ast::Node* query) {
  const auto refuse = [](std::string_view what) {
    throw SqlError{sqlstate::feature_not_supported, std::string{what}};
  };
  if (const auto* select = ast::try_as<ast::SelectStmt>(query)) {
    if (select->into_clause != nullptr) refuse("COPY (SELECT INTO) is not supported");
    return;
  }
  const auto require_returning = [&](const auto& returning) {
    if (returning == nullptr) refuse("COPY query must have a RETURNING clause");
  };
  if (const auto* insert = ast::try_as<ast::InsertStmt>(query)) {
    return require_returning(insert->returning_clause);
  }
  if (const auto* update = ast::try_as<ast::UpdateStmt>(query)) {
    return require_returning(update->returning_clause);
  }
  if (const auto* remove = ast::try_as<ast::DeleteStmt>(query)) {
    return require_returning(remove->returning_clause);
  }
  if (const auto* merge = ast::try_as<ast::MergeStmt>(query)) {
    return require_returning(merge->returning_clause);
  }
  refuse("COPY of this query is not supported");
}

void require_copy_target(const Relation& relation) {
  if (is_table(relation.kind)) return;
  if (relation.kind == RelationKind::view) {
    throw sql_error(sqlstate::wrong_object_type, "cannot copy to view \"{}\"", relation.name)
        .with_hint("To enable copying to a view, provide an INSTEAD OF INSERT trigger.");
  }
  if (relation.kind != RelationKind::computed) {
    throw_error(sqlstate::wrong_object_type, "cannot copy to {} \"{}\"", noun_of(relation.kind),
                relation.name);
  }
  throw_error(sqlstate::wrong_object_type, "cannot copy to \"{}\"", relation.name);
}

/// Locks the table and looks its name up again: while we waited, another table may have got the
/// name.
TablePtr lock_target(Session::State& session, Binder& binder, const ast::RangeVar& range) {
  TablePtr table = binder.require_relation(range);
  while (table->computed == nullptr) {
    const Oid oid = table->relation.oid;
    value_of(session.transaction->lock_relation(lock::RelationId{oid},
                                                lock::RelationMode::row_exclusive));
    table = binder.require_relation(range);
    if (table->relation.oid == oid) break;
  }
  return table;
}

/// Locks the partitions, too. Repeats if the table got others while we waited.
void lock_partitions(Session::State& session, const TablePtr& table) {
  if (!table->relation.is_partitioned()) return;
  for (std::vector<Oid> locked;;) {
    std::vector<Oid> oids;
    for (const TablePtr& one : with_partitions(session, session.names.table(table->relation.oid))) {
      oids.push_back(one->relation.oid);
    }
    if (oids == locked) return;
    for (const Oid oid : oids) {
      value_of(session.transaction->lock_relation(lock::RelationId{oid},
                                                  lock::RelationMode::row_exclusive));
    }
    locked = std::move(oids);
  }
}

std::uint64_t copy_from(Session::State& session, const ast::CopyStmt& copy, CopyOptions options,
                        ResultSink& sink) {
  Arena arena;
  Binder binder{session.names, arena};
  const TablePtr table = lock_target(session, binder, *copy.relation);
  lock_partitions(session, table);
  session.transaction.begin_statement();
  std::vector<std::size_t> columns = copy_columns(*table, copy.attlist);
  require_copied(*table, columns, options.force_not_null, "FORCE_NOT_NULL");
  require_copied(*table, columns, options.force_null, "FORCE_NULL");
  session.rights.require(RelationAccess{table, kNoOid, privilege::kInsert, {}, columns, {}});
  if (session.names.applies_policies(*table, kNoOid)) {
    throw SqlError{sqlstate::feature_not_supported,
                   "COPY FROM not supported with row-level security"}
        .with_hint("Use INSERT statements instead.");
  }
  if (table->relation.persistence != Persistence::temporary) {
    session.transaction.require_read_write("COPY FROM");
  }
  require_copy_target(table->relation);
  if (options.freeze && !session.catalog.has_new_rows(*table)) {
    throw SqlError{SqlState{"55000"},
                   "cannot perform COPY FREEZE because the table was not created or truncated in "
                   "the current subtransaction"};
  }
  return copy_in(session, table, std::move(columns), std::move(options), copy, sink);
}

void require_copy_source(const Table& table) {
  const RelationKind kind = table.relation.kind;
  if (kind == RelationKind::materialized && !table.relation.populated) {
    throw sql_error(SqlState{"55000"}, "cannot copy from unpopulated materialized view \"{}\"",
                    table.relation.name)
        .with_hint("Use the REFRESH MATERIALIZED VIEW command.");
  }
  if (kind == RelationKind::view || table.relation.is_partitioned()) {
    throw sql_error(sqlstate::wrong_object_type, "cannot copy from {} \"{}\"",
                    kind == RelationKind::view ? noun_of(kind) : "partitioned table",
                    table.relation.name)
        .with_hint("Try the COPY (SELECT ...) TO variant.");
  }
  if (kind == RelationKind::sequence) {
    throw_error(sqlstate::wrong_object_type, "cannot copy from sequence \"{}\"",
                table.relation.name);
  }
}

/// Returns the query that reads the table, by which it is copied.
std::string query_of(Session::State& session, const Table& table,
                     std::span<const std::size_t> columns) {
  std::string text = "SELECT ";
  bool first = true;
  for (const std::size_t position : columns) {
    if (!first) text += ", ";
    first = false;
    text += quote_identifier(table.relation.columns[position].name);
  }
  // Children are copied by their own names.
  const std::string_view only = table.relation.children.empty() ? "" : "ONLY ";
  return fmt::format("{} FROM {}{}", text, only, session.names.qualified_name(table));
}

std::uint64_t copy_to(Session::State& session, const ast::CopyStmt& copy,
                      const CopyOptions& options, ResultSink& sink) {
  if (copy.query != nullptr) {
    require_copyable(copy.query);
    const auto query = std::make_shared<Statement>();
    query->node = copy.query;
    query->takes_parameters = false;
    return copy_out(session, copy, query, kNoOid, options, sink);
  }
  Arena arena;
  Binder binder{session.names, arena};
  const TablePtr table = binder.require_relation(*copy.relation);
  const std::vector<std::size_t> columns = copy_columns(*table, copy.attlist);
  session.rights.require(RelationAccess{table, kNoOid, privilege::kSelect, columns, {}, {}});
  require_copy_source(*table);
  const StatementPtr query = session.plans.parse(query_of(session, *table, columns), {});
  return copy_out(session, copy, query, table->relation.oid, options, sink);
}

}  // namespace

void copy_rows(Session::State& session, const ast::CopyStmt& copy, ResultSink& sink) {
  require_copy_allowed(session, copy);
  CopyOptions options =
      read_copy_options(copy.options, copy.is_from ? CopyDirection::from : CopyDirection::to);
  const std::uint64_t rows = copy.is_from ? copy_from(session, copy, std::move(options), sink)
                                          : copy_to(session, copy, options, sink);
  sink.command_complete(fmt::format("COPY {}", rows));
}

}  // namespace swizzle::sql

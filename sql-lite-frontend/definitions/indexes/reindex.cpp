#include "sql-lite-frontend/definitions/indexes/reindex.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/definitions/databases/databases.h"
#include "sql-lite-frontend/definitions/indexes/beside_writers.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/statement/statement_options.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

using Target = ast::ReindexObjectType;

/// How indexes are rebuilt, and where to tell of those that are not.
struct Way {
  bool concurrently = false;
  ResultSink& sink;
};

Way read_options(StatementContext& session, const ast::ReindexStmt& statement, ResultSink& sink) {
  bool concurrently = false;
  for (const ast::Node* node : statement.params) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname == "concurrently") {
      concurrently = option_flag(option);
    } else if (option.defname == "verbose") {
      // VERBOSE reports how long each took, in messages that are not shown by default.
      static_cast<void>(option_flag(option));
    } else if (option.defname == "tablespace") {
      const std::string_view name = ast::string_of(option.arg);
      if (name != "pg_default") {
        throw_error(sqlstate::undefined_object, "tablespace \"{}\" does not exist", name);
      }
    } else {
      refuse_option("REINDEX", option);
    }
  }
  if (concurrently) {
    prevent_in_routine(session, "REINDEX CONCURRENTLY");
    session.transaction.prevent_in_block("REINDEX CONCURRENTLY");
  }
  return {concurrently, sink};
}

/// Throws 42501 without MAINTAIN on the table, or on the table of the index.
void require_maintainable(StatementContext& session, const NamedRelation& found) {
  if (found.table->computed == nullptr && session.rights.may_maintain(*found.table)) return;
  if (found.table->computed != nullptr) return require_alterable(session, found);
  if (found.index == nullptr) return session.rights.require(found.table, privilege::kMaintain);
  throw_error(sqlstate::insufficient_privilege, "permission denied for index {}",
              found.index->name);
}

/// True for a member of pg_maintain.
bool maintains_all(const StatementContext& session) {
  const std::vector<Oid> roles = session.rights.roles_of(session.user);
  return std::ranges::find(roles, kMaintainRole) != roles.end();
}

/// Rebuilds the index of that name, or all indexes of the table. Pre: the caller has checked the
/// right: MAINTAIN on the table or an ancestor, or ownership of its schema or of the database.
void rebuild(StatementContext& session, const Way& way, const TablePtr& table,
             std::string_view only) {
  // A temporary table has no other users.
  if (way.concurrently && table->relation.persistence != Persistence::temporary) {
    return rebuild_beside_writers(session, table->relation.oid, only, way.sink);
  }
  const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
  require_indexes_unused(session, *locked, "REINDEX INDEX");
  Relation relation = locked->relation;
  std::vector<std::size_t> rebuilt;
  for (std::size_t i = 0; i < relation.indexes.size(); ++i) {
    Index& index = relation.indexes[i];
    if (index.orders_rows() || (!only.empty() && index.name != only)) continue;
    value_of(session.shared.engine.drop_tree(*session.transaction, index.tree));
    index.tree = value_of(session.shared.engine.create_tree(*session.transaction));
    index.state = IndexState::valid;
    rebuilt.push_back(i);
  }
  if (rebuilt.empty()) return;
  const TablePtr changed =
      session.catalog.replace(*session.transaction, *locked, std::move(relation));
  for (const std::size_t i : rebuilt) fill_index(session, changed, i, IndexCommand::reindex);
}

/// Rebuilds the partitions' parts of an index.
void rebuild_parts(StatementContext& session, const Way& way, const Table& table, Oid index) {
  check_stack();
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition = session.names.table(oid);
    if (!partition) continue;
    const auto& indexes = partition->relation.indexes;
    const auto part = std::ranges::find(indexes, index, &Index::parent);
    if (part == indexes.end()) continue;
    if (partition->tree) {
      rebuild(session, way, partition, part->name);
    } else {
      rebuild_parts(session, way, *partition, part->oid);
    }
  }
}

void rebuild_all(StatementContext& session, const Way& way, Oid schema) {
  // Reads all relations: without a schema, the statement is about all of them.
  const std::vector<TablePtr> tables =
      schema == kNoOid ? session.catalog.tables() : session.catalog.naming<Table>({schema});
  for (const TablePtr& table : tables) {
    const Relation& relation = table->relation;
    const bool is_others_temporary = relation.persistence == Persistence::temporary &&
                                     relation.schema != session.names.temp_schema;
    if (!keeps_rows(relation.kind) || is_others_temporary) continue;
    if (schema == kNoOid || relation.schema == schema) rebuild(session, way, table, {});
  }
}

}  // namespace

void reindex(StatementContext& session, const ast::ReindexStmt& statement, ResultSink& sink) {
  const Way way = read_options(session, statement, sink);
  switch (statement.kind) {
    case Target::index: {
      const NamedRelation found = require_named_relation(session, *statement.relation);
      require_named_kind(found, ast::ObjectType::index);
      require_maintainable(session, found);
      if (found.table->relation.is_partitioned()) {
        session.transaction.prevent_in_block("REINDEX INDEX");
        rebuild_parts(session, way, *found.table, found.index->oid);
      } else {
        rebuild(session, way, found.table, found.index->name);
      }
      break;
    }
    case Target::table: {
      const NamedRelation found = require_named_relation(session, *statement.relation);
      const Relation& relation = found.table->relation;
      if (found.index != nullptr || (!keeps_rows(relation.kind) && !relation.is_partitioned())) {
        throw_error(sqlstate::wrong_object_type, "\"{}\" is not a table or materialized view",
                    statement.relation->relname);
      }
      require_maintainable(session, found);
      if (relation.is_partitioned()) session.transaction.prevent_in_block("REINDEX TABLE");
      if (way.concurrently && found.table->tree && relation.indexes.empty()) {
        session.notice(sink, Severity::notice, SqlState{"00000"},
                       fmt::format("table \"{}\" has no indexes that can be reindexed concurrently",
                                   relation.name));
      }
      for (const TablePtr& one : with_partitions(session, found.table)) {
        if (one->tree) rebuild(session, way, one, {});
      }
      break;
    }
    case Target::schema: {
      session.transaction.prevent_in_block("REINDEX SCHEMA");
      const SchemaPtr schema = session.catalog.schema(statement.name);
      if (!schema) {
        throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", statement.name);
      }
      if (!maintains_all(session)) session.rights.require_owner(*schema);
      rebuild_all(session, way, schema->oid);
      break;
    }
    case Target::database:
      session.transaction.prevent_in_block("REINDEX DATABASE");
      if (!statement.name.empty() && statement.name != session.options.database) {
        throw SqlError{sqlstate::feature_not_supported,
                       "can only reindex the currently open database"};
      }
      if (!maintains_all(session)) {
        session.rights.require_owner(*database_named(session, session.options.database));
      }
      rebuild_all(session, way, kNoOid);
      break;
    case Target::system:
    case Target::undefined:
      session.transaction.prevent_in_block("REINDEX SYSTEM");
      throw SqlError{sqlstate::feature_not_supported, "REINDEX SYSTEM is not supported"};
  }
}

}  // namespace swizzle::sql

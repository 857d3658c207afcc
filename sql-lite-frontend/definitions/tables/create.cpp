#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/definitions/inheritance/inheritance.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/relation_options.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/definitions/views/materialized_view.h"
#include "sql-lite-frontend/statement/names/heirs.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/statement/statement_kinds.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

/// CREATE TABLE.
namespace swizzle::sql {
namespace {

void refuse_table_features(const ast::CreateStmt& statement) {
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::feature_not_supported, "{} is not supported", what);
  };
  if (statement.of_typename != nullptr) refuse("CREATE TABLE OF");
  require_known_tablespace(statement.tablespacename);
  require_heap(statement.access_method);
}

/// Checked before anything else, as in PostgreSQL.
void refuse_repeated_columns(const ast::CreateStmt& statement) {
  refuse_more_columns(static_cast<std::size_t>(std::ranges::count_if(
      statement.table_elts,
      [](const ast::Node* element) { return ast::is<ast::ColumnDef>(element); })));
  std::set<std::string_view> names;
  for (const ast::Node* element : statement.table_elts) {
    const auto* column = ast::try_as<ast::ColumnDef>(element);
    if (column == nullptr) continue;
    if (names.insert(column->colname).second) continue;
    throw_error(sqlstate::duplicate_column, "column \"{}\" specified more than once",
                column->colname);
  }
}

}  // namespace

void require_schema_name(std::string_view name) {
  if (!name.starts_with("pg_")) return;
  throw sql_error(SqlState{"42939"}, "unacceptable schema name \"{}\"", name)
      .with_detail("The prefix \"pg_\" is reserved for system schemas.");
}

namespace {

/// Returns the schema in which the session may create the named object.
Oid creation_place(StatementContext& session, const ast::RangeVar& range) {
  const Oid place = session.names.creation_schema(range);
  const SchemaPtr schema = session.catalog.schema(place);
  if (schema && !session.rights.may(*schema, privilege::kCreate)) {
    throw_error(SqlState{"42501"}, "permission denied for schema {}", schema->name);
  }
  return place;
}

/// Throws with the position of the name, which PostgreSQL reports only for tables.
void check_place_of_table(StatementContext& session, const ast::RangeVar& range) {
  try {
    static_cast<void>(creation_place(session, range));
  } catch (SqlError& error) {
    // But not where it refuses to make one of the system's.
    if (error.error().detail().empty()) error.fields().position = range.location + 1;
    throw;
  }
}

}  // namespace

Relation new_relation(StatementContext& session, const ast::RangeVar& range, RelationKind kind) {
  Relation relation;
  relation.oid = session.catalog.allocate_oid();
  relation.schema = creation_place(session, range);
  relation.name = range.relname;
  relation.kind = kind;
  relation.owner = session.user;
  if (relation.schema == session.names.temp_schema) {
    if (range.relpersistence == "u") {
      throw SqlError{SqlState{"42P16"},
                     "only temporary relations may be created in temporary schemas"};
    }
    relation.persistence = Persistence::temporary;
  } else if (range.relpersistence == "u") {
    relation.persistence = Persistence::unlogged;
  }
  refuse_type_name(session, relation.schema, relation.name);
  return relation;
}

bool skip_existing(StatementContext& session, const Relation& relation, bool if_not_exists,
                   ResultSink& sink) {
  if (session.catalog.table(relation.schema, relation.name) == nullptr) return false;
  if (!if_not_exists) {
    throw_error(sqlstate::duplicate_table, "relation \"{}\" already exists", relation.name);
  }
  session.notice(sink, Severity::notice, sqlstate::duplicate_table,
                 fmt::format("relation \"{}\" already exists, skipping", relation.name));
  return true;
}

namespace {

void set_on_commit(Relation& relation, ast::OnCommitAction action) {
  if (action == ast::OnCommitAction::noop || action == ast::OnCommitAction::undefined) return;
  if (relation.persistence != Persistence::temporary) {
    throw SqlError{SqlState{"42P16"}, "ON COMMIT can only be used on temporary tables"};
  }
  if (action == ast::OnCommitAction::delete_rows) relation.on_commit = 'd';
  if (action == ast::OnCommitAction::drop) relation.on_commit = 'x';
}

void note_on_commit(StatementContext& session, const Table& table) {
  if (table.relation.on_commit == 'd') {
    session.transaction.note_temporary();
    session.transaction.truncate_at_commit(table.relation.oid);
  } else if (table.relation.on_commit == 'x') {
    session.transaction.drop_at_commit(table.relation.oid);
  }
}

}  // namespace

namespace {

/// PARTITION OF: prepares the relation as a partition, which it becomes once it exists.
TablePtr begin_partition(StatementContext& session, const ast::CreateStmt& statement,
                         Relation& relation) {
  TablePtr parent = lock_parent(session, ast::as<ast::RangeVar>(statement.inh_relations.front()));
  const bool of_temporary = parent->relation.persistence == Persistence::temporary;
  const bool is_temporary = relation.persistence == Persistence::temporary;
  if (of_temporary != is_temporary) {
    throw_error(sqlstate::wrong_object_type,
                "cannot create a {} relation as partition of {} relation \"{}\"",
                is_temporary ? "temporary" : "permanent", of_temporary ? "temporary" : "permanent",
                parent->relation.name);
  }
  require_unused(session, *parent, "CREATE TABLE .. PARTITION OF");
  inherit_columns(session, parent->relation, relation);
  return parent;
}

void set_bound(StatementContext& session, const Table& parent, const ast::CreateStmt& statement,
               Relation& relation) {
  relation.partition_of = parent.relation.oid;
  PartitionBound bound = read_partition_bound(session, parent, *statement.partbound);
  require_free_bound(session, parent, relation.name, bound, *statement.partbound);
  check_default_rows(session, parent, bound);
  relation.partition_bound = std::move(bound);
}

void set_options(Relation& relation, const ast::CreateStmt& statement) {
  relation.options = storage_options(statement.options, OptionsOf::new_table);
  if (!relation.is_partitioned() || relation.options.empty()) return;
  throw SqlError{sqlstate::wrong_object_type,
                 "cannot specify storage parameters for a partitioned table"}
      .with_hint("Specify storage parameters for its leaf partitions instead.");
}

}  // namespace

namespace {

bool has_parents(const ast::CreateStmt& statement) {
  return statement.partbound == nullptr && !statement.inh_relations.empty();
}

/// LIKE adds columns, and does not merge them with those of INHERITS.
void refuse_like_of_inherited(const Relation& relation, std::size_t first_copied) {
  for (std::size_t i = first_copied; i < relation.columns.size(); ++i) {
    const std::string& name = relation.columns[i].name;
    const auto is_inherited = [&](const Column& column) {
      return column.inherit_count > 0 && column.name == name;
    };
    if (std::ranges::none_of(relation.columns, is_inherited)) continue;
    throw_error(sqlstate::feature_not_supported,
                "LIKE with the inherited column \"{}\" is not supported", name);
  }
}

/// Adds the columns and the constraints between them, which a partition, or a table with parents,
/// merges with what it has.
void add_elements(const ast::CreateStmt& statement, TableBuilder& builder,
                  const Relation& relation) {
  std::size_t place = 0;
  for (const ast::Node* element : statement.table_elts) {
    if (const auto* column = ast::try_as<ast::ColumnDef>(element)) {
      if (statement.partbound != nullptr) {
        builder.change_column(*column);
      } else {
        builder.merge_column(*column, place++);
      }
    } else if (const auto* constraint = ast::try_as<ast::Constraint>(element)) {
      builder.add_constraint(*constraint);
    } else {
      const std::size_t columns = relation.columns.size();
      builder.add_like(ast::as<ast::TableLikeClause>(element));
      refuse_like_of_inherited(relation, columns);
      place += relation.columns.size() - columns;
    }
  }
}

}  // namespace

void create_table(StatementContext& session, const ast::CreateStmt& statement, ResultSink& sink) {
  refuse_table_features(statement);
  if (has_parents(statement) && statement.partspec != nullptr) {
    throw SqlError{SqlState{"42P17"}, "cannot create partitioned table as inheritance child"};
  }
  refuse_repeated_columns(statement);
  check_place_of_table(session, *statement.relation);
  const auto kind = statement.partspec != nullptr ? RelationKind::partitioned : RelationKind::table;
  Relation relation = new_relation(session, *statement.relation, kind);
  if (skip_existing(session, relation, statement.if_not_exists, sink)) return;
  set_options(relation, statement);
  set_on_commit(relation, statement.oncommit);
  if (relation.is_partitioned() && relation.persistence == Persistence::unlogged) {
    throw SqlError{sqlstate::feature_not_supported, "partitioned tables cannot be unlogged"};
  }
  TablePtr parent;
  if (statement.partbound != nullptr) parent = begin_partition(session, statement, relation);
  std::vector<std::size_t> conflicts;
  if (has_parents(statement)) conflicts = inherit_from_parents(session, statement, relation, sink);
  TableBuilder builder{session, relation};
  add_elements(statement, builder, relation);
  require_chosen_defaults(statement, relation, conflicts);
  for (const ast::Node* element : statement.constraints) {
    builder.add_constraint(ast::as<ast::Constraint>(element));
  }
  for (Relation& sequence : builder.sequences) create_relation(session, std::move(sequence));
  if (statement.partspec != nullptr) {
    relation.partition_key = read_partition_key(session, relation, *statement.partspec);
  }
  if (parent) set_bound(session, *parent, statement, relation);
  builder.finish();
  const TablePtr table = create_relation(session, std::move(relation));
  announce_foreign_keys(session, table->relation, 0);
  for (const Oid above : table->relation.parents) join_heir(session, above, table->relation.oid);
  if (parent) {
    inherit_indexes(session, join_parent(session, parent, table->relation.oid),
                    table->relation.oid);
  }
  note_on_commit(session, *table);
}

ViewName view_name_of(const Binder::RelationRead& read) {
  ViewName name{read.schema, read.name, read.table->relation.oid, {}};
  const auto& columns = read.table->relation.columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].dropped) continue;
    name.columns.push_back({static_cast<std::int16_t>(i + 1), columns[i].name});
  }
  return name;
}

void create_table_as(StatementContext& session, const ast::CreateTableAsStmt& statement,
                     const Statement& whole, std::span<const Value> parameters, ResultSink& sink) {
  const bool is_table = statement.objtype == ast::ObjectType::table;
  const RelationKind kind = is_table ? RelationKind::table : RelationKind::materialized;
  const ast::IntoClause& into = *statement.into;
  if (!is_table && into.rel->relpersistence == "u") {
    throw SqlError{sqlstate::feature_not_supported, "materialized views cannot be unlogged"};
  }
  Relation relation = new_relation(session, *into.rel, kind);
  if (skip_existing(session, relation, statement.if_not_exists, sink)) {
    return sink.command_complete(command_tag(statement));
  }
  PortalPtr portal;
  if (const auto* execute = ast::try_as<ast::ExecuteStmt>(statement.query)) {
    portal = session.inner.portal_of(*execute);
    if (!ast::is<ast::SelectStmt>(portal->statement->node)) {
      throw SqlError{sqlstate::wrong_object_type, "prepared statement is not a SELECT"};
    }
  } else {
    auto select = std::make_shared<sql::Statement>();
    select->node = statement.query;
    select->declared_types = whole.parameter_types;
    select->takes_parameters = whole.takes_parameters;
    if (!is_table && !whole.parameter_types.empty())
      throw SqlError{sqlstate::feature_not_supported,
                     "materialized views may not be defined using bound parameters"};
    portal = session.inner.make_portal(std::move(select), parameters);
  }
  const StatementPtr source = portal->statement;
  if (into.col_names.size() > source->columns().size()) {
    throw SqlError{sqlstate::syntax_error, "too many column names were specified"};
  }
  set_on_commit(relation, into.on_commit);
  require_heap(into.access_method);
  require_known_tablespace(into.table_space_name);
  relation.options = storage_options(into.options, OptionsOf::new_table);
  refuse_more_columns(source->columns().size());
  for (std::size_t i = 0; i < source->columns().size(); ++i) {
    Column column;
    column.name = i < into.col_names.size() ? std::string{ast::string_of(into.col_names[i])}
                                            : source->columns()[i].name;
    column.type = source->columns()[i].type;
    column.typmod = source->columns()[i].typmod;
    require_type_usage(session, column.type);
    define_collation(column, DefinedIn::table);
    if (!has_io(column.type)) {
      throw_error(SqlState{"42P16"}, "column \"{}\" has pseudo-type {}", column.name,
                  format_type(column.type));
    }
    for (const Column& other : relation.columns) {
      if (other.name == column.name) {
        throw_error(SqlState{"42701"}, "column \"{}\" specified more than once", column.name);
      }
    }
    relation.columns.push_back(std::move(column));
  }
  if (kind == RelationKind::materialized) {
    Arena arena;
    Binder binder{session.names, arena};
    static_cast<void>(binder.bind_select(ast::as<ast::SelectStmt>(source->node), nullptr));
    relation.view_names = binder.rows_read();
    for (const Binder::RelationRead& read : binder.relations_read()) {
      relation.view_names.push_back(view_name_of(read));
    }
    relation.view_types = binder.types_read();
    require_type_usage(session, relation.view_types);
    relation.view_routines = binder.routines_read();
    hold_named(session, relation.view_routines);
    relation.view_sql = view_query_text(whole, *into.rel);
    relation.populated = !into.skip_data;
  }
  const TablePtr table = create_relation(session, std::move(relation));
  note_on_commit(session, *table);
  if (into.skip_data) {
    const bool executes = ast::is<ast::ExecuteStmt>(statement.query);
    return sink.command_complete(executes ? "SELECT 0" : command_tag(statement));
  }
  // A materialized view is filled as REFRESH will fill it.
  const std::uint64_t rows =
      is_table ? fill_table(session, table, *portal) : fill_from_query(session, table, table);
  sink.command_complete(fmt::format("SELECT {}", rows));
}

}  // namespace swizzle::sql

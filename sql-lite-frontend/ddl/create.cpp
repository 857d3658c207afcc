#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/ddl/collations.h"
#include "sql-lite-frontend/ddl/inverted_index.h"
#include "sql-lite-frontend/ddl/named_relation.h"
#include "sql-lite-frontend/ddl/relation_options.h"
#include "sql-lite-frontend/ddl/role_rights.h"
#include "sql-lite-frontend/ddl/statements.h"
#include "sql-lite-frontend/ddl/table_builder.h"
#include "sql-lite-frontend/ddl/table_rewrite.h"
#include "sql-lite-frontend/ddl/type_definition.h"
#include "sql-lite-frontend/ddl/user_types.h"
#include "sql-lite-frontend/session/names/in_use.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

/// CREATE of tables, indexes, sequences and schemas.
namespace swizzle::sql {
namespace {

void refuse_table_features(const ast::CreateStmt& statement) {
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::feature_not_supported, "{} is not supported", what);
  };
  if (!statement.inh_relations.empty()) refuse("table inheritance");
  if (statement.partspec != nullptr || statement.partbound != nullptr) {
    refuse("table partitioning");
  }
  if (statement.of_typename != nullptr) refuse("CREATE TABLE OF");
  if (!statement.tablespacename.empty() && statement.tablespacename != "pg_default") {
    throw_error(sqlstate::undefined_object, "tablespace \"{}\" does not exist",
                statement.tablespacename);
  }
  if (!statement.access_method.empty() && statement.access_method != "heap") {
    throw_error(sqlstate::undefined_object, "access method \"{}\" does not exist",
                statement.access_method);
  }
}

/// Before anything else is looked at, as PostgreSQL does.
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

/// The schema in which the session may create what the name says.
Oid creation_place(Session::State& session, const ast::RangeVar& range) {
  const Oid place = session.names.creation_schema(range);
  const SchemaPtr schema = session.catalog.schema(place);
  if (schema && !session.rights.may(*schema, privilege::kCreate)) {
    throw_error(SqlState{"42501"}, "permission denied for schema {}", schema->name);
  }
  return place;
}

/// Of all that is created in a schema PostgreSQL says for tables alone where their name stands.
void check_place_of_table(Session::State& session, const ast::RangeVar& range) {
  try {
    static_cast<void>(creation_place(session, range));
  } catch (SqlError& error) {
    // But not where it refuses to make one of the system's.
    if (error.error().detail().empty()) error.fields().position = range.location + 1;
    throw;
  }
}

}  // namespace

Relation new_relation(Session::State& session, const ast::RangeVar& range, RelationKind kind) {
  Relation relation;
  relation.oid = session.catalog.allocate_oid();
  relation.schema = creation_place(session, range);
  relation.name = range.relname;
  relation.kind = kind;
  relation.owner = session.user;
  if (relation.schema == session.names.temp_schema) {
    relation.persistence = Persistence::temporary;
  } else if (range.relpersistence == "u") {
    relation.persistence = Persistence::unlogged;
  }
  refuse_type_name(session, relation.schema, relation.name);
  return relation;
}

bool skip_existing(Session::State& session, const Relation& relation, bool if_not_exists,
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

void note_on_commit(Session::State& session, const Table& table) {
  if (table.relation.on_commit == 'd') {
    session.transaction.truncate_at_commit(table.relation.oid);
  } else if (table.relation.on_commit == 'x') {
    session.transaction.drop_at_commit(table.relation.oid);
  }
}

}  // namespace

void create_table(Session::State& session, const ast::CreateStmt& statement, ResultSink& sink) {
  refuse_table_features(statement);
  refuse_repeated_columns(statement);
  check_place_of_table(session, *statement.relation);
  Relation relation = new_relation(session, *statement.relation, RelationKind::table);
  if (skip_existing(session, relation, statement.if_not_exists, sink)) {
    sink.command_complete("CREATE TABLE");
    return;
  }
  relation.options = storage_options(statement.options);
  set_on_commit(relation, statement.oncommit);
  TableBuilder builder{session, relation};
  for (const ast::Node* element : statement.table_elts) {
    if (const auto* column = ast::try_as<ast::ColumnDef>(element)) {
      builder.add_column(*column);
    } else if (const auto* constraint = ast::try_as<ast::Constraint>(element)) {
      builder.add_constraint(*constraint);
    } else {
      builder.add_like(ast::as<ast::TableLikeClause>(element));
    }
  }
  for (const ast::Node* element : statement.constraints) {
    builder.add_constraint(ast::as<ast::Constraint>(element));
  }
  for (Relation& sequence : builder.sequences) create_relation(session, std::move(sequence));
  builder.finish();
  const TablePtr table = create_relation(session, std::move(relation));
  announce_foreign_keys(session, table->relation, 0);
  note_on_commit(session, *table);
  sink.command_complete("CREATE TABLE");
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

void create_table_as(Session::State& session, const ast::CreateTableAsStmt& statement,
                     const Statement& whole, std::span<const Value> parameters, ResultSink& sink) {
  const bool is_table = statement.objtype == ast::ObjectType::table;
  const RelationKind kind = is_table ? RelationKind::table : RelationKind::materialized;
  const std::string_view tag = is_table ? "CREATE TABLE AS" : "CREATE MATERIALIZED VIEW";
  const ast::IntoClause& into = *statement.into;
  if (!is_table && into.rel->relpersistence == "u") {
    throw SqlError{sqlstate::feature_not_supported, "materialized views cannot be unlogged"};
  }
  Relation relation = new_relation(session, *into.rel, kind);
  if (skip_existing(session, relation, statement.if_not_exists, sink)) {
    sink.command_complete(tag);
    return;
  }
  PortalPtr portal;
  if (const auto* execute = ast::try_as<ast::ExecuteStmt>(statement.query)) {
    portal = session.portal_of(*execute);
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
    portal = session.portals.make(std::move(select), parameters);
  }
  const StatementPtr source = portal->statement;
  if (into.col_names.size() > source->columns().size()) {
    throw SqlError{sqlstate::syntax_error, "too many column names were specified"};
  }
  set_on_commit(relation, into.on_commit);
  refuse_more_columns(source->columns().size());
  for (std::size_t i = 0; i < source->columns().size(); ++i) {
    Column column;
    column.name = i < into.col_names.size() ? std::string{ast::string_of(into.col_names[i])}
                                            : source->columns()[i].name;
    column.type = source->columns()[i].type;
    column.typmod = source->columns()[i].typmod;
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
    for (const Binder::RelationRead& read : binder.relations_read()) {
      relation.view_names.push_back(view_name_of(read));
    }
    relation.view_types = binder.types_read();
    relation.view_routines = binder.routines_read();
    hold_named(session, relation.view_routines);
    relation.view_sql = view_query_text(whole);
    relation.populated = !into.skip_data;
  }
  const TablePtr table = create_relation(session, std::move(relation));
  note_on_commit(session, *table);
  const std::uint64_t rows = into.skip_data ? 0 : fill_table(session, table, *portal);
  if (into.skip_data) return sink.command_complete(tag);
  sink.command_complete(fmt::format("SELECT {}", rows));
}

namespace {

/// What is found by an index USING gist: ranges by where they lie.
void require_range_index(Session::State& session, TypeId type, const ast::IndexElem& element) {
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::feature_not_supported, "access method \"gist\" does not support {}",
                what);
  };
  if (range_subtype(base_type(type)) == TypeId::none) {
    require_gist_class(session, type);
    throw_error(sqlstate::feature_not_supported,
                "an index USING gist over type {} is not supported", format_type(type));
  }
  if (element.ordering != ast::SortByDir::default_) refuse("ASC/DESC options");
  if (element.nulls_ordering != ast::SortByNulls::default_) refuse("NULLS FIRST/LAST options");
  const std::string_view name =
      element.opclass.empty() ? "range_ops" : ast::string_of(element.opclass.back());
  if (name == "range_ops") return;
  throw_error(sqlstate::undefined_object,
              "operator class \"{}\" does not exist for access method \"gist\"", name);
}

/// COLLATE around what is indexed is the index's own: what is left is a column, or an expression.
struct CollatedKey {
  std::string_view name;
  const ast::Node* expr = nullptr;  ///< null: a column
  ast::NodeList collation;
};
CollatedKey collated_key(const ast::IndexElem& element) {
  CollatedKey key{element.name, element.expr, element.collation};
  while (key.expr != nullptr) {
    const auto* clause = ast::try_as<ast::CollateClause>(key.expr);
    if (clause == nullptr) break;
    if (key.collation.empty()) key.collation = clause->collname;
    key.expr = clause->arg;
    const auto* column = ast::try_as<ast::ColumnRef>(key.expr);
    if (column == nullptr || column->fields.size() != 1 ||
        !ast::is<ast::String>(column->fields[0])) {
      continue;
    }
    key.name = ast::string_of(column->fields[0]);
    key.expr = nullptr;
  }
  return key;
}

/// Pattern classes order by bytes, whatever the collation (IndexColumn::key_type).
void check_operator_class(std::string_view name) {
  if (name.ends_with("_pattern_ops") || name == "enum_ops") return;
  constexpr std::string_view kEnd = "_ops";
  std::string_view type = name;
  if (type.ends_with(kEnd)) type.remove_suffix(kEnd.size());
  if (find_built_in_type(type) != nullptr) return;
  throw_error(sqlstate::undefined_object,
              "operator class \"{}\" does not exist for access method \"btree\"", name);
}

/// PostgreSQL lists composite types among the relations.
void refuse_composite(Session::State& session, const ast::RangeVar& name) {
  const TypePtr type = find_type_named(session, TypeName{name.schemaname, name.relname});
  if (!type || !is_composite(type->id())) return;
  throw_error(sqlstate::wrong_object_type, "\"{}\" is a composite type", type->name);
}

/// What an index of that kind cannot have is refused; what it can, a tree has.
void as_hash(Session::State& session, const ast::IndexStmt& statement, ResultSink& sink) {
  const auto refuse = [](std::string_view what) {
    throw_error(sqlstate::feature_not_supported, "access method \"hash\" does not support {}",
                what);
  };
  if (statement.unique) refuse("unique indexes");
  if (!statement.index_including_params.empty()) refuse("included columns");
  if (statement.index_params.size() > 1) refuse("multicolumn indexes");
  const auto& element = ast::as<ast::IndexElem>(statement.index_params[0]);
  if (element.ordering != ast::SortByDir::default_) refuse("ASC/DESC options");
  if (element.nulls_ordering != ast::SortByNulls::default_) refuse("NULLS FIRST/LAST options");
  session.notice(sink, Severity::notice, SqlState{"00000"},
                 "access method \"hash\" is not supported, the index is a \"btree\"");
}

}  // namespace

void create_index(Session::State& session, const ast::IndexStmt& statement, ResultSink& sink) {
  const bool is_inverted = statement.access_method == "gin";
  const bool is_of_ranges = statement.access_method == "gist";
  if (statement.access_method == "hash") {
    as_hash(session, statement, sink);
  } else if (is_inverted) {
    check_inverted_index(statement);
  } else if (is_of_ranges) {
    if (statement.unique) {
      throw SqlError{sqlstate::feature_not_supported,
                     "access method \"gist\" does not support unique indexes"};
    }
    if (statement.index_params.size() > 1) {
      throw SqlError{sqlstate::feature_not_supported,
                     "indexes of several columns USING gist are not supported"};
    }
  } else if (!statement.access_method.empty() && statement.access_method != "btree") {
    constexpr std::string_view kOthers[] = {"spgist", "brin"};
    const bool known = std::ranges::find(kOthers, statement.access_method) != std::end(kOthers);
    throw_error(known ? sqlstate::feature_not_supported : sqlstate::undefined_object,
                "access method \"{}\" {}", statement.access_method,
                known ? "is not supported" : "does not exist");
  }
  if (statement.concurrent) session.transaction.prevent_in_block("CREATE INDEX CONCURRENTLY");
  Arena arena;
  Binder binder{session.names, arena};
  if (!binder.find_table(*statement.relation)) refuse_composite(session, *statement.relation);
  TablePtr table = binder.require_relation(*statement.relation);
  if (!keeps_rows(table->relation.kind)) {
    throw sql_error(sqlstate::wrong_object_type, "cannot create index on relation \"{}\"",
                    table->relation.name)
        .with_detail(
            fmt::format("This operation is not supported for {}.", plural_of({table, nullptr})));
  }
  table = session.rights.lock_own(table, lock::RelationMode::share);
  require_unused(session, *table, "CREATE INDEX");
  refuse_more_index_columns(statement.index_params.size() +
                            statement.index_including_params.size());
  Relation relation = table->relation;
  Index index;
  index.oid = session.catalog.allocate_oid();
  if (is_inverted) index.method = IndexMethod::inverted;
  if (is_of_ranges) index.method = IndexMethod::ranges;
  index.unique = statement.unique;
  index.nulls_not_distinct = statement.nulls_not_distinct;
  std::vector<std::string> names;
  for (const ast::Node* node : statement.index_params) {
    const auto& element = ast::as<ast::IndexElem>(node);
    IndexColumn column;
    std::string name{element.name};
    const CollatedKey key = collated_key(element);
    if (key.expr == nullptr) {
      const auto position = table->column_position(key.name);
      if (!position) {
        throw_error(sqlstate::undefined_column, "column \"{}\" does not exist", key.name);
      }
      column.column = static_cast<std::int16_t>(*position + 1);
      column.type = relation.columns[*position].expression_type();
    } else {
      column.expression_sql =
          stored_expression(session, relation, key.expr, Clause::index_expression, nullptr);
      const ExprPtr expr = binder.bind_table_expression(column.expression_sql, *table,
                                                        binder.new_slots(relation.columns.size()),
                                                        Clause::index_expression);
      column.type = expr->type();
      name = binder.target_name_of(element.expr);
      if (name == "?column?") name = "expr";
    }
    if (name.empty()) name = key.name;
    if (is_inverted) {
      column.collation = collation_of_key(session, key.collation, column.type);
      column.type = without_collation(column.type);
      column.operator_class =
          element_class_name(session, column.type,
                             element.opclass.empty() ? "" : ast::string_of(element.opclass.back()));
      check_inverted_column(element);
      index.columns.push_back(std::move(column));
      names.push_back(name);
      continue;
    }
    if (is_of_ranges) require_range_index(session, column.type, element);
    if (!is_indexable(column.type)) {
      throw sql_error(sqlstate::undefined_object,
                      "data type {} has no default operator class for access method \"btree\"",
                      format_type(column.type))
          .with_hint(
              "You must specify an operator class for the index or define a default "
              "operator class for the data type.");
    }
    column.collation = collation_of_key(session, key.collation, column.type);
    column.type = without_collation(column.type);
    if (!element.opclass.empty() && !is_of_ranges) {
      column.operator_class = ast::string_of(element.opclass.back());
      check_operator_class(column.operator_class);
    }
    if (element.ordering == ast::SortByDir::desc) column.direction = SortDirection::descending;
    column.nulls =
        column.direction == SortDirection::descending ? NullsOrder::first : NullsOrder::last;
    if (element.nulls_ordering == ast::SortByNulls::first) column.nulls = NullsOrder::first;
    if (element.nulls_ordering == ast::SortByNulls::last) column.nulls = NullsOrder::last;
    index.columns.push_back(std::move(column));
    names.push_back(name);
  }
  check_index_options(index.method, statement.options);
  for (const ast::Node* node : statement.index_including_params) {
    const auto& element = ast::as<ast::IndexElem>(node);
    const auto position = table->column_position(element.name);
    if (!position) {
      throw_error(sqlstate::undefined_column, "column \"{}\" does not exist", element.name);
    }
    index.included.push_back(static_cast<std::int16_t>(*position + 1));
    names.emplace_back(element.name);
  }
  if (statement.where_clause != nullptr) {
    index.predicate_sql = stored_expression(session, relation, statement.where_clause,
                                            Clause::index_predicate, nullptr);
  }
  index.name =
      statement.idxname.empty()
          ? free_name(session, relation, object_name(relation.name, joined_once(names), "idx"))
          : std::string{statement.idxname};
  if (session.catalog.table(relation.schema, index.name) != nullptr ||
      session.catalog.table_of_index(relation.schema, index.name) != nullptr) {
    if (!statement.if_not_exists) {
      throw_error(sqlstate::duplicate_table, "relation \"{}\" already exists", index.name);
    }
    session.notice(sink, Severity::notice, sqlstate::duplicate_table,
                   fmt::format("relation \"{}\" already exists, skipping", index.name));
    sink.command_complete("CREATE INDEX");
    return;
  }
  refuse_relation_name(session, relation.schema, index.name);
  index.tree = value_of(session.shared.engine.create_tree(*session.transaction));
  relation.indexes.push_back(std::move(index));
  const TablePtr changed =
      session.catalog.replace(*session.transaction, *table, std::move(relation));
  fill_index(session, changed, changed->relation.indexes.size() - 1);
  sink.command_complete("CREATE INDEX");
}

void create_schema(Session::State& session, const ast::CreateSchemaStmt& statement,
                   ResultSink& sink) {
  std::string name{statement.schemaname};
  if (name.empty() && statement.authrole != nullptr)
    name = role_of(session, *statement.authrole)->name;
  if (!statement.schema_elts.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "CREATE SCHEMA with elements is not supported"};
  }
  const Oid schema_owner =
      statement.authrole != nullptr ? role_of(session, *statement.authrole)->oid : session.user;
  session.rights.require_create_on_database();
  if (const RolePtr role = session.catalog.role(schema_owner))
    session.rights.require_membership_in(*role);
  require_schema_name(name);
  if (session.catalog.schema(name)) {
    if (!statement.if_not_exists) {
      throw_error(sqlstate::duplicate_schema, "schema \"{}\" already exists", name);
    }
    session.notice(sink, Severity::notice, sqlstate::duplicate_schema,
                   fmt::format("schema \"{}\" already exists, skipping", name));
  } else {
    Schema schema;
    schema.oid = session.catalog.allocate_oid();
    schema.name = name;
    schema.owner = schema_owner;
    schema.grants = grants_of_new(session.catalog.shared(), *session.transaction, schema.owner,
                                  kNoOid, GrantedOn::schema);
    session.catalog.create(*session.transaction, std::move(schema));
  }
  sink.command_complete("CREATE SCHEMA");
}

}  // namespace swizzle::sql

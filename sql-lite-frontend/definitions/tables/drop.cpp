#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/catalog/relation_noun.h"
#include "sql-lite-frontend/definitions/dependents/constant_dependents.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/indexes/beside_writers.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/definitions/triggers/event_triggers.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/definitions/views/materialized_view.h"
#include "sql-lite-frontend/execution/publish/row_publisher.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/routines/triggers/table_triggers.h"
#include "sql-lite-frontend/statement/names/heirs.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/statement/object_types.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// DROP and TRUNCATE.
namespace swizzle::sql {
namespace {

std::string dotted(ast::NodeList names) {
  std::string text;
  for (const ast::Node* name : names) {
    if (!text.empty()) text += ".";
    text += ast::string_of(name);
  }
  return text;
}

struct QualifiedName {
  std::string schema;
  std::string name;
};
QualifiedName qualified(const ast::Node* node) {
  const ast::NodeList names = ast::as<ast::List>(node).items;
  QualifiedName result;
  result.name = ast::string_of(names.back());
  if (names.size() > 1) result.schema = ast::string_of(names[names.size() - 2]);
  return result;
}

}  // namespace

namespace {

/// Throws 42809: the name belongs to an object of another kind.
[[noreturn]] void wrong_kind(std::string_view name, std::string_view wanted, std::string_view is) {
  std::string upper{is};
  std::ranges::transform(upper, upper.begin(), [](unsigned char letter) {
    return static_cast<char>(std::toupper(letter));
  });
  throw sql_error(sqlstate::wrong_object_type, "\"{}\" is not {} {}", name,
                  wanted == "index" ? "an" : "a", wanted)
      .with_hint(
          fmt::format("Use DROP {} to remove {} {}.", upper, is == "index" ? "an" : "a", is));
}

void say_missing(StatementContext& session, const ast::DropStmt& statement, std::string_view kind,
                 std::string_view name, SqlState state, ResultSink& sink) {
  if (!statement.missing_ok) throw_error(state, "{} \"{}\" does not exist", kind, name);
  notice_missing(session, sink, fmt::format("{} \"{}\"", kind, name));
}

/// Returns the table with the index of that name, found by the search path or in the given schema.
TablePtr owner_of_index(StatementContext& session, const QualifiedName& name) {
  if (!name.schema.empty()) {
    const SchemaPtr schema = session.catalog.schema(name.schema);
    return schema ? session.catalog.table_of_index(schema->oid, name.name) : nullptr;
  }
  for (const Oid oid : session.names.search_path()) {
    if (TablePtr table = session.catalog.table_of_index(oid, name.name)) return table;
  }
  return nullptr;
}

/// Refuses to drop an identity column's sequence without its column.
void refuse_identity_sequence(StatementContext& session, const Table& table) {
  const auto& sequence = *table.relation.sequence;
  const TablePtr owner = sequence.identity ? session.names.table(sequence.owner_table) : nullptr;
  if (!owner) return;
  const std::string column =
      fmt::format("column {} of table {}",
                  owner->relation.columns[static_cast<std::size_t>(sequence.owner_column - 1)].name,
                  *session.names.name_of(TypeId::regclass, owner->relation.oid));
  throw sql_error(sqlstate::dependent_objects_still_exist, "cannot drop {} because {} requires it",
                  described(session, table), column)
      .with_hint(fmt::format("You can drop {} instead.", column));
}

/// Lets the owner of a schema drop the objects in it.
void require_droppable(StatementContext& session, const NamedRelation& named) {
  const SchemaPtr schema = session.catalog.schema(named.table->relation.schema);
  if (!schema || !session.rights.owns(schema->owner)) require_alterable(session, named);
}

void drop_relations(StatementContext& session, const ast::DropStmt& statement, RelationKind wanted,
                    ResultSink& sink) {
  const std::string_view kind = noun_of(wanted);
  std::vector<TablePtr> tables;
  for (const ast::Node* node : statement.objects) {
    const QualifiedName name = qualified(node);
    const std::string written = dotted(ast::as<ast::List>(node).items);
    if (!name.schema.empty() && !session.names.schema_exists(name.schema)) {
      say_missing(session, statement, "schema", name.schema, sqlstate::invalid_schema_name, sink);
      continue;
    }
    TablePtr table = session.names.find_table(name.schema, name.name);
    if (table && table->computed != nullptr) {
      throw_error(SqlState{"42501"}, "permission denied: \"{}\" is a system catalog",
                  table->relation.name);
    }
    if (!table) {
      if (owner_of_index(session, name)) wrong_kind(name.name, kind, "index");
      say_missing(session, statement, kind, written, sqlstate::undefined_table, sink);
      continue;
    }
    const bool is_it = table->relation.kind == wanted ||
                       (wanted == RelationKind::table && table->relation.is_partitioned());
    if (!is_it) {
      wrong_kind(name.name, kind, noun_of(table->relation.kind));
    }
    if (wanted == RelationKind::sequence) refuse_identity_sequence(session, *table);
    tables.push_back(std::move(table));
  }
  if (tables.empty()) return;
  const std::string what =
      tables.size() == 1 ? described(session, *tables[0]) : std::string{kSeveralObjects};
  for (const TablePtr& table : tables) require_droppable(session, {table, nullptr});
  // Statements lock partitioned tables before their partitions, and parents before their heirs: do
  // the same.
  for (const TablePtr& table : tables) {
    for (const Oid parent : table->relation.parents) {
      session.catalog.lock(*session.transaction, parent,
                           lock::RelationMode::share_update_exclusive);
    }
    if (!table->relation.is_partition()) continue;
    session.catalog.lock(*session.transaction, table->relation.partition_of,
                         lock::RelationMode::access_exclusive);
  }
  std::vector<TablePtr> all;
  for (const TablePtr& table : tables) {
    for (const TablePtr& one : with_partitions(session, table)) {
      all.push_back(session.catalog.lock_for_change(*session.transaction, one));
    }
  }
  drop_dependents(session, dependents_of(session, all), what, statement.behavior, sink);
  for (const TablePtr& table : tables) {
    if (session.catalog.table(table->relation.oid)) session.drop_relation(table);
  }
}

/// Drops, or reports, foreign keys that use a unique index without a constraint.
void drop_users_of_index(StatementContext& session, const Table& table, std::string_view name,
                         ast::DropBehavior behavior, ResultSink& sink) {
  const auto index = std::ranges::find(table.relation.indexes, name, &Index::name);
  if (index == table.relation.indexes.end() || !index->unique) return;
  const bool is_of_constraint =
      std::ranges::any_of(table.relation.constraints, [&](const Constraint& constraint) {
        return constraint.index == index->oid && constraint.kind != ConstraintKind::foreign_key;
      });
  if (is_of_constraint) return;
  Constraint key;
  key.kind = ConstraintKind::unique;
  key.name = index->name;
  key.index = index->oid;
  drop_dependents(session, dependents_of_key(session, table, key), "index " + key.name, behavior,
                  sink);
}

/// Refuses to drop a partition's part of an index without its parent's.
void refuse_part_of_index(StatementContext& session, const Table& table, std::string_view name) {
  const auto index = std::ranges::find(table.relation.indexes, name, &Index::name);
  if (index == table.relation.indexes.end() || index->parent == kNoOid) return;
  const TablePtr parent = session.names.table(table.relation.partition_of);
  const Index* const whole = parent ? parent->index_by_oid(index->parent) : nullptr;
  if (whole == nullptr) return;
  throw sql_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop index {} because index {} requires it", name, whole->name)
      .with_hint(fmt::format("You can drop index {} instead.", whole->name));
}

void drop_index(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  if (statement.concurrent) {
    const auto refuse = [](std::string_view what) {
      throw_error(sqlstate::feature_not_supported, "DROP INDEX CONCURRENTLY does not support {}",
                  what);
    };
    if (statement.objects.size() > 1) refuse("dropping multiple objects");
    if (statement.behavior == ast::DropBehavior::cascade) refuse("CASCADE");
  }
  for (const ast::Node* node : statement.objects) {
    const QualifiedName name = qualified(node);
    TablePtr table = owner_of_index(session, name);
    if (!table) {
      const bool has_schema = name.schema.empty() || session.names.schema_exists(name.schema);
      if (const TablePtr other =
              has_schema ? session.names.find_table(name.schema, name.name) : nullptr) {
        wrong_kind(name.name, "index", noun_of(other->relation.kind));
      }
      say_missing(session, statement, "index", dotted(ast::as<ast::List>(node).items),
                  sqlstate::undefined_object, sink);
      continue;
    }
    const auto named = std::ranges::find(table->relation.indexes, name.name, &Index::name);
    require_droppable(session, {table, &*named});
    // A temporary table has no other users.
    const bool is_beside_users =
        statement.concurrent && table->relation.persistence != Persistence::temporary;
    table =
        session.catalog.lock_for_change(*session.transaction, table,
                                        is_beside_users ? lock::RelationMode::share_update_exclusive
                                                        : lock::RelationMode::access_exclusive);
    require_index_unused(session, *table, name.name);
    if (statement.concurrent && table->relation.is_partitioned()) {
      throw_error(sqlstate::feature_not_supported,
                  "cannot drop partitioned index \"{}\" concurrently", name.name);
    }
    refuse_part_of_index(session, *table, name.name);
    drop_users_of_index(session, *table, name.name, statement.behavior, sink);
    table = session.catalog.table(table->relation.oid);
    Relation relation = table->relation;
    const auto index = std::ranges::find(relation.indexes, name.name, &Index::name);
    if (index == relation.indexes.end()) {
      throw_error(sqlstate::undefined_object, "index \"{}\" does not exist", name.name);
    }
    const auto constraint = std::ranges::find_if(relation.constraints, [&](const Constraint& c) {
      return c.index == index->oid && c.kind != ConstraintKind::foreign_key;
    });
    if (constraint != relation.constraints.end()) {
      throw sql_error(sqlstate::dependent_objects_still_exist,
                      "cannot drop index {} because constraint {} on table {} requires it",
                      index->name, constraint->name, relation.name)
          .with_hint(fmt::format("You can drop constraint {} on table {} instead.",
                                 constraint->name, relation.name));
    }
    if (is_beside_users) {
      const IndexPlace place{relation.oid, index->oid};
      if (index->is_valid()) index->state = IndexState::building;
      session.catalog.replace(*session.transaction, *table, std::move(relation));
      return drop_beside_users(session, place);
    }
    drop_parts_of_index(session, *table, index->oid);
    drop_index_tree(session, *index);
    relation.indexes.erase(index);
    session.catalog.replace(*session.transaction, *table, std::move(relation));
  }
}

void drop_schema(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  for (const ast::Node* node : statement.objects) {
    const std::string name{ast::string_of(node)};
    const SchemaPtr schema = session.catalog.schema(name);
    if (!schema) {
      say_missing(session, statement, "schema", name, sqlstate::invalid_schema_name, sink);
      continue;
    }
    if (schema->oid == kPgCatalogSchema) {
      throw_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop schema {} because it is required by the database "
                  "system",
                  name);
    }
    session.rights.require_owner(*schema);
    // Creating an object in the schema locks it, so none appears after this.
    session.catalog.lock(*session.transaction, schema->oid, lock::RelationMode::access_exclusive);
    std::vector<TablePtr> inside;
    std::vector<Dependent> dependents;
    for (const TablePtr& table : session.catalog.naming<Table>({schema->oid})) {
      if (table->relation.schema == schema->oid) inside.push_back(table);
    }
    for (const TablePtr& table : inside) {
      const auto& sequence = table->relation.sequence;
      if (sequence && sequence->owner_table != kNoOid) continue;
      dependents.push_back(
          {Dependent::Kind::table, table, kNoOid, 0, described(session, *table), "schema " + name});
    }
    for (Dependent& dependent : dependents_of(session, inside)) {
      dependents.push_back(std::move(dependent));
    }
    add_types_of_schema(session, *schema, dependents);
    add_collations_of_schema(session, *schema, dependents);
    add_text_search_of_schema(session, *schema, dependents);
    add_routines_of_schema(session, *schema, dependents);
    ConstantDependents{session, TypeId::regnamespace, schema->oid, "schema " + name}.collect(
        dependents);
    replace_members(session, "schema " + name, dependents);
    add_extensions_of_schema(session, *schema, dependents);
    drop_dependents(session, dependents, "schema " + name, statement.behavior, sink);
    for (const DefaultGrants& grants :
         read_default_grants(session.catalog.of_database(), *session.transaction)) {
      if (grants.schema != schema->oid) continue;
      remove_default_grants(session.catalog.of_database(), *session.transaction, grants);
    }
    forget_published_schema(session, schema->oid);
    session.catalog.remove(*session.transaction, *schema);
  }
}

}  // namespace

void drop_objects(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  switch (statement.remove_type) {
    case ast::ObjectType::table:
      return drop_relations(session, statement, RelationKind::table, sink);
    case ast::ObjectType::view:
      return drop_relations(session, statement, RelationKind::view, sink);
    case ast::ObjectType::matview:
      return drop_relations(session, statement, RelationKind::materialized, sink);
    case ast::ObjectType::sequence:
      return drop_relations(session, statement, RelationKind::sequence, sink);
    case ast::ObjectType::index:
      return drop_index(session, statement, sink);
    case ast::ObjectType::schema:
      return drop_schema(session, statement, sink);
    case ast::ObjectType::type:
    case ast::ObjectType::domain:
      return drop_types(session, statement, sink);
    case ast::ObjectType::function:
    case ast::ObjectType::procedure:
    case ast::ObjectType::routine:
    case ast::ObjectType::aggregate:
      return drop_routines(session, statement, sink);
    case ast::ObjectType::operator_:
      return drop_operators(session, statement, sink);
    case ast::ObjectType::collation:
      return drop_collations(session, statement, sink);
    case ast::ObjectType::tsdictionary:
    case ast::ObjectType::tsconfiguration:
      return drop_text_search(session, statement, sink);
    case ast::ObjectType::cast:
      return drop_casts(session, statement, sink);
    case ast::ObjectType::publication:
      return drop_publications(session, statement, sink);
    case ast::ObjectType::event_trigger:
      return drop_event_triggers(session, statement, sink);
    case ast::ObjectType::extension:
      return drop_extensions(session, statement, sink);
    case ast::ObjectType::trigger:
      return drop_trigger(session, statement, sink);
    case ast::ObjectType::policy:
      return drop_policy(session, statement, sink);
    default:
      throw_error(sqlstate::feature_not_supported, "DROP {} is not supported",
                  object_type_name(statement.remove_type));
  }
}

TablePtr empty_relation(StatementContext& session, const TablePtr& table) {
  Engine& engine = session.shared.engine;
  const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
  require_unused(session, *locked, "TRUNCATE");
  Relation relation = locked->relation;
  value_of(engine.drop_tree(*session.transaction, relation.tree));
  relation.tree = value_of(engine.create_tree(*session.transaction));
  for (Index& index : relation.indexes) {
    if (index.orders_rows()) continue;
    value_of(engine.drop_tree(*session.transaction, index.tree));
    index.tree = value_of(engine.create_tree(*session.transaction));
    index.state = IndexState::valid;
  }
  for (Column& column : relation.columns) column.missing.reset();
  relation.estimated_rows = -1;
  relation.estimated_pages = 0;
  for (Index& index : relation.indexes) index.estimated_pages = 0;
  return session.catalog.replace(*session.transaction, *locked, std::move(relation),
                                 std::make_shared<TableRuntime>());
}

void truncate_tables(StatementContext& session, const ast::TruncateStmt& statement,
                     ResultSink& sink) {
  std::vector<TablePtr> tables;
  Arena arena;
  Binder binder{session.names, arena};
  for (const ast::Node* node : statement.relations) {
    const auto& range = ast::as<ast::RangeVar>(node);
    const TablePtr table = binder.require_relation(range);
    if (!is_table(table->relation.kind)) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not a table", table->relation.name);
    }
    session.rights.require(table, privilege::kTruncate);
    if (table->relation.is_partitioned() && !range.inh) {
      throw SqlError{sqlstate::wrong_object_type, "cannot truncate only a partitioned table"}
          .with_hint(
              "Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly.");
    }
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
    const std::vector<TablePtr> all =
        range.inh ? with_parts(session, locked) : std::vector<TablePtr>{locked};
    for (const TablePtr& one : all) {
      const bool is_known = std::ranges::any_of(
          tables, [&](const TablePtr& known) { return known->relation.oid == one->relation.oid; });
      if (is_known) continue;
      // Lock first: references to the table cannot change any more when they are checked.
      tables.push_back(session.catalog.lock_for_change(*session.transaction, one));
      require_unused(session, *tables.back(), "TRUNCATE");
    }
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const TablePtr& other : session.names.referencing_tables(tables[i]->relation.oid)) {
      const bool included = std::ranges::any_of(tables, [&](const TablePtr& table) {
        return table->relation.oid == other->relation.oid;
      });
      if (included) continue;
      if (statement.behavior == ast::DropBehavior::cascade) {
        session.notice(sink, Severity::notice, SqlState{"00000"},
                       fmt::format("truncate cascades to table \"{}\"", other->relation.name));
        session.rights.require(other, privilege::kTruncate);
        require_unused(session, *other, "TRUNCATE");
        tables.push_back(other);
        continue;
      }
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot truncate a table referenced in a foreign key constraint"}
          .with_detail(fmt::format("Table \"{}\" references \"{}\".", other->relation.name,
                                   tables[i]->relation.name))
          .with_hint(fmt::format("Truncate table \"{}\" at the same time, or use TRUNCATE ... "
                                 "CASCADE.",
                                 other->relation.name));
    }
  }
  fire_for_truncate(session, tables, TriggerTime::before);
  for (const TablePtr& table : tables) {
    if (table->tree) empty_relation(session, table);
    if (!statement.restart_seqs) continue;
    for (const TablePtr& sequence : session.catalog.sequences_of(table->relation.oid)) {
      restart_sequence(session, sequence, sequence->relation.sequence->start);
    }
  }
  publish_truncate(session, tables, statement.behavior == ast::DropBehavior::cascade,
                   statement.restart_seqs);
  fire_for_truncate(session, tables, TriggerTime::after);
}

}  // namespace swizzle::sql

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/session/session_state.h"

/// DROP, TRUNCATE and VACUUM.
namespace swizzle::sql {
namespace {

constexpr SqlState kDependentObjects{"2BP01"};

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

void Session::State::drop_relation(const TablePtr& table) {
  const TablePtr locked = catalog.lock_for_change(*transaction, table);
  const Relation& relation = locked->relation;
  if (relation.kind == RelationKind::table) {
    value_of(shared.engine.drop_tree(*transaction, relation.tree));
    for (const Index& index : relation.indexes) {
      if (!index.primary) value_of(shared.engine.drop_tree(*transaction, index.tree));
    }
  }
  if (relation.sequence) shared.sequences.forget(relation.oid);
  catalog.remove(*transaction, *locked);
  // Sequences that belong to the table go with it.
  for (const TablePtr& other : catalog.tables()) {
    const auto& sequence = other->relation.sequence;
    if (sequence && sequence->owner_table == relation.oid) drop_relation(other);
  }
}

namespace {

/// What refers to the table: foreign keys of others, and views over it.
struct Dependents {
  std::vector<TablePtr> foreign_keys;
  std::vector<TablePtr> views;
  std::string detail;
};

Dependents dependents_of(Session::State& session, const Table& table,
                         std::span<const TablePtr> dropped) {
  Dependents found;
  const auto goes_too = [&](const TablePtr& other) {
    return std::ranges::any_of(
        dropped, [&](const TablePtr& d) { return d->relation.oid == other->relation.oid; });
  };
  for (const TablePtr& other : session.referencing_tables(table.relation.oid)) {
    if (goes_too(other)) continue;
    found.foreign_keys.push_back(other);
    for (const Constraint& constraint : other->relation.constraints) {
      if (constraint.referenced_table != table.relation.oid) continue;
      found.detail += fmt::format("{}constraint {} on table {} depends on table {}",
                                  found.detail.empty() ? "" : "\n", constraint.name,
                                  other->relation.name, table.relation.name);
    }
  }
  for (const TablePtr& other : session.catalog.tables()) {
    if (other->relation.kind != RelationKind::view || goes_too(other)) continue;
    bool depends = false;
    try {
      Arena arena;
      Binder binder{session, arena};
      Arena parse_arena;
      const auto script = parse_script(parse_arena, other->relation.view_sql);
      binder.bind_select(ast::as<ast::SelectStmt>(script[0]->stmt), nullptr);
      depends = std::ranges::any_of(binder.dependencies(), [&](const TablePtr& used) {
        return used->relation.oid == table.relation.oid;
      });
    } catch (const SqlError&) {
      depends = false;
    }
    if (!depends) continue;
    found.views.push_back(other);
    found.detail += fmt::format(
        "{}view {} depends on {} {}", found.detail.empty() ? "" : "\n", other->relation.name,
        table.relation.kind == RelationKind::view ? "view" : "table", table.relation.name);
  }
  return found;
}

void drop_with_dependents(Session::State& session, const TablePtr& table,
                          std::span<const TablePtr> dropped, bool cascade, std::string_view kind) {
  Dependents dependents = dependents_of(session, *table, dropped);
  if (!dependents.detail.empty() && !cascade) {
    throw sql_error(kDependentObjects, "cannot drop {} {} because other objects depend on it", kind,
                    table->relation.name)
        .with_detail(std::move(dependents.detail))
        .with_hint("Use DROP ... CASCADE to drop the dependent objects too.");
  }
  for (const TablePtr& other : dependents.foreign_keys) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, other);
    Relation relation = locked->relation;
    std::erase_if(relation.constraints, [&](const Constraint& constraint) {
      return constraint.kind == ConstraintKind::foreign_key &&
             constraint.referenced_table == table->relation.oid;
    });
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  }
  for (const TablePtr& view : dependents.views) {
    if (session.catalog.table(view->relation.oid)) {
      drop_with_dependents(session, view, dropped, cascade, "view");
    }
  }
  session.drop_relation(table);
}

}  // namespace

void Session::State::drop(const ast::DropStmt& statement, ResultSink& sink) {
  const bool cascade = statement.behavior == ast::DropBehavior::cascade;
  const auto missing = [&](std::string_view kind, const std::string& name, SqlState state) {
    if (!statement.missing_ok) throw_error(state, "{} \"{}\" does not exist", kind, name);
    notice(sink, Severity::notice, SqlState{"00000"},
           fmt::format("{} \"{}\" does not exist, skipping", kind, name));
  };
  const auto drop_relations = [&](RelationKind wanted, std::string_view kind) {
    std::vector<TablePtr> tables;
    for (const ast::Node* node : statement.objects) {
      const QualifiedName name = qualified(node);
      TablePtr table;
      if (name.schema.empty() || schema_exists(name.schema)) {
        try {
          table = find_table(name.schema, name.name);
        } catch (const SqlError&) {
          table = nullptr;
        }
      } else if (statement.missing_ok) {
        notice(sink, Severity::notice, SqlState{"00000"},
               fmt::format("schema \"{}\" does not exist, skipping", name.schema));
        continue;
      }
      if (table && table->computed != nullptr) {
        throw_error(SqlState{"42501"}, "permission denied: \"{}\" is a system catalog",
                    table->relation.name);
      }
      if (!table) {
        missing(kind, dotted(ast::as<ast::List>(node).items), sqlstate::undefined_table);
        continue;
      }
      if (table->relation.kind != wanted) {
        throw sql_error(sqlstate::wrong_object_type, "\"{}\" is not a {}", name.name, kind)
            .with_hint(table->relation.kind == RelationKind::view
                           ? "Use DROP VIEW to remove a view."
                           : (table->relation.kind == RelationKind::sequence
                                  ? "Use DROP SEQUENCE to remove a sequence."
                                  : "Use DROP TABLE to remove a table."));
      }
      tables.push_back(std::move(table));
    }
    for (const TablePtr& table : tables) {
      if (!catalog.table(table->relation.oid)) continue;
      if (wanted == RelationKind::sequence) {
        const auto& sequence = *table->relation.sequence;
        if (sequence.owner_table != kNoOid && !cascade) {
          const TablePtr owner_table = this->table(sequence.owner_table);
          if (owner_table) {
            throw sql_error(kDependentObjects,
                            "cannot drop sequence {} because other objects depend on it",
                            table->relation.name)
                .with_detail(
                    fmt::format("default value for column {} of table {} depends on sequence {}",
                                owner_table->relation
                                    .columns[static_cast<std::size_t>(sequence.owner_column - 1)]
                                    .name,
                                owner_table->relation.name, table->relation.name))
                .with_hint("Use DROP ... CASCADE to drop the dependent objects too.");
          }
        }
      }
      drop_with_dependents(*this, table, tables, cascade, kind);
    }
  };
  switch (statement.remove_type) {
    case ast::ObjectType::table:
      drop_relations(RelationKind::table, "table");
      sink.command_complete("DROP TABLE");
      return;
    case ast::ObjectType::view:
      drop_relations(RelationKind::view, "view");
      sink.command_complete("DROP VIEW");
      return;
    case ast::ObjectType::sequence:
      drop_relations(RelationKind::sequence, "sequence");
      sink.command_complete("DROP SEQUENCE");
      return;
    case ast::ObjectType::index:
      for (const ast::Node* node : statement.objects) {
        const QualifiedName name = qualified(node);
        TablePtr table;
        for (const Oid oid : search_path()) {
          if (!name.schema.empty()) break;
          if ((table = catalog.table_of_index(oid, name.name))) break;
        }
        if (!name.schema.empty()) {
          if (const SchemaPtr schema = catalog.schema(name.schema)) {
            table = catalog.table_of_index(schema->oid, name.name);
          }
        }
        if (!table) {
          missing("index", dotted(ast::as<ast::List>(node).items), sqlstate::undefined_object);
          continue;
        }
        table = catalog.lock_for_change(*transaction, table);
        Relation relation = table->relation;
        const auto index = std::ranges::find(relation.indexes, name.name, &Index::name);
        const auto constraint =
            std::ranges::find_if(relation.constraints, [&](const Constraint& c) {
              return c.index == index->oid && c.kind != ConstraintKind::foreign_key;
            });
        if (constraint != relation.constraints.end()) {
          throw sql_error(kDependentObjects,
                          "cannot drop index {} because constraint {} on table "
                          "{} requires it",
                          index->name, constraint->name, relation.name)
              .with_hint(fmt::format("You can drop constraint {} on table {} instead.",
                                     constraint->name, relation.name));
        }
        value_of(shared.engine.drop_tree(*transaction, index->tree));
        relation.indexes.erase(index);
        catalog.replace(*transaction, *table, std::move(relation));
      }
      sink.command_complete("DROP INDEX");
      return;
    case ast::ObjectType::schema:
      for (const ast::Node* node : statement.objects) {
        const std::string name{ast::string_of(node)};
        const SchemaPtr schema = catalog.schema(name);
        if (!schema) {
          missing("schema", name, sqlstate::invalid_schema_name);
          continue;
        }
        std::vector<TablePtr> inside;
        for (const TablePtr& table : catalog.tables()) {
          if (table->relation.schema == schema->oid) inside.push_back(table);
        }
        if (!inside.empty() && !cascade) {
          std::string detail;
          for (const TablePtr& table : inside) {
            detail += fmt::format("{}table {} depends on schema {}", detail.empty() ? "" : "\n",
                                  qualified_name(*table), name);
          }
          throw sql_error(kDependentObjects,
                          "cannot drop schema {} because other objects depend on it", name)
              .with_detail(std::move(detail))
              .with_hint("Use DROP ... CASCADE to drop the dependent objects too.");
        }
        for (const TablePtr& table : inside) {
          if (catalog.table(table->relation.oid)) {
            drop_with_dependents(*this, table, inside, true, "table");
          }
        }
        catalog.remove(*transaction, *schema);
      }
      sink.command_complete("DROP SCHEMA");
      return;
    default:
      if (statement.missing_ok) {
        // There are none of that kind, so there is nothing to skip but to say so.
        sink.command_complete("DROP");
        return;
      }
      throw SqlError{sqlstate::feature_not_supported,
                     "DROP of this kind of object is not supported"};
  }
}

void Session::State::truncate(const ast::TruncateStmt& statement, ResultSink& sink) {
  std::vector<TablePtr> tables;
  Arena arena;
  Binder binder{*this, arena};
  for (const ast::Node* node : statement.relations) {
    const TablePtr table = binder.require_table(ast::as<ast::RangeVar>(node));
    if (table->relation.kind != RelationKind::table) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not a table", table->relation.name);
    }
    tables.push_back(table);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (const TablePtr& other : referencing_tables(tables[i]->relation.oid)) {
      const bool included = std::ranges::any_of(tables, [&](const TablePtr& table) {
        return table->relation.oid == other->relation.oid;
      });
      if (included) continue;
      if (statement.behavior == ast::DropBehavior::cascade) {
        notice(sink, Severity::notice, SqlState{"00000"},
               fmt::format("truncate cascades to table \"{}\"", other->relation.name));
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
  Engine& engine = shared.engine;
  for (const TablePtr& table : tables) {
    const TablePtr locked = catalog.lock_for_change(*transaction, table);
    Relation relation = locked->relation;
    value_of(engine.drop_tree(*transaction, relation.tree));
    relation.tree = value_of(engine.create_tree(*transaction));
    for (Index& index : relation.indexes) {
      if (index.primary) continue;
      value_of(engine.drop_tree(*transaction, index.tree));
      index.tree = value_of(engine.create_tree(*transaction));
    }
    for (Column& column : relation.columns) column.missing.reset();
    relation.estimated_rows = -1;
    catalog.replace(*transaction, *locked, std::move(relation), std::make_shared<TableRuntime>());
    if (!statement.restart_seqs) continue;
    for (const TablePtr& other : catalog.tables()) {
      const auto& sequence = other->relation.sequence;
      if (sequence && sequence->owner_table == table->relation.oid) {
        shared.sequences.set(*shared.catalog, other->relation, sequence->start, false);
      }
    }
  }
  sink.command_complete("TRUNCATE TABLE");
}

void Session::State::vacuum(const ast::VacuumStmt& statement, ResultSink& sink) {
  if (statement.is_vacuumcmd) prevent_in_block("VACUUM");
  bool analyze = !statement.is_vacuumcmd;
  for (const ast::Node* node : statement.options) {
    analyze |= ast::as<ast::DefElem>(node).defname == "analyze";
  }
  // There is nothing to clean: rows are changed in place. ANALYZE counts.
  std::vector<TablePtr> tables;
  Arena arena;
  Binder binder{*this, arena};
  for (const ast::Node* node : statement.rels) {
    tables.push_back(binder.require_table(*ast::as<ast::VacuumRelation>(node).relation));
  }
  if (statement.rels.empty()) tables = catalog.tables();
  for (const TablePtr& table : tables) {
    if (!analyze || table->relation.kind != RelationKind::table) continue;
    const TablePtr locked =
        catalog.lock_for_change(*transaction, table, lock::RelationMode::share_update_exclusive);
    begin_statement();
    const Tree tree = *locked->tree;
    std::uint64_t rows = 0;
    {
      Cursor cursor = value_of(tree.scan(*transaction, {}, Direction::forward, ReadMode::snapshot,
                                         WaitPolicy::wait, ScanHint::large));
      while (value_of(cursor.next())) {
        if (++rows % Execution::kRowsPerCheck == 0) check_cancelled(*this);
      }
    }
    Relation relation = locked->relation;
    relation.estimated_rows = static_cast<double>(rows);
    locked->runtime->row_delta = 0;
    catalog.replace(*transaction, *locked, std::move(relation));
  }
  sink.command_complete(statement.is_vacuumcmd ? "VACUUM" : "ANALYZE");
}

void Session::State::drop_owned_temporaries() {
  if (temp_schema == kNoOid) return;
  std::vector<TablePtr> mine;
  for (const TablePtr& table : catalog.tables()) {
    if (table->relation.schema == temp_schema) mine.push_back(table);
  }
  if (mine.empty()) return;
  const bool alone = !transaction;
  // An error leaves them for the next start, which drops what nobody owns.
  try {
    if (alone) begin_transaction(Block::implicit);
    begin_statement();
    for (const TablePtr& table : mine) {
      if (catalog.table(table->relation.oid)) drop_relation(table);
    }
    if (alone) commit_transaction();
  } catch (const SqlError&) {
    if (alone) failed = true;
  }
  if (alone && transaction) rollback_transaction();
}

}  // namespace swizzle::sql

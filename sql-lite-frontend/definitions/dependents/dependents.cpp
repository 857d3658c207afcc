#include "sql-lite-frontend/definitions/dependents/dependents.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/relation_noun.h"
#include "sql-lite-frontend/definitions/dependents/constant_dependents.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/definitions/types/composite_values.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/routines/triggers/condition.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

std::string display_name(StatementContext& session, const Table& table) {
  return session.names.name_of(TypeId::regclass, table.relation.oid).value_or(table.relation.name);
}

const std::string& column_name(const Table& table, std::size_t position) {
  return table.relation.columns[position].name;
}

std::string described_column(StatementContext& session, const Table& table, std::size_t position) {
  return fmt::format("column {} of table {}", column_name(table, position),
                     display_name(session, table));
}

Dependent foreign_key(StatementContext& session, const TablePtr& table,
                      const Constraint& constraint, std::string on) {
  return {Dependent::Kind::constraint,
          table,
          constraint.oid,
          0,
          fmt::format("constraint {} on table {}", constraint.name, display_name(session, *table)),
          std::move(on)};
}

Dependent view(StatementContext& session, const TablePtr& table, std::string on) {
  return {Dependent::Kind::view, table, kNoOid, 0, described(session, *table), std::move(on)};
}

/// Estimated cost of parsing and binding a view's query; there may be thousands of views.
constexpr std::size_t kWorkOfView = 100'000;

/// Binds the view's query and calls `wanted` for the relations that it reads.
template <class Wanted>
bool view_reads(StatementContext& session, const Table& view, const Wanted& wanted) {
  yield_point(kWorkOfView);
  try {
    Arena arena;
    Binder binder{session.names, arena};
    binder.read_view(view);
    return std::ranges::any_of(binder.relations_read(), [&](const Binder::RelationRead& read) {
      return wanted(read, binder);
    });
  } catch (const SqlError&) {
    return false;
  }
}

/// Returns the direct dependents of a relation.
std::vector<Dependent> direct(StatementContext& session, const Table& relation) {
  std::vector<Dependent> found;
  const Oid oid = relation.relation.oid;
  const std::string on = described(session, relation);
  ConstantDependents constants{session, TypeId::regclass, oid, on};
  for (const TablePtr& other : session.catalog.naming<Table>({oid})) {
    yield_point(kWorkOfDefinition);
    for (const Constraint& constraint : other->relation.constraints) {
      if (constraint.kind == ConstraintKind::foreign_key && constraint.referenced_table == oid) {
        found.push_back(foreign_key(session, other, constraint, on));
      }
    }
    if (has_query(other->relation.kind)) {
      const bool reads =
          view_reads(session, *other, [oid](const Binder::RelationRead& read, const Binder&) {
            return read.table->relation.oid == oid;
          });
      if (reads) found.push_back(view(session, other, on));
    }
    if (std::ranges::find(other->relation.parents, oid) != other->relation.parents.end()) {
      found.push_back({Dependent::Kind::table, other, kNoOid, 0, described(session, *other), on});
    }
    constants.of_relation(other, found);
  }
  add_policies_over(session, relation, on, found);
  return found;
}

/// Adds the dependents of `dependent` itself, if that is a relation.
void add_with_followers(StatementContext& session, Dependent dependent, std::set<Oid>& known,
                        std::vector<Dependent>& list) {
  check_stack();
  const TablePtr table = dependent.table;
  const bool is_relation =
      dependent.kind == Dependent::Kind::view || dependent.kind == Dependent::Kind::table;
  if (is_relation && !known.insert(table->relation.oid).second) return;
  list.push_back(std::move(dependent));
  if (!is_relation) return;
  for (Dependent& next : direct(session, *table)) {
    if (!known.contains(next.table->relation.oid)) {
      add_with_followers(session, std::move(next), known, list);
    }
  }
}

bool is_part(std::span<const std::int16_t> columns, std::size_t position) {
  return std::ranges::find(columns, static_cast<std::int16_t>(position + 1)) != columns.end();
}

}  // namespace

std::vector<TablePtr> tables_naming(StatementContext& session, const NamedObjects& named) {
  std::vector<TablePtr> found = session.catalog.naming<Table>(named);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<Oid> partitions = found[i]->relation.partitions;
    for (const Oid oid : partitions) {
      if (TablePtr partition = session.catalog.table(oid)) found.push_back(std::move(partition));
    }
  }
  const auto number = [](const TablePtr& table) { return table->relation.oid; };
  std::ranges::sort(found, {}, number);
  const auto repeated = std::ranges::unique(found, {}, number);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

NamedObjects numbers_of(TypeId type) {
  return {raw(type), raw(array_type(type))};
}

void add_once(std::vector<Dependent>& list, Dependent dependent) {
  if (std::ranges::find(list, dependent.name, &Dependent::name) != list.end()) return;
  list.push_back(std::move(dependent));
}

std::string described(StatementContext& session, const Table& table) {
  return fmt::format("{} {}", noun_of(table.relation.kind), display_name(session, table));
}

namespace {

/// Adds the objects that use the relations' row types, except relations that are dropped as well.
void add_users_of_rows(StatementContext& session, std::span<const TablePtr> relations,
                       const std::set<Oid>& known, std::vector<Dependent>& list) {
  std::vector<TypePtr> types;
  for (const TablePtr& relation : relations) {
    const TypeId rows{relation->relation.row_type};
    if (!is_composite(rows)) continue;
    if (TypePtr type = session.names.user_type(rows)) types.push_back(std::move(type));
  }
  std::vector<Dependent> users = dependents_of_types(session, types);
  // In PostgreSQL's order.
  std::ranges::stable_sort(users, {}, [](const Dependent& user) {
    if (user.kind == Dependent::Kind::column) return user.on.ends_with("[]") ? 0 : 1;
    return user.kind == Dependent::Kind::attribute ? 2 : 3;
  });
  for (Dependent& dependent : users) {
    if (dependent.table && known.contains(dependent.table->relation.oid)) continue;
    if (std::ranges::find(list, dependent.name, &Dependent::name) != list.end()) continue;
    list.push_back(std::move(dependent));
  }
}

}  // namespace

std::vector<Dependent> dependents_of(StatementContext& session,
                                     std::span<const TablePtr> relations) {
  std::set<Oid> known;
  for (const TablePtr& relation : relations) known.insert(relation->relation.oid);
  // Owned sequences are dropped with the relations, and so are the sequences' dependents.
  std::vector<TablePtr> sequences;
  for (const TablePtr& relation : relations) {
    std::ranges::move(session.catalog.sequences_of(relation->relation.oid),
                      std::back_inserter(sequences));
  }
  std::ranges::sort(sequences, {}, [](const TablePtr& one) { return one->relation.oid; });
  std::vector<TablePtr> all{relations.begin(), relations.end()};
  for (TablePtr& sequence : sequences) {
    known.insert(sequence->relation.oid);
    all.push_back(std::move(sequence));
  }
  std::vector<Dependent> list;
  for (const TablePtr& relation : all) {
    for (Dependent& dependent : direct(session, *relation)) {
      if (known.contains(dependent.table->relation.oid)) continue;
      add_with_followers(session, std::move(dependent), known, list);
    }
  }
  std::vector<TablePtr> gone = all;
  for (const Dependent& dependent : list) {
    const bool is_relation =
        dependent.kind == Dependent::Kind::view || dependent.kind == Dependent::Kind::table;
    if (is_relation) gone.push_back(dependent.table);
  }
  add_routines_of_relations(session, gone, list);
  add_users_of_rows(session, gone, known, list);
  return list;
}

namespace {

/// Adds the dependents of the views to be dropped that are not views themselves.
void add_routines_of_views(StatementContext& session, std::vector<Dependent>& list) {
  std::vector<TablePtr> views;
  for (const Dependent& dependent : list) {
    if (dependent.kind == Dependent::Kind::view) views.push_back(dependent.table);
  }
  if (views.empty()) return;
  add_routines_of_relations(session, views, list);
  std::set<Oid> known;
  for (const TablePtr& one : views) known.insert(one->relation.oid);
  add_users_of_rows(session, views, known, list);
}

/// Returns the views that group by the key and show other columns of the table.
std::vector<Dependent> views_needing(StatementContext& session, const Table& table,
                                     const Constraint& key, const std::string& on) {
  std::vector<Dependent> list;
  if (key.kind != ConstraintKind::primary_key) return list;
  std::set<Oid> known;
  for (const TablePtr& other : session.catalog.naming<Table>({table.relation.oid})) {
    if (!has_query(other->relation.kind)) continue;
    const bool needs = view_reads(
        session, *other, [&](const Binder::RelationRead& /*read*/, const Binder& binder) {
          return std::ranges::find(binder.needed_keys(), table.relation.oid) !=
                 binder.needed_keys().end();
        });
    if (!needs) continue;
    add_with_followers(session, view(session, other, on), known, list);
  }
  return list;
}

/// False for a column that was added after the view was created; whole-row references include it
/// nevertheless.
bool knows_column(const Relation& view, Oid table, std::size_t position) {
  return std::ranges::any_of(view.view_names, [&](const ViewName& name) {
    return name.relation == table &&
           std::ranges::find(name.columns, static_cast<std::int16_t>(position + 1),
                             &ViewColumn::number) != name.columns.end();
  });
}

/// Adds the foreign keys that refer to a key, or to a partition's part of it.
void add_foreign_keys(StatementContext& session, const Table& table, Oid index,
                      std::string_view name, std::vector<Dependent>& list) {
  check_stack();
  for (const TablePtr& other : session.names.referencing_tables(table.relation.oid)) {
    for (const Constraint& foreign : other->relation.constraints) {
      if (foreign.kind != ConstraintKind::foreign_key || foreign.index != index) continue;
      list.push_back(foreign_key(session, other, foreign, fmt::format("index {}", name)));
    }
  }
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition = session.names.table(oid);
    const auto& indexes = partition->relation.indexes;
    const auto part = std::ranges::find(indexes, index, &Index::parent);
    if (part != indexes.end()) {
      add_foreign_keys(session, *partition, part->oid, part->name, list);
    }
  }
}

}  // namespace

std::vector<TablePtr> views_over_column(StatementContext& session, const Table& table,
                                        std::size_t position) {
  std::vector<TablePtr> views;
  for (const TablePtr& other : session.catalog.naming<Table>({table.relation.oid})) {
    if (!has_query(other->relation.kind)) continue;
    const bool reads =
        knows_column(other->relation, table.relation.oid, position) &&
        view_reads(session, *other, [&](const Binder::RelationRead& read, const Binder& binder) {
          return read.table->relation.oid == table.relation.oid && read.has_slots &&
                 binder.is_used(read.first_slot + static_cast<Slot>(position));
        });
    if (reads) views.push_back(other);
  }
  return views;
}

std::vector<Dependent> dependents_of_key(StatementContext& session, const Table& table,
                                         const Constraint& key) {
  std::vector<Dependent> list;
  add_foreign_keys(session, table, key.index, key.name, list);
  const std::string on = fmt::format("constraint {} on {}", key.name, described(session, table));
  for (Dependent& dependent : views_needing(session, table, key, on)) {
    list.push_back(std::move(dependent));
  }
  add_routines_of_views(session, list);
  return list;
}

std::vector<Dependent> dependents_of_column(StatementContext& session, const TablePtr& table,
                                            std::size_t position) {
  std::vector<Dependent> list;
  std::set<Oid> known;
  const std::string on = described_column(session, *table, position);
  for (const TablePtr& other : session.names.referencing_tables(table->relation.oid)) {
    const bool is_own = other->relation.oid == table->relation.oid;
    for (const Constraint& key : other->relation.constraints) {
      // A constraint of the column itself is dropped with it.
      if (is_own && is_part(key.columns, position)) continue;
      const bool refers = key.kind == ConstraintKind::foreign_key &&
                          key.referenced_table == table->relation.oid &&
                          is_part(key.referenced_columns, position);
      if (refers) list.push_back(foreign_key(session, other, key, on));
    }
  }
  for (const Constraint& key : table->relation.constraints) {
    if (!is_part(key.columns, position)) continue;
    for (Dependent& dependent : views_needing(session, *table, key, on)) {
      const bool is_view = dependent.kind == Dependent::Kind::view;
      if (is_view && !known.insert(dependent.table->relation.oid).second) continue;
      list.push_back(std::move(dependent));
    }
  }
  for (std::size_t i = 0; i < table->relation.columns.size(); ++i) {
    const Column& column = table->relation.columns[i];
    if (column.dropped || !column.generated) continue;
    Arena arena;
    Binder binder{session.names, arena};
    const Slot first = binder.new_slots(table->relation.columns.size());
    const ExprPtr expr =
        binder.bind_table_expression(column.default_sql, *table, first, Clause::generated);
    if (!binder.is_used(first + static_cast<Slot>(position))) continue;
    list.push_back({Dependent::Kind::generated_column, table, kNoOid, i,
                    described_column(session, *table, i), on});
  }
  for (const TablePtr& over : views_over_column(session, *table, position)) {
    add_with_followers(session, view(session, over, on), known, list);
  }
  for (const Trigger& trigger : table->relation.triggers) {
    if (!is_part(trigger.columns, position) &&
        !condition_reads(session, table, trigger, position)) {
      continue;
    }
    list.push_back(
        {Dependent::Kind::trigger, table, trigger.oid, 0, described(session, *table, trigger), on});
  }
  add_policies_over_column(session, *table, position, on, list);
  add_routines_of_views(session, list);
  add_routines_over_column(session, *table, position, on, list);
  return list;
}

}  // namespace swizzle::sql

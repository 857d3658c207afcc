#include "sql-lite-frontend/ddl/dependents.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/catalog/relation_noun.h"
#include "sql-lite-frontend/ddl/composite_values.h"
#include "sql-lite-frontend/ddl/constant_dependents.h"
#include "sql-lite-frontend/ddl/made_objects.h"
#include "sql-lite-frontend/ddl/table_change.h"
#include "sql-lite-frontend/ddl/trigger_definition.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/triggers/condition.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

std::string display_name(Session::State& session, const Table& table) {
  return session.names.name_of(TypeId::regclass, table.relation.oid).value_or(table.relation.name);
}

const std::string& column_name(const Table& table, std::size_t position) {
  return table.relation.columns[position].name;
}

std::string described_column(Session::State& session, const Table& table, std::size_t position) {
  return fmt::format("column {} of table {}", column_name(table, position),
                     display_name(session, table));
}

Dependent foreign_key(Session::State& session, const TablePtr& table, const Constraint& constraint,
                      std::string on) {
  return {Dependent::Kind::constraint,
          table,
          constraint.oid,
          0,
          fmt::format("constraint {} on table {}", constraint.name, display_name(session, *table)),
          std::move(on)};
}

Dependent view(Session::State& session, const TablePtr& table, std::string on) {
  return {Dependent::Kind::view, table, kNoOid, 0, described(session, *table), std::move(on)};
}

/// To parse and to bind one is about that much; there may be thousands.
constexpr std::size_t kWorkOfView = 100'000;

/// Binds the view's query and asks `wanted` about what it reads.
template <class Wanted>
bool view_reads(Session::State& session, const Table& view, const Wanted& wanted) {
  count_work(kWorkOfView);
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

/// Direct dependents of one relation.
std::vector<Dependent> direct(Session::State& session, const Table& relation) {
  std::vector<Dependent> found;
  const Oid oid = relation.relation.oid;
  const std::string on = described(session, relation);
  ConstantDependents constants{session, TypeId::regclass, oid, on};
  for (const TablePtr& other : session.catalog.tables()) {
    if (other->relation.oid == oid) continue;
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
    constants.of_relation(other, found);
  }
  return found;
}

/// Adds what depends on `dependent` itself, if that is a relation.
void add_with_followers(Session::State& session, Dependent dependent, std::set<Oid>& known,
                        std::vector<Dependent>& list) {
  check_stack();
  const TablePtr table = dependent.table;
  const bool is_view = dependent.kind == Dependent::Kind::view;
  if (is_view && !known.insert(table->relation.oid).second) return;
  list.push_back(std::move(dependent));
  if (!is_view) return;
  for (Dependent& next : direct(session, *table)) {
    if (!known.contains(next.table->relation.oid)) {
      add_with_followers(session, std::move(next), known, list);
    }
  }
}

bool is_part(std::span<const std::int16_t> columns, std::size_t position) {
  return std::ranges::find(columns, static_cast<std::int16_t>(position + 1)) != columns.end();
}

/// As ALTER TABLE … DROP COLUMN … CASCADE: keys and indexes over it go too.
void remove_column(Session::State& session, const TablePtr& table, std::size_t position) {
  if (table->relation.columns[position].dropped) return;
  ast::AlterTableCmd command;
  command.subtype = ast::AlterTableType::dropcolumn;
  command.name = table->relation.columns[position].name;
  command.behavior = ast::DropBehavior::cascade;
  SilentSink silent;
  TableChange{session, session.catalog.lock_for_change(*session.transaction, table), silent}.apply(
      command);
}

void remove_index(Session::State& session, Relation& relation, Oid oid) {
  const auto index = std::ranges::find(relation.indexes, oid, &Index::oid);
  if (index == relation.indexes.end()) return;
  if (!index->primary) {
    value_of(session.shared.engine.drop_tree(*session.transaction, index->tree));
  }
  relation.indexes.erase(index);
}

void remove_domain_check(Session::State& session, Oid oid) {
  for (const TypePtr& type : session.catalog.types()) {
    if (std::ranges::find(type->checks, oid, &DomainCheck::oid) == type->checks.end()) continue;
    UserType changed = *type;
    std::erase_if(changed.checks, [oid](const DomainCheck& check) { return check.oid == oid; });
    session.catalog.replace(*session.transaction, *type, std::move(changed));
  }
}

bool is_column(const Dependent& dependent) {
  return dependent.kind == Dependent::Kind::column ||
         dependent.kind == Dependent::Kind::generated_column;
}

void remove(Session::State& session, const Dependent& dependent) {
  if (dependent.kind == Dependent::Kind::type) {
    const TypePtr type = session.names.user_type(TypeId{dependent.oid});
    if (!type) return;
    // A range and its multirange go together.
    const TypeId other = is_user_range(type->id()) ? multirange_of_range(type->id())
                                                   : range_of_multirange(type->id());
    if (const TypePtr partner = session.names.user_type(other))
      session.catalog.remove(*session.transaction, *partner);
    session.catalog.remove(*session.transaction, *type);
    return;
  }
  if (dependent.kind == Dependent::Kind::op) {
    if (const OperatorPtr op = session.catalog.made<UserOperator>(dependent.oid)) {
      remove_operator(session, *op);
    }
    return;
  }
  if (dependent.kind == Dependent::Kind::cast) {
    if (const CastPtr cast = session.catalog.made<UserCast>(dependent.oid)) {
      session.catalog.remove(*session.transaction, *cast);
    }
    return;
  }
  if (dependent.kind == Dependent::Kind::collation) {
    if (const CollationPtr gone = session.catalog.made<UserCollation>(dependent.oid)) {
      session.catalog.remove(*session.transaction, *gone);
    }
    return;
  }
  if (dependent.kind == Dependent::Kind::text_dictionary) {
    if (const auto gone = session.catalog.made<UserTextDictionary>(dependent.oid))
      session.catalog.remove(*session.transaction, *gone);
    return;
  }
  if (dependent.kind == Dependent::Kind::text_config) {
    if (const auto gone = session.catalog.made<UserTextConfig>(dependent.oid))
      session.catalog.remove(*session.transaction, *gone);
    return;
  }
  if (dependent.kind == Dependent::Kind::extension) {
    if (const ExtensionPtr extension = session.catalog.made<Extension>(dependent.oid)) {
      remove_extension(session, *extension);
    }
    return;
  }
  if (dependent.kind == Dependent::Kind::attribute) {
    const TypePtr type = session.names.user_type(TypeId{dependent.oid});
    if (!type) return;
    UserType changed = *type;
    // Others before it may have gone.
    const auto gone = std::ranges::find_if(changed.attributes, [&](const Column& attribute) {
      return dependent.name.starts_with(fmt::format("column {} of ", attribute.name));
    });
    if (gone == changed.attributes.end()) return;
    const AttributeEdit edit{.dropped = static_cast<std::size_t>(gone - changed.attributes.begin()),
                             .name = gone->name};
    changed.attributes.erase(gone);
    session.catalog.replace(*session.transaction, *type, changed);
    return edit_values_of(session, changed, std::span{&edit, 1});
  }
  if (dependent.kind == Dependent::Kind::routine) {
    const RoutinePtr routine = session.catalog.routine(dependent.oid);
    if (!routine) return;
    const RoutinePtr locked = session.catalog.lock_routine(*session.transaction, *routine);
    session.catalog.remove(*session.transaction, *locked);
    return;
  }
  if (!dependent.table) return remove_domain_check(session, dependent.oid);
  const TablePtr current = session.catalog.table(dependent.table->relation.oid);
  if (!current) return;
  if (dependent.kind == Dependent::Kind::view || dependent.kind == Dependent::Kind::table ||
      dependent.kind == Dependent::Kind::sequence) {
    session.drop_relation(current);
    return;
  }
  if (is_column(dependent)) return remove_column(session, current, dependent.position);
  const TablePtr locked = session.catalog.lock_for_change(*session.transaction, current);
  Relation relation = locked->relation;
  if (dependent.kind == Dependent::Kind::constraint) {
    const auto gone = std::ranges::find(relation.constraints, dependent.oid, &Constraint::oid);
    if (gone != relation.constraints.end() && gone->kind == ConstraintKind::exclusion) {
      remove_index(session, relation, gone->index);
    }
    std::erase_if(relation.constraints,
                  [&](const Constraint& c) { return c.oid == dependent.oid; });
  } else if (dependent.kind == Dependent::Kind::trigger) {
    std::erase_if(relation.triggers, [&](const Trigger& t) { return t.oid == dependent.oid; });
  } else if (dependent.kind == Dependent::Kind::index) {
    remove_index(session, relation, dependent.oid);
  } else {
    relation.columns[dependent.position].default_sql.clear();
  }
  session.catalog.replace(*session.transaction, *locked, std::move(relation));
}

}  // namespace

std::string described(Session::State& session, const Table& table) {
  return fmt::format("{} {}", noun_of(table.relation.kind), display_name(session, table));
}

namespace {

/// What names the types of the relations' rows, elsewhere than in relations that go too.
void add_users_of_rows(Session::State& session, std::span<const TablePtr> relations,
                       const std::set<Oid>& known, std::vector<Dependent>& list) {
  std::vector<TypePtr> types;
  for (const TablePtr& relation : relations) {
    const TypeId rows{relation->relation.row_type};
    if (!is_composite(rows)) continue;
    if (TypePtr type = session.names.user_type(rows)) types.push_back(std::move(type));
  }
  std::vector<Dependent> users = dependents_of_types(session, types);
  // Named in the order in which PostgreSQL names them.
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

std::vector<Dependent> dependents_of(Session::State& session, std::span<const TablePtr> relations) {
  std::set<Oid> known;
  for (const TablePtr& relation : relations) known.insert(relation->relation.oid);
  // Sequences that belong to the relations go with them, and with them what uses the numbers.
  std::vector<TablePtr> all{relations.begin(), relations.end()};
  for (const TablePtr& other : session.catalog.tables()) {
    const auto& sequence = other->relation.sequence;
    if (sequence && known.contains(sequence->owner_table)) {
      known.insert(other->relation.oid);
      all.push_back(other);
    }
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
    if (dependent.kind == Dependent::Kind::view) gone.push_back(dependent.table);
  }
  add_routines_of_relations(session, gone, list);
  add_users_of_rows(session, gone, known, list);
  return list;
}

namespace {

/// What is over the views that are to go, other than views.
void add_routines_of_views(Session::State& session, std::vector<Dependent>& list) {
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

}  // namespace

namespace {

/// Not so of one that came after the view, which whole rows in it have all the same.
bool knows_column(const Relation& view, Oid table, std::size_t position) {
  return std::ranges::any_of(view.view_names, [&](const ViewName& name) {
    return name.relation == table &&
           std::ranges::find(name.columns, static_cast<std::int16_t>(position + 1),
                             &ViewColumn::number) != name.columns.end();
  });
}

}  // namespace

std::vector<TablePtr> views_over_column(Session::State& session, const Table& table,
                                        std::size_t position) {
  std::vector<TablePtr> views;
  for (const TablePtr& other : session.catalog.tables()) {
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

std::vector<Dependent> dependents_of_key(Session::State& session, const Table& table,
                                         const Constraint& key) {
  std::vector<Dependent> list;
  for (const TablePtr& other : session.names.referencing_tables(table.relation.oid)) {
    for (const Constraint& foreign : other->relation.constraints) {
      if (foreign.kind != ConstraintKind::foreign_key || foreign.index != key.index) continue;
      list.push_back(foreign_key(session, other, foreign, fmt::format("index {}", key.name)));
    }
  }
  if (key.kind != ConstraintKind::primary_key) return list;
  std::set<Oid> known;
  for (const TablePtr& other : session.catalog.tables()) {
    if (!has_query(other->relation.kind)) continue;
    const bool needs = view_reads(
        session, *other, [&](const Binder::RelationRead& /*read*/, const Binder& binder) {
          return std::ranges::find(binder.needed_keys(), table.relation.oid) !=
                 binder.needed_keys().end();
        });
    if (!needs) continue;
    const std::string on = fmt::format("constraint {} on {}", key.name, described(session, table));
    add_with_followers(session, view(session, other, on), known, list);
  }
  add_routines_of_views(session, list);
  return list;
}

std::vector<Dependent> dependents_of_column(Session::State& session, const TablePtr& table,
                                            std::size_t position) {
  std::vector<Dependent> list;
  std::set<Oid> known;
  const std::string on = described_column(session, *table, position);
  for (const Constraint& key : table->relation.constraints) {
    const bool is_key =
        key.kind == ConstraintKind::primary_key || key.kind == ConstraintKind::unique;
    if (!is_key || !is_part(key.columns, position)) continue;
    for (Dependent& dependent : dependents_of_key(session, *table, key)) {
      if (dependent.table->relation.oid == table->relation.oid) continue;
      dependent.on = on;
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
  add_routines_of_views(session, list);
  return list;
}

namespace {

void lock_dependent(Session::State& session, const Dependent& dependent) {
  const Oid oid = dependent.table ? dependent.table->relation.oid : dependent.oid;
  session.catalog.lock(*session.transaction, oid, lock::RelationMode::access_exclusive);
}

/// What goes with a column that goes is named as well, behind it.
std::vector<Dependent> with_followers_of_columns(Session::State& session,
                                                 std::span<const Dependent> dependents) {
  std::vector<Dependent> all{dependents.begin(), dependents.end()};
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (!is_column(all[at])) continue;
    const auto followers = dependents_of_column(session, all[at].table, all[at].position);
    for (const Dependent& follower : followers)
      if (std::ranges::find(all, follower.name, &Dependent::name) == all.end())
        all.push_back(follower);
  }
  return all;
}

}  // namespace

void drop_dependents(Session::State& session, std::span<const Dependent> direct_ones,
                     std::string_view what, ast::DropBehavior behavior, ResultSink& sink) {
  check_stack();
  if (direct_ones.empty()) return;
  const std::vector<Dependent> dependents = with_followers_of_columns(session, direct_ones);
  std::string detail;
  const bool cascade = behavior == ast::DropBehavior::cascade;
  for (const Dependent& dependent : dependents) {
    if (!detail.empty()) detail += "\n";
    detail += cascade ? fmt::format("drop cascades to {}", dependent.name)
                      : fmt::format("{} depends on {}", dependent.name, dependent.on);
  }
  if (!cascade) {
    throw sql_error(sqlstate::dependent_objects_still_exist,
                    "cannot drop {} because other objects depend on {}", what,
                    what == kSeveralObjects ? "them" : "it")
        .with_detail(std::move(detail))
        .with_hint("Use DROP ... CASCADE to drop the dependent objects too.");
  }
  // All of it before anything goes: who waits here looks again for what depends on what.
  for (const Dependent& dependent : dependents) lock_dependent(session, dependent);
  Diagnostic notice;
  notice.severity = Severity::notice;
  notice.state = SqlState{"00000"};
  if (dependents.size() == 1) {
    notice.message = std::move(detail);
  } else {
    notice.message = fmt::format("drop cascades to {} other objects", dependents.size());
    notice.detail = std::move(detail);
  }
  session.send_notice(sink, std::move(notice));
  // Those that depend on others go first.
  for (auto dependent = dependents.rbegin(); dependent != dependents.rend(); ++dependent) {
    remove(session, *dependent);
  }
}

}  // namespace swizzle::sql

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/definitions/types/composite_values.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/user_types.h"

/// Dependents of dropped objects: they are dropped with CASCADE, else they are the reason of the
/// refusal.
namespace swizzle::sql {
namespace {

/// Drops a column as ALTER TABLE … DROP COLUMN … CASCADE does, with its keys and indexes.
void remove_column(StatementContext& session, const TablePtr& table, std::size_t position) {
  if (table->relation.columns[position].dropped) return;
  ast::AlterTableCmd command;
  command.subtype = ast::AlterTableType::dropcolumn;
  command.name = table->relation.columns[position].name;
  command.behavior = ast::DropBehavior::cascade;
  SilentSink silent;
  TableChange{session, session.catalog.lock_for_change(*session.transaction, table), silent}.apply(
      command);
}

void remove_index(StatementContext& session, const Table& table, Relation& relation, Oid oid) {
  const auto index = std::ranges::find(relation.indexes, oid, &Index::oid);
  if (index == relation.indexes.end()) return;
  drop_parts_of_index(session, table, oid);
  drop_index_tree(session, *index);
  relation.indexes.erase(index);
}

void remove_domain_check(StatementContext& session, Oid oid) {
  for (const TypePtr& type : session.catalog.naming<UserType>({oid})) {
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

void remove(StatementContext& session, const Dependent& dependent) {
  if (dependent.kind == Dependent::Kind::type) {
    const TypePtr type = session.names.user_type(TypeId{dependent.oid});
    if (!type) return;
    // A range and its multirange are dropped together.
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
  if (dependent.kind == Dependent::Kind::event_trigger) {
    if (const auto gone = session.catalog.made<EventTrigger>(dependent.oid))
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
    // The attribute's position may have changed: attributes before it may have been dropped.
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
      remove_index(session, *locked, relation, gone->index);
    }
    std::erase_if(relation.constraints,
                  [&](const Constraint& c) { return c.oid == dependent.oid; });
  } else if (dependent.kind == Dependent::Kind::trigger) {
    std::erase_if(relation.triggers, [&](const Trigger& t) { return t.oid == dependent.oid; });
  } else if (dependent.kind == Dependent::Kind::policy) {
    std::erase_if(relation.policies, [&](const Policy& p) { return p.oid == dependent.oid; });
  } else if (dependent.kind == Dependent::Kind::index) {
    remove_index(session, *locked, relation, dependent.oid);
  } else {
    relation.columns[dependent.position].default_sql.clear();
  }
  session.catalog.replace(*session.transaction, *locked, std::move(relation));
}

void lock_dependent(StatementContext& session, const Dependent& dependent) {
  const Oid oid = dependent.table ? dependent.table->relation.oid : dependent.oid;
  session.catalog.lock(*session.transaction, oid, lock::RelationMode::access_exclusive);
}

/// Returns the dependents, followed by those of columns among them, which are dropped as well.
std::vector<Dependent> with_followers_of_columns(StatementContext& session,
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

/// Returns the dependents that messages name: partitions, and partitions' parts of an index, are
/// dropped with their whole without being named.
std::vector<Dependent> named_ones(std::span<const Dependent> dependents) {
  std::set<Oid> wholes;
  for (const Dependent& dependent : dependents) {
    if (dependent.kind == Dependent::Kind::table) wholes.insert(dependent.table->relation.oid);
    if (dependent.kind == Dependent::Kind::index) wholes.insert(dependent.oid);
  }
  const auto whole_of = [](const Dependent& dependent) {
    if (dependent.kind == Dependent::Kind::table) return dependent.table->relation.partition_of;
    if (dependent.kind != Dependent::Kind::index) return kNoOid;
    const auto& indexes = dependent.table->relation.indexes;
    const auto index = std::ranges::find(indexes, dependent.oid, &Index::oid);
    return index == indexes.end() ? kNoOid : index->parent;
  };
  std::vector<Dependent> named;
  for (const Dependent& dependent : dependents) {
    if (!wholes.contains(whole_of(dependent))) named.push_back(dependent);
  }
  return named;
}

}  // namespace

void drop_dependents(StatementContext& session, std::span<const Dependent> direct_ones,
                     std::string_view what, ast::DropBehavior behavior, ResultSink& sink) {
  check_stack();
  if (direct_ones.empty()) return;
  const std::vector<Dependent> dependents = with_followers_of_columns(session, direct_ones);
  std::string detail;
  std::size_t count = 0;
  const bool cascade = behavior == ast::DropBehavior::cascade;
  for (const Dependent& dependent : named_ones(dependents)) {
    ++count;
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
  // Lock all dependents before anything is dropped. If a lock had to wait, the statement looks for
  // dependents again.
  for (const Dependent& dependent : dependents) lock_dependent(session, dependent);
  Diagnostic notice;
  notice.severity = Severity::notice;
  notice.state = SqlState{"00000"};
  if (count == 1) {
    notice.message = std::move(detail);
  } else {
    notice.message = fmt::format("drop cascades to {} other objects", count);
    notice.detail = std::move(detail);
  }
  session.send_notice(sink, std::move(notice));
  // Drop in reverse order: an object comes after those on which it depends.
  for (auto dependent = dependents.rbegin(); dependent != dependents.rend(); ++dependent) {
    remove(session, *dependent);
  }
}

}  // namespace swizzle::sql

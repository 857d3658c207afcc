#include "sql-lite-frontend/statement/names/heirs.h"

#include <algorithm>

#include "sql-lite-frontend/statement/names/partitions.h"

namespace swizzle::sql {
namespace {

/// Changes the parent's list of children. Statements that use the parent by its old definition go
/// on.
template <class Change>
void change_children(StatementContext& session, Oid parent, const Change& change) {
  const TablePtr table = session.catalog.table(parent);
  if (!table) return;
  const TablePtr locked = session.catalog.lock_for_change(
      *session.transaction, table, lock::RelationMode::share_update_exclusive);
  Relation relation = locked->relation;
  change(relation.children);
  session.catalog.replace(*session.transaction, *locked, std::move(relation));
}

}  // namespace

std::vector<TablePtr> children_of(StatementContext& session, const Relation& relation) {
  std::vector<TablePtr> children;
  for (const Oid oid : relation.children) {
    if (TablePtr child = session.names.table(oid)) children.push_back(std::move(child));
  }
  return children;
}

std::vector<TablePtr> with_heirs(StatementContext& session, const TablePtr& table) {
  std::vector<TablePtr> list{table};
  for (std::size_t at = 0; at < list.size(); ++at) {
    for (TablePtr& child : children_of(session, list[at]->relation)) {
      const auto is_it = [&](const TablePtr& known) {
        return known->relation.oid == child->relation.oid;
      };
      if (std::ranges::none_of(list, is_it)) list.push_back(std::move(child));
    }
  }
  return list;
}

std::vector<TablePtr> with_parts(StatementContext& session, const TablePtr& table) {
  return table->relation.is_partitioned() ? with_partitions(session, table)
                                          : with_heirs(session, table);
}

void join_heir(StatementContext& session, Oid parent, Oid child) {
  change_children(session, parent, [&](std::vector<Oid>& children) {
    children.insert(std::ranges::lower_bound(children, child), child);
  });
}

void leave_heir(StatementContext& session, Oid parent, Oid child) {
  change_children(session, parent,
                  [&](std::vector<Oid>& children) { std::erase(children, child); });
}

}  // namespace swizzle::sql

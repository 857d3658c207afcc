#include "sql-lite-frontend/query/bind/access.h"

#include <algorithm>
#include <iterator>

#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bind/view_options.h"
#include "sql-lite-frontend/types/check_stack.h"

/// Uses of relations that a statement's binding notes for the check of privileges.
namespace swizzle::sql {

std::size_t QueryBinder::note_access(const TablePtr& table, Privileges wants,
                                     std::optional<Slot> first_slot) {
  noted_.push_back({{table, as_role_, wants, {}, {}, {}}, first_slot});
  return noted_.size() - 1;
}

/// Returns the role for access to the relations behind a view: the view's owner, or kNoOid for the
/// user that runs the statement.
Oid QueryBinder::role_behind(const Table& view) {
  return has_view_option(view.relation, "security_invoker") ? kNoOid : view.relation.owner;
}

/// The columns of the written row that expressions over it read: RETURNING's, ON CONFLICT's.
void Binder::note_reads(const WriteStatement& write, Expr& expr, Slot first_slot) {
  check_stack();
  const auto* slot = dynamic_cast<const SlotExpr*>(&expr);
  // The statement does not read the columns that a virtual one is computed from.
  const auto* computed = dynamic_cast<const VirtualColumnExpr*>(&expr);
  if (computed != nullptr) slot = &computed->column();
  if (slot != nullptr && slot->slot() >= first_slot) {
    const std::size_t position = slot->slot() - first_slot;
    const std::size_t columns = write.table->relation.columns.size();
    if (position < columns) noted_[write.access].access.read.push_back(position);
  }
  if (computed != nullptr) return;
  expr.for_each_operand([&](ExprPtr& operand) { note_reads(write, *operand, first_slot); });
}

void Binder::note_columns(const WriteStatement& write, std::span<const Assignment> assignments) {
  std::vector<std::size_t> positions;
  for (const Assignment& assignment : assignments) positions.push_back(assignment.position);
  if (write.view.target) noted_[write.view.access].access.updated = in_view(write, positions);
  std::vector<std::size_t>& updated = noted_[write.access].access.updated;
  updated.insert(updated.end(), positions.begin(), positions.end());
}

void Binder::note_inserted(const WriteStatement& write) {
  noted_[write.access].access.inserted = write.insert.columns;
  if (write.view.target)
    noted_[write.view.access].access.inserted = in_view(write, write.insert.columns);
}

/// The columns of the view that are these of the table below it.
std::vector<std::size_t> Binder::in_view(const WriteStatement& write,
                                         std::span<const std::size_t> positions) {
  std::vector<std::size_t> found;
  const auto& columns = write.view.target->columns;
  for (const std::size_t position : positions) {
    const auto at =
        std::ranges::find(columns, std::optional{position}, &ViewTargetColumn::position);
    if (at != columns.end()) found.push_back(static_cast<std::size_t>(at - columns.begin()));
  }
  return found;
}

/// SELECT … FOR UPDATE and its like change rows as far as rights are concerned.
void QueryBinder::note_locks(const FromNode& node, std::span<const std::string> of) {
  check_stack();
  if (const auto* join = std::get_if<FromJoin>(&node.node)) {
    note_locks(*join->left, of);
    note_locks(*join->right, of);
    return;
  }
  // Tables in a subquery or behind a view are locked with it, a view's as its owner.
  if (const auto* subquery = std::get_if<FromSubquery>(&node.node)) {
    if (!of.empty() && std::ranges::find(of, subquery->alias) == of.end()) return;
    if (subquery->view_access) noted_[*subquery->view_access].access.wants |= privilege::kUpdate;
    for (const FromPtr& item : subquery->query->from) note_locks(*item, {});
    secure_locked(*subquery->query);
    return;
  }
  const auto note = [&](const auto& table) {
    if (!of.empty() && std::ranges::find(of, table.alias) == of.end()) return;
    for (Noted& noted : noted_) {
      if (noted.first_slot == table.first_slot) noted.access.wants |= privilege::kUpdate;
    }
  };
  if (const auto* table = std::get_if<FromTable>(&node.node)) note(*table);
  if (const auto* table = std::get_if<FromComputed>(&node.node)) note(*table);
}

void ExpressionBinder::note_system_column(const ScopeItem& item) {
  for (Noted& noted : noted_) {
    if (noted.access.table != item.table) continue;
    noted.access.wants |= privilege::kSelect;
    noted.access.reads_system_column = true;
  }
}

std::vector<RelationAccess> ExpressionBinder::accesses() const {
  std::vector<RelationAccess> list;
  for (const Noted& noted : noted_) {
    RelationAccess access = noted.access;
    if (noted.first_slot) {
      for (std::size_t i = 0; i < access.table->relation.columns.size(); ++i) {
        const Slot slot = *noted.first_slot + static_cast<Slot>(i);
        const bool is_named = std::ranges::find(read_by_virtual_, slot) == read_by_virtual_.end();
        if (used_[slot] && is_named) access.read.push_back(i);
      }
    }
    if (!access.read.empty()) {
      access.wants |= privilege::kSelect;
      // Reading through a view reads the columns that the view shows, as in PostgreSQL.
      std::ranges::copy(noted.shown, std::back_inserter(access.read));
    }
    list.push_back(std::move(access));
  }
  return list;
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/catalog/statistics/statistics_store.h"
#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/statement/names/heirs.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/statement/sequences.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/check_stack.h"

/// Removal of a relation: by DROP, at COMMIT, or at the end of its session, with which temporary
/// functions end, too.
namespace swizzle::sql {
namespace {

/// Drops the partitions that the table does not list any more, though they are not detached yet.
void drop_half_detached(StatementContext& session, Oid parent) {
  for (const TablePtr& table : session.catalog.naming<Table>({parent})) {
    const Relation& relation = table->relation;
    if (relation.partition_of == parent && relation.is_being_detached) session.drop_relation(table);
  }
}

}  // namespace

void StatementContext::drop_relation(const TablePtr& table) {
  TablePtr locked = catalog.lock_for_change(*transaction, table);
  require_indexes_unused(*this, *locked, "DROP INDEX");
  require_unused(*this, *locked, "DROP TABLE");
  if (locked->relation.is_partitioned() && !locked->relation.partitions.empty()) {
    check_stack();
    Relation without = locked->relation;
    const std::vector<Oid> partitions = std::exchange(without.partitions, {});
    locked = catalog.replace(*transaction, *locked, std::move(without));
    for (const Oid oid : partitions) {
      if (const TablePtr partition = catalog.table(oid)) drop_relation(partition);
    }
  }
  if (!locked->relation.children.empty()) {
    check_stack();
    for (const TablePtr& child : children_of(*this, locked->relation)) {
      if (catalog.table(child->relation.oid)) drop_relation(child);
    }
    locked = catalog.lock_for_change(*transaction, locked);
  }
  const Relation& relation = locked->relation;
  for (const Oid parent : relation.parents) leave_heir(*this, parent, relation.oid);
  if (relation.is_partitioned()) drop_half_detached(*this, relation.oid);
  if (relation.is_partition()) leave_parent(*this, relation);
  if (keeps_rows(relation.kind)) {
    value_of(shared.engine.drop_tree(*transaction, relation.tree));
    for (const Index& index : relation.indexes) drop_index_tree(*this, index);
  }
  if (keeps_rows(relation.kind)) shared.statistics->remove(*transaction, relation.oid);
  if (relation.sequence) transaction.note_sequence_move(kNoOid, position_of(relation));
  catalog.remove(*transaction, *locked);
  // Remove it from all publications.
  for (const PublicationPtr& publication : catalog.naming<Publication>({relation.oid})) {
    if (publication->member(relation.oid) == nullptr) continue;
    Publication changed = *publication;
    std::erase_if(changed.members, [&](const auto& one) { return one.table == relation.oid; });
    catalog.replace(*transaction, *publication, std::move(changed));
  }
  forget_subscribed_table(catalog.of_database(), *transaction, relation.oid, relation.name);
  // Drop the sequences that belong to the table as well.
  for (const TablePtr& sequence : catalog.sequences_of(relation.oid)) drop_relation(sequence);
}

void StatementContext::drop_owned_temporaries() {
  if (names.temp_schema == kNoOid) return;
  std::vector<TablePtr> mine;
  for (const TablePtr& table : catalog.naming<Table>({names.temp_schema})) {
    if (table->relation.schema == names.temp_schema) mine.push_back(table);
  }
  std::vector<RoutinePtr> routines;
  for (const RoutinePtr& routine : catalog.naming<Routine>({names.temp_schema})) {
    if (routine->schema == names.temp_schema) routines.push_back(routine);
  }
  if (mine.empty() && routines.empty()) return;
  const bool alone = !transaction;
  // After an error they remain for the next start, which drops those without an owner.
  try {
    if (alone) transaction.begin(StatementTransaction::Block::implicit);
    transaction.begin_statement();
    for (const TablePtr& table : mine) {
      if (catalog.table(table->relation.oid)) drop_relation(table);
    }
    // Other temporary objects alone may use them.
    for (const RoutinePtr& routine : routines) {
      catalog.remove(*transaction, *catalog.lock_routine(*transaction, *routine));
    }
    if (alone) transaction.commit();
  } catch (const std::exception&) {
    // The rollback below waits, which is not allowed while an exception is being handled.
  }
  if (alone && transaction) transaction.rollback();
}

}  // namespace swizzle::sql

#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/check_stack.h"

/// Checks, foreign keys and triggers that partitions inherit: changes of one partition and those
/// below it. Functions return the partition's new definition.
namespace swizzle::sql {

/// Throws 42809: the action of ALTER TABLE needs a partitioned table.
[[noreturn]] void throw_not_partitioned(const Relation& relation, std::string_view action);

TablePtr give_check(StatementContext& session, const Constraint& constraint, const TablePtr& to);
/// Says that a check is the same as one that the parent gives.
void notice_merged_constraint(StatementContext& session, std::string_view name);
TablePtr give_foreign_key(StatementContext& session, const Relation& parent,
                          const Constraint& constraint, const TablePtr& to);
/// VALIDATE CONSTRAINT of a partitioned table's foreign key: of the copies that partitions have.
void validate_foreign_keys_below(StatementContext& session, const Table& table, Oid whole);
TablePtr give_trigger(StatementContext& session, const Relation& parent, const Trigger& trigger,
                      const TablePtr& to);
/// Changes the copies that the partitions have of `whole`, a trigger, check or foreign key of the
/// partitioned table. `change` gets a partition's definition and its copy, and may remove the copy.
/// Recurses into partitions of partitions.
template <typename Part, typename Change>
void change_parts(StatementContext& session, const Table& table, std::vector<Part> Relation::* list,
                  Oid whole, const Change& change) {
  check_stack();
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition =
        session.catalog.lock_for_change(*session.transaction, session.names.table(oid));
    Relation relation = partition->relation;
    const auto part = std::ranges::find(relation.*list, whole, &Part::parent);
    if (part == (relation.*list).end()) continue;
    const Oid own = part->oid;
    change(relation, part);
    change_parts(session,
                 *session.catalog.replace(*session.transaction, *partition, std::move(relation)),
                 list, own, change);
  }
}

/// Drops the copies of all partitions.
template <typename Part>
void drop_parts(StatementContext& session, const Table& table, std::vector<Part> Relation::* list,
                Oid whole) {
  change_parts(session, table, list, whole,
               [list](Relation& relation, auto part) { (relation.*list).erase(part); });
}
/// Translates column numbers of one relation to those of the other, by name.
std::vector<std::int16_t> numbers_in(const Relation& from, const Relation& to,
                                     std::span<const std::int16_t> numbers);

}  // namespace swizzle::sql

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/types/check_stack.h"

/// Parts of a partition that come from its parent: columns, checks, foreign keys, triggers.
namespace swizzle::sql {

TablePtr lock_parent(StatementContext& session, const ast::RangeVar& range) {
  Arena arena;
  Binder binder{session.names, arena};
  const TablePtr parent = binder.require_relation(range);
  if (parent->computed != nullptr || !is_table(parent->relation.kind)) {
    throw_error(sqlstate::wrong_object_type,
                "inherited relation \"{}\" is not a table or foreign "
                "table",
                parent->relation.name);
  }
  session.rights.require_owner(*parent);
  if (!parent->relation.is_partitioned()) {
    throw_error(SqlState{"42P17"}, "\"{}\" is not partitioned", parent->relation.name);
  }
  return session.catalog.lock_for_change(*session.transaction, parent);
}

void inherit_columns(StatementContext& session, const Relation& parent, Relation& relation) {
  for (const Column& column : parent.columns) {
    Column& copy = relation.columns.emplace_back(column);
    copy.inherited = !column.dropped;
    copy.comment.clear();
    copy.grants.clear();
    copy.missing.reset();
    copy.statistics_target.reset();
    copy.options.clear();
    if (copy.identity == 0) continue;
    copy.identity = 0;
    copy.default_sql.clear();
  }
  for (const Constraint& constraint : parent.constraints) {
    if (constraint.kind != ConstraintKind::check && constraint.kind != ConstraintKind::not_null)
      continue;
    Constraint& copy = relation.constraints.emplace_back(constraint);
    copy.also_local = false;
    copy.oid = session.catalog.allocate_oid();
    copy.parent = constraint.oid;
    copy.validated = copy.enforced;  // there are no rows yet
    copy.comment.clear();
  }
}

std::vector<std::int16_t> numbers_in(const Relation& from, const Relation& to,
                                     std::span<const std::int16_t> numbers) {
  const std::vector<std::size_t> places = column_places(from, to);
  std::vector<std::int16_t> mapped;
  for (const std::int16_t number : numbers) {
    const auto position = static_cast<std::size_t>(number - 1);
    const bool is_column = number > 0 && !places.empty();
    mapped.push_back(is_column ? static_cast<std::int16_t>(places[position] + 1) : number);
  }
  return mapped;
}

void notice_merged_constraint(StatementContext& session, std::string_view name) {
  if (session.sink_for_notices == nullptr) return;
  session.notice(*session.sink_for_notices, Severity::notice, SqlState{"00000"},
                 fmt::format("merging constraint \"{}\" with inherited definition", name));
}

TablePtr give_check(StatementContext& session, const Constraint& constraint, const TablePtr& to) {
  check_stack();
  TablePtr partition = session.catalog.lock_for_change(*session.transaction, to);
  Relation relation = partition->relation;
  const auto same = std::ranges::find(relation.constraints, constraint.name, &Constraint::name);
  Oid own = kNoOid;
  const std::size_t before = relation.constraints.size();
  if (same != relation.constraints.end()) {
    if (same->kind != ConstraintKind::check || same->check_sql != constraint.check_sql) {
      throw_error(sqlstate::duplicate_object,
                  "constraint \"{}\" for relation \"{}\" already exists", constraint.name,
                  relation.name);
    }
    same->parent = constraint.oid;
    own = same->oid;
    notice_merged_constraint(session, constraint.name);
  } else {
    Constraint copy = constraint;
    own = copy.oid = session.catalog.allocate_oid();
    copy.parent = constraint.oid;
    copy.comment.clear();
    copy.columns = numbers_in(session.names.table(relation.partition_of)->relation, relation,
                              constraint.columns);
    relation.constraints.push_back(std::move(copy));
  }
  partition = session.catalog.replace(*session.transaction, *partition, std::move(relation));
  if (partition->tree) validate_constraints(session, partition, before);
  for (const Oid below : partition->relation.partitions) {
    const auto given = std::ranges::find(partition->relation.constraints, own, &Constraint::oid);
    give_check(session, *given, session.names.table(below));
  }
  return partition;
}

namespace {

/// Validates the foreign key that the partition has as a part of `whole`, and those below it.
void validate_part(StatementContext& session, TablePtr partition, Oid whole) {
  check_stack();
  Relation relation = partition->relation;
  const auto part = std::ranges::find(relation.constraints, whole, &Constraint::parent);
  if (part == relation.constraints.end() || part->validated) return;
  part->validated = true;
  const Constraint key = *part;
  partition = session.catalog.replace(*session.transaction, *partition, std::move(relation));
  if (partition->tree) validate_foreign_key(session, partition, key);
  validate_foreign_keys_below(session, *partition, key.oid);
}

}  // namespace

void validate_foreign_keys_below(StatementContext& session, const Table& table, Oid whole) {
  for (const Oid oid : table.relation.partitions) {
    validate_part(session,
                  session.catalog.lock_for_change(*session.transaction, session.names.table(oid)),
                  whole);
  }
}

TablePtr give_foreign_key(StatementContext& session, const Relation& parent,
                          const Constraint& constraint, const TablePtr& to) {
  check_stack();
  TablePtr partition = session.catalog.lock_for_change(*session.transaction, to);
  Relation relation = partition->relation;
  const std::size_t before = relation.constraints.size();
  Constraint copy = constraint;
  copy.oid = session.catalog.allocate_oid();
  copy.parent = constraint.oid;
  copy.comment.clear();
  copy.columns = numbers_in(parent, relation, constraint.columns);
  copy.set_columns = numbers_in(parent, relation, constraint.set_columns);
  const auto is_like = [&](const Constraint& own) {
    return own.kind == ConstraintKind::foreign_key && own.parent == kNoOid &&
           own.columns == copy.columns && own.referenced_table == copy.referenced_table &&
           own.referenced_columns == copy.referenced_columns && own.on_update == copy.on_update &&
           own.on_delete == copy.on_delete && own.match == copy.match &&
           own.deferrable == copy.deferrable && own.initially_deferred == copy.initially_deferred &&
           own.enforced == copy.enforced && own.has_period == copy.has_period;
  };
  const auto same = std::ranges::find_if(relation.constraints, is_like);
  if (same != relation.constraints.end()) {
    same->parent = constraint.oid;
    partition = session.catalog.replace(*session.transaction, *partition, std::move(relation));
    if (constraint.validated) validate_part(session, partition, constraint.oid);
    return session.names.table(partition->relation.oid);
  }
  const bool is_taken = std::ranges::find(relation.constraints, copy.name, &Constraint::name) !=
                        relation.constraints.end();
  if (is_taken) {
    std::string columns;
    for (const std::int16_t number : copy.columns) {
      columns += (columns.empty() ? "" : "_") +
                 relation.columns[static_cast<std::size_t>(number - 1)].name;
    }
    copy.name = free_name(session, relation, object_name(relation.name, columns, "fkey"));
  }
  relation.constraints.push_back(std::move(copy));
  partition = session.catalog.replace(*session.transaction, *partition, std::move(relation));
  announce_foreign_keys(session, partition->relation, before);
  partition = session.names.table(partition->relation.oid);
  if (partition->tree) validate_constraints(session, partition, before);
  for (const Oid below : partition->relation.partitions) {
    const Relation& own = partition->relation;
    give_foreign_key(session, own, own.constraints[before], session.names.table(below));
  }
  return partition;
}

TablePtr give_trigger(StatementContext& session, const Relation& parent, const Trigger& trigger,
                      const TablePtr& to) {
  check_stack();
  session.rights.require(to, privilege::kTrigger);
  TablePtr partition = session.catalog.lock_for_change(*session.transaction, to);
  Relation relation = partition->relation;
  if (std::ranges::find(relation.triggers, trigger.name, &Trigger::name) !=
      relation.triggers.end()) {
    throw_error(sqlstate::duplicate_object, "trigger \"{}\" for relation \"{}\" already exists",
                trigger.name, relation.name);
  }
  Trigger copy = trigger;
  copy.oid = session.catalog.allocate_oid();
  copy.parent = trigger.oid;
  if (copy.constraint != kNoOid) copy.constraint = session.catalog.allocate_oid();
  copy.columns = numbers_in(parent, relation, trigger.columns);
  copy.comment.clear();
  const Oid oid = copy.oid;
  const auto behind = std::ranges::find_if(
      relation.triggers, [&](const Trigger& other) { return other.name > copy.name; });
  relation.triggers.insert(behind, std::move(copy));
  partition = session.catalog.replace(*session.transaction, *partition, std::move(relation));
  for (const Oid below : partition->relation.partitions) {
    const auto given = std::ranges::find(partition->relation.triggers, oid, &Trigger::oid);
    give_trigger(session, partition->relation, *given, session.names.table(below));
  }
  return partition;
}

void inherit_indexes(StatementContext& session, const TablePtr& parent, Oid partition) {
  for (const Index& index : parent->relation.indexes) {
    const TablePtr locked =
        session.catalog.lock_for_change(*session.transaction, session.names.table(partition));
    give_index(session, parent, index, locked, PartsToAdopt::valid);
  }
  for (const Constraint& constraint : parent->relation.constraints) {
    if (constraint.kind != ConstraintKind::foreign_key) continue;
    give_foreign_key(session, parent->relation, constraint, session.names.table(partition));
  }
  for (const Trigger& trigger : parent->relation.triggers) {
    if (!trigger.for_each_row) continue;
    give_trigger(session, parent->relation, trigger, session.names.table(partition));
  }
}

}  // namespace swizzle::sql

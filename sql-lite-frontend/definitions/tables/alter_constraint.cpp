// ALTER TABLE … ALTER CONSTRAINT.
#include "sql-lite-frontend/definitions/tables/alter_constraint.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

const Constraint& require_constraint(const Relation& relation, std::string_view name) {
  const auto found = std::ranges::find(relation.constraints, name, &Constraint::name);
  if (found == relation.constraints.end()) {
    throw_error(sqlstate::undefined_object, "constraint \"{}\" of relation \"{}\" does not exist",
                name, relation.name);
  }
  return *found;
}

/// Refuses a partition's constraint that belongs to its parent's: only both change together.
void refuse_derived(StatementContext& session, const Relation& relation,
                    const Constraint& constraint) {
  if (constraint.parent == kNoOid) return;
  SqlError refusal =
      sql_error(SqlState{"55000"}, "cannot alter constraint \"{}\" on relation \"{}\"",
                constraint.name, relation.name)
          .with_hint("You may alter the constraint it derives from instead.");
  Oid wanted = constraint.parent;
  Oid above = relation.partition_of;
  while (const TablePtr ancestor = session.names.table(above)) {
    const auto& constraints = ancestor->relation.constraints;
    const auto origin = std::ranges::find(constraints, wanted, &Constraint::oid);
    if (origin == constraints.end()) break;
    refusal = std::move(refusal).with_detail(
        fmt::format("Constraint \"{}\" is derived from constraint \"{}\" of relation \"{}\".",
                    constraint.name, origin->name, ancestor->relation.name));
    wanted = origin->parent;
    above = ancestor->relation.partition_of;
  }
  throw refusal;
}

/// Sets when the constraint is checked, or whether it is; also in the table's partitions.
void set_checking(StatementContext& session, const TablePtr& table, Oid constraint,
                  const ast::ATAlterConstraint& wanted) {
  check_stack();
  const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
  Relation relation = locked->relation;
  Oid own = kNoOid;
  for (Constraint& one : relation.constraints) {
    if (one.oid != constraint && one.parent != constraint) continue;
    own = one.oid;
    if (wanted.alter_enforceability) one.enforced = one.validated = wanted.is_enforced;
    if (!wanted.alter_deferrability) continue;
    one.deferrable = wanted.deferrable;
    one.initially_deferred = wanted.initdeferred;
  }
  const TablePtr changed =
      session.catalog.replace(*session.transaction, *locked, std::move(relation));
  if (own == kNoOid) return;
  if (wanted.alter_enforceability && wanted.is_enforced && !changed->relation.is_partitioned()) {
    const auto& constraints = changed->relation.constraints;
    validate_foreign_key(session, changed, *std::ranges::find(constraints, own, &Constraint::oid));
  }
  for (const Oid partition : changed->relation.partitions)
    set_checking(session, session.names.table(partition), own, wanted);
}

}  // namespace

void alter_constraint(StatementContext& session, const TablePtr& table,
                      const ast::ATAlterConstraint& wanted) {
  const Relation& relation = table->relation;
  const Constraint& constraint = require_constraint(relation, wanted.conname);
  if (constraint.kind != ConstraintKind::foreign_key && wanted.alter_enforceability) {
    throw_error(sqlstate::wrong_object_type,
                "cannot alter enforceability of constraint \"{}\" of relation \"{}\"",
                constraint.name, relation.name);
  }
  if (wanted.alter_inheritability && !wanted.alter_deferrability) {
    return alter_inheritability(session, table, constraint, wanted.noinherit);
  }
  if (constraint.kind != ConstraintKind::foreign_key) {
    throw_error(sqlstate::wrong_object_type,
                "constraint \"{}\" of relation \"{}\" is not a foreign key constraint",
                constraint.name, relation.name);
  }
  refuse_derived(session, relation, constraint);
  const bool retimes =
      wanted.alter_deferrability && (constraint.deferrable != wanted.deferrable ||
                                     constraint.initially_deferred != wanted.initdeferred);
  const bool enforces = wanted.alter_enforceability && constraint.enforced != wanted.is_enforced;
  if (retimes || enforces) set_checking(session, table, constraint.oid, wanted);
}

}  // namespace swizzle::sql

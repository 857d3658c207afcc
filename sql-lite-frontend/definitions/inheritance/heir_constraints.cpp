#include "sql-lite-frontend/definitions/inheritance/heir_constraints.h"

#include <algorithm>

#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/names/heirs.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

std::size_t place_in_heir(const Relation& parent, const Constraint& given, const Relation& heir) {
  return static_cast<std::size_t>(numbers_in(parent, heir, given.columns).front() - 1);
}

/// Counts the parent's check for the heir's own one. Throws if they differ.
void merge_check(StatementContext& session, const Relation& heir, const Constraint& given,
                 Constraint& own) {
  if (own.check_sql != given.check_sql) {
    throw_error(sqlstate::duplicate_object, "constraint \"{}\" for relation \"{}\" already exists",
                given.name, heir.name);
  }
  const auto refuse = [&](std::string_view what) {
    throw_error(SqlState{"42P17"},
                "constraint \"{}\" conflicts with {} constraint on relation \"{}\"", own.name, what,
                heir.name);
  };
  if (own.no_inherit) refuse("non-inherited");
  if (given.validated && own.enforced && !own.validated) refuse("NOT VALID");
  if (given.enforced && !own.enforced) refuse("NOT ENFORCED");
  notice_merged_constraint(session, own.name);
  count_parent(own);
}

void give_to_heir(StatementContext& session, const Relation& parent, const Constraint& given,
                  const TablePtr& to) {
  check_stack();
  TablePtr heir = session.catalog.lock_for_change(*session.transaction, to);
  Relation relation = heir->relation;
  const bool is_not_null = given.kind == ConstraintKind::not_null;
  if (Constraint* const own = constraint_for(parent, given, relation)) {
    if (is_not_null) {
      refuse_not_null_mismatch(relation, *own, given.no_inherit, given.validated);
      count_parent(*own);
    } else {
      merge_check(session, relation, given, *own);
    }
    session.catalog.replace(*session.transaction, *heir, std::move(relation));
    return;
  }
  if (heir->constraint_named(given.name) != nullptr) {
    throw_error(sqlstate::duplicate_object, "constraint \"{}\" for relation \"{}\" already exists",
                given.name, relation.name);
  }
  const std::size_t before = relation.constraints.size();
  Constraint copy = given;
  copy.oid = session.catalog.allocate_oid();
  copy.columns = numbers_in(parent, relation, given.columns);
  copy.parent = kNoOid;
  copy.inherit_count = 1;
  copy.also_local = false;
  copy.comment.clear();
  if (is_not_null) relation.columns[place_in_heir(parent, given, relation)].not_null = true;
  relation.constraints.push_back(std::move(copy));
  heir = session.catalog.replace(*session.transaction, *heir, std::move(relation));
  if (given.validated) validate_constraints(session, heir, before);
  give_to_heirs(session, heir->relation, heir->relation.constraints[before]);
}

/// Drops the constraint of an heir, or counts one parent less.
void drop_in_heir(StatementContext& session, const Relation& parent, const Constraint& gone,
                  const TablePtr& from, bool only) {
  check_stack();
  const TablePtr heir = session.catalog.lock_for_change(*session.transaction, from);
  Relation relation = heir->relation;
  Constraint* const own = constraint_for(parent, gone, relation);
  if (own == nullptr || own->inherit_count == 0) return;
  if (only || own->inherit_count > 1 || own->also_local) {
    if (only) own->also_local = true;
    discount_parent(*own);
    session.catalog.replace(*session.transaction, *heir, std::move(relation));
    return;
  }
  ast::AlterTableCmd command;
  command.subtype = ast::AlterTableType::dropconstraint;
  command.name = own->name;
  command.behavior = ast::DropBehavior::restrict;
  SilentSink silent;
  TableChange{session, heir, silent}.apply(command);
  drop_in_heirs(session, relation, *own, false);
}

}  // namespace

bool goes_to_heirs(const Constraint& constraint) noexcept {
  return !constraint.no_inherit &&
         (constraint.kind == ConstraintKind::check || constraint.kind == ConstraintKind::not_null);
}

Constraint* constraint_for(const Relation& parent, const Constraint& given,
                           Relation& heir) noexcept {
  if (given.kind == ConstraintKind::not_null) {
    return not_null_of(heir, place_in_heir(parent, given, heir));
  }
  const auto found = std::ranges::find_if(heir.constraints, [&](const Constraint& one) {
    return one.kind == ConstraintKind::check && one.name == given.name;
  });
  return found == heir.constraints.end() ? nullptr : &*found;
}

void give_to_heirs(StatementContext& session, const Relation& parent, const Constraint& given) {
  for (const TablePtr& child : children_of(session, parent)) {
    give_to_heir(session, parent, given, child);
  }
}

void drop_in_heirs(StatementContext& session, const Relation& parent, const Constraint& gone,
                   bool only) {
  for (const TablePtr& child : children_of(session, parent)) {
    drop_in_heir(session, parent, gone, child, only);
  }
}

}  // namespace swizzle::sql

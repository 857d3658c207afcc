#include "sql-lite-frontend/definitions/tables/not_null.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/old_not_nulls.h"
#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kNotReady{"55000"};

bool has_constraint_named(const Relation& relation, std::string_view name) {
  return std::ranges::find(relation.constraints, name, &Constraint::name) !=
         relation.constraints.end();
}

[[noreturn]] void refuse_system_column_of(std::string_view name) {
  throw_error(sqlstate::feature_not_supported,
              "cannot add not-null constraint on system column \"{}\"", name);
}

[[noreturn]] void refuse_no_inherit() {
  throw SqlError{sqlstate::feature_not_supported,
                 "not-null constraints on partitioned tables cannot be NO INHERIT"};
}

[[noreturn]] void refuse_name(std::string_view name, const Relation& relation) {
  throw_error(sqlstate::duplicate_object, "constraint \"{}\" for relation \"{}\" already exists",
              name, relation.name);
}

Constraint& add(StatementContext& session, Relation& relation, std::size_t position,
                std::string name) {
  Constraint& constraint = relation.constraints.emplace_back();
  constraint.oid = session.catalog.allocate_oid();
  constraint.name = std::move(name);
  constraint.kind = ConstraintKind::not_null;
  constraint.columns = {static_cast<std::int16_t>(position + 1)};
  relation.columns[position].not_null = true;
  return constraint;
}

std::size_t position_of(const Constraint& constraint) {
  return static_cast<std::size_t>(constraint.columns.front() - 1);
}

}  // namespace

std::string default_not_null_name(const Relation& relation, std::size_t position) {
  const ObjectName base = object_name(relation.name, relation.columns[position].name, "not_null");
  int number = 0;
  while (has_constraint_named(relation, base.numbered(number))) ++number;
  return base.numbered(number);
}

void refuse_not_null_mismatch(const Relation& relation, const Constraint& known, bool no_inherit,
                              bool validated) {
  if (known.no_inherit != no_inherit) {
    throw sql_error(kNotReady,
                    "cannot change NO INHERIT status of NOT NULL constraint \"{}\" on relation "
                    "\"{}\"",
                    known.name, relation.name)
        .with_hint(
            "You might need to make the existing constraint inheritable using ALTER TABLE ... "
            "ALTER CONSTRAINT ... INHERIT.");
  }
  if (validated && !known.validated) {
    throw sql_error(kNotReady, "incompatible NOT VALID constraint \"{}\" on relation \"{}\"",
                    known.name, relation.name)
        .with_hint("You might need to validate it using ALTER TABLE ... VALIDATE CONSTRAINT.");
  }
}

void TableBuilder::add_not_null(const ast::Constraint& node, std::string_view column) {
  if (node.is_no_inherit && relation_.is_partitioned()) refuse_no_inherit();
  not_nulls_.push_back({std::string{column}, std::string{node.conname}, node.is_no_inherit});
}

/// A column of a primary key cannot be NO INHERIT.
void TableBuilder::require_inheritable_key(const NotNull& wanted) const {
  if (!wanted.no_inherit) return;
  const bool is_in_key = std::ranges::any_of(pending_, [&](const Pending& pending) {
    if (pending.node->contype != ast::ConstrType::primary) return false;
    return std::ranges::find(pending.columns, wanted.column) != pending.columns.end() ||
           std::ranges::any_of(pending.node->keys, [&](const ast::Node* key) {
             return ast::string_of(key) == wanted.column;
           });
  });
  if (!is_in_key) return;
  throw_error(sqlstate::syntax_error,
              "conflicting NO INHERIT declaration for not-null constraint on column \"{}\"",
              wanted.column);
}

/// Throws unless the NOT NULL constraint that the column has is as a primary key needs it.
void TableBuilder::require_key_column(std::size_t position) const {
  const Constraint* known = not_null_of(relation_, position);
  if (known == nullptr || (known->validated && !known->no_inherit)) return;
  throw sql_error(kNotReady, "cannot create primary key on column \"{}\"",
                  relation_.columns[position].name)
      .with_detail(fmt::format("The constraint \"{}\" on column \"{}\" of table \"{}\", marked {}, "
                               "is incompatible with a primary key.",
                               known->name, relation_.columns[position].name, relation_.name,
                               known->no_inherit ? "NO INHERIT" : "NOT VALID"))
      .with_hint(known->no_inherit
                     ? "You might need to make the existing constraint inheritable using ALTER "
                       "TABLE ... ALTER CONSTRAINT ... INHERIT."
                     : "You might need to validate it using ALTER TABLE ... VALIDATE CONSTRAINT.");
}

/// Merges several constraints of one column, then adds them: those with names first.
void TableBuilder::finish_not_nulls() {
  std::vector<NotNull> merged;
  for (const NotNull& wanted : not_nulls_) {
    const bool is_column = std::ranges::any_of(relation_.columns, [&](const Column& column) {
      return !column.dropped && column.name == wanted.column;
    });
    if (!is_column) {
      if (is_system_column(wanted.column)) refuse_system_column_of(wanted.column);
      throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                  wanted.column, relation_.name);
    }
    require_inheritable_key(wanted);
    const auto same = std::ranges::find(merged, wanted.column, &NotNull::column);
    if (same == merged.end()) {
      merged.push_back(wanted);
      continue;
    }
    if (same->no_inherit != wanted.no_inherit) {
      throw_error(sqlstate::syntax_error,
                  "conflicting NO INHERIT declaration for not-null constraint on column \"{}\"",
                  wanted.column);
    }
    if (!same->name.empty() && !wanted.name.empty() && same->name != wanted.name) {
      throw_error(sqlstate::syntax_error, "conflicting not-null constraint names \"{}\" and \"{}\"",
                  same->name, wanted.name);
    }
    if (same->name.empty()) same->name = wanted.name;
  }
  not_nulls_.clear();
  std::ranges::stable_partition(merged, [](const NotNull& one) { return !one.name.empty(); });
  for (const NotNull& wanted : merged) finish_not_null(wanted);
}

void TableBuilder::finish_not_null(const NotNull& wanted) {
  const auto column = std::ranges::find_if(relation_.columns, [&](const Column& one) {
    return !one.dropped && one.name == wanted.column;
  });
  const auto position = static_cast<std::size_t>(column - relation_.columns.begin());
  column->not_null = true;
  if (Constraint* inherited = not_null_of(relation_, position)) {
    if (wanted.no_inherit) {
      throw sql_error(sqlstate::datatype_mismatch,
                      "cannot define not-null constraint with NO INHERIT on column \"{}\"",
                      wanted.column)
          .with_detail("The column has an inherited not-null constraint.");
    }
    inherited->also_local = inherited->is_inherited();
    inherited->name.clear();
    std::string name =
        wanted.name.empty() ? default_not_null_name(relation_, position) : wanted.name;
    if (has_constraint_named(relation_, name)) refuse_name(name, relation_);
    inherited->name = std::move(name);
    return;
  }
  if (!wanted.name.empty() && has_constraint_named(relation_, wanted.name)) {
    refuse_name(wanted.name, relation_);
  }
  Constraint& constraint =
      add(session_, relation_, position,
          wanted.name.empty() ? default_not_null_name(relation_, position) : wanted.name);
  constraint.no_inherit = wanted.no_inherit;
  constraint.comment = wanted.comment;
}

/// ADD CONSTRAINT … NOT NULL: a column has one such constraint, so a second is merged with it.
void TableChange::add_not_null(const ast::Constraint& node) {
  const std::string_view column = ast::string_of(node.keys.front());
  Relation relation = table_->relation;
  if (node.is_no_inherit && relation.is_partitioned()) refuse_no_inherit();
  const auto position = table_->column_position(column);
  if (!position) {
    if (is_system_column(column)) refuse_system_column_of(column);
    throw_error(sqlstate::undefined_column, "column \"{}\" of relation \"{}\" does not exist",
                column, relation.name);
  }
  const bool validated = !node.skip_validation;
  if (Constraint* known = not_null_of(relation, *position)) {
    refuse_not_null_mismatch(relation, *known, node.is_no_inherit, validated);
    if (!node.conname.empty() && node.conname != known->name) {
      throw sql_error(kNotReady,
                      "cannot create not-null constraint \"{}\" on column \"{}\" of table \"{}\"",
                      node.conname, column, relation.name)
          .with_detail(fmt::format(
              "A not-null constraint named \"{}\" already exists for this column.", known->name));
    }
    known->also_local = known->is_inherited();
    return replace(std::move(relation));
  }
  if (!node.conname.empty() && has_constraint_named(relation, node.conname)) {
    refuse_name(node.conname, relation);
  }
  const std::size_t constraints = relation.constraints.size();
  Constraint& constraint = add(session_, relation, *position,
                               node.conname.empty() ? default_not_null_name(relation, *position)
                                                    : std::string{node.conname});
  constraint.no_inherit = node.is_no_inherit;
  constraint.validated = validated;
  replace(std::move(relation));
  if (validated) validate_constraints(session_, table_, constraints);
}

void TableChange::set_not_null(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  Relation relation = table_->relation;
  if (Constraint* known = not_null_of(relation, position)) {
    if (known->no_inherit && !relation.is_partition()) {
      throw_error(sqlstate::feature_not_supported,
                  "cannot change NO INHERIT status of NOT NULL constraint \"{}\" on relation "
                  "\"{}\"",
                  known->name, relation.name);
    }
    if (!known->validated) {
      const Oid oid = known->oid;
      validate_not_null(session_, table_, oid);
      return look_again();
    }
    if (!known->is_inherited() || known->also_local) return;
    known->also_local = true;
    return replace(std::move(relation));
  }
  const std::size_t constraints = relation.constraints.size();
  add(session_, relation, position, default_not_null_name(relation, position));
  replace(std::move(relation));
  tell_debug(session_, fmt::format("verifying table \"{}\"", table_->relation.name));
  validate_constraints(session_, table_, constraints);
}

/// Throws if a column must stay NOT NULL: of the primary key, of the replica identity, identities.
void TableChange::require_may_be_null(std::size_t position, SqlState of_identity) const {
  const Relation& relation = table_->relation;
  const Column& column = relation.columns[position];
  const auto is_in = [&](const Index* index) {
    return index != nullptr &&
           std::ranges::find(index->columns, static_cast<std::int16_t>(position + 1),
                             &IndexColumn::column) != index->columns.end();
  };
  if (column.identity != 0) {
    throw_error(of_identity, "column \"{}\" of relation \"{}\" is an identity column", column.name,
                relation.name);
  }
  if (is_in(table_->primary_key())) {
    throw_error(sqlstate::invalid_table_definition, "column \"{}\" is in a primary key",
                column.name);
  }
  if (relation.replica_identity == 'i' && is_in(table_->index_by_oid(relation.replica_index))) {
    throw_error(sqlstate::invalid_table_definition,
                "column \"{}\" is in index used as replica identity", column.name);
  }
}

void TableChange::drop_not_null(const ast::AlterTableCmd& command) {
  const std::size_t position = require_column(command.name);
  if (!table_->relation.columns[position].not_null) return;
  require_may_be_null(position, sqlstate::syntax_error);
  const Constraint* known = not_null_of(table_->relation, position);
  if (known != nullptr && known->is_inherited()) {
    throw_error(sqlstate::invalid_table_definition,
                "cannot drop inherited constraint \"{}\" of relation \"{}\"", known->name,
                table_->relation.name);
  }
  Relation relation = table_->relation;
  relation.columns[position].not_null = false;
  replace(std::move(relation));
}

TablePtr give_not_null(StatementContext& session, const Relation& parent,
                       const Constraint& constraint, const TablePtr& to) {
  check_stack();
  TablePtr partition = session.catalog.lock_for_change(*session.transaction, to);
  Relation relation = partition->relation;
  const std::size_t position =
      static_cast<std::size_t>(numbers_in(parent, relation, constraint.columns).front() - 1);
  Constraint* known = not_null_of(relation, position);
  const bool is_new = known == nullptr;
  const std::size_t before = relation.constraints.size();
  if (is_new) {
    if (has_constraint_named(relation, constraint.name)) refuse_name(constraint.name, relation);
    known = &add(session, relation, position, constraint.name);
    known->validated = constraint.validated;
  } else {
    refuse_not_null_mismatch(relation, *known, constraint.no_inherit, constraint.validated);
    known->also_local = true;
  }
  known->parent = constraint.oid;
  partition = session.catalog.replace(*session.transaction, *partition, std::move(relation));
  if (is_new && constraint.validated && partition->tree) {
    validate_constraints(session, partition, before);
  }
  const Constraint given = *not_null_of(partition->relation, position);
  for (const Oid below : partition->relation.partitions) {
    if (is_new) give_not_null(session, partition->relation, given, session.names.table(below));
  }
  return partition;
}

void link_old_not_nulls(StatementContext& session, const Table& table) {
  check_stack();
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition = session.names.table(oid);
    if (std::ranges::none_of(partition->relation.constraints, is_of_old_record)) continue;
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, partition);
    Relation relation = locked->relation;
    bool links = false;
    for (const Constraint& constraint : table.relation.constraints) {
      if (constraint.kind != ConstraintKind::not_null) continue;
      const auto number = numbers_in(table.relation, relation, constraint.columns).front();
      Constraint* const own = not_null_of(relation, static_cast<std::size_t>(number - 1));
      if (own == nullptr || own->parent != kNoOid || !is_of_old_record(*own)) continue;
      own->parent = constraint.oid;
      links = true;
    }
    const TablePtr linked =
        links ? session.catalog.replace(*session.transaction, *locked, std::move(relation))
              : locked;
    link_old_not_nulls(session, *linked);
  }
}

void drop_not_nulls_below(StatementContext& session, const Table& table, Oid whole) {
  check_stack();
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition =
        session.catalog.lock_for_change(*session.transaction, session.names.table(oid));
    Relation relation = partition->relation;
    const auto part = std::ranges::find(relation.constraints, whole, &Constraint::parent);
    if (part == relation.constraints.end()) continue;
    const Oid own = part->oid;
    const bool stays = part->also_local;
    part->parent = kNoOid;
    part->also_local = false;
    if (!stays) relation.columns[position_of(*part)].not_null = false;
    const TablePtr changed =
        session.catalog.replace(*session.transaction, *partition, std::move(relation));
    if (!stays) drop_not_nulls_below(session, *changed, own);
  }
}

void leave_not_nulls_below(StatementContext& session, const Table& table, Oid whole) {
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition =
        session.catalog.lock_for_change(*session.transaction, session.names.table(oid));
    Relation relation = partition->relation;
    const auto part = std::ranges::find(relation.constraints, whole, &Constraint::parent);
    if (part == relation.constraints.end()) continue;
    part->parent = kNoOid;
    part->also_local = false;
    session.catalog.replace(*session.transaction, *partition, std::move(relation));
  }
}

void take_not_nulls(const Relation& parent, Relation& relation) {
  for (const Constraint& constraint : parent.constraints) {
    if (constraint.kind != ConstraintKind::not_null) continue;
    const auto number = numbers_in(parent, relation, constraint.columns).front();
    Constraint* own = not_null_of(relation, static_cast<std::size_t>(number - 1));
    if (own == nullptr) continue;  // refused before
    if (own->no_inherit) {
      throw_error(SqlState{"42P17"},
                  "constraint \"{}\" conflicts with non-inherited constraint on child table "
                  "\"{}\"",
                  own->name, relation.name);
    }
    if (constraint.validated && !own->validated) {
      throw_error(SqlState{"42P17"},
                  "constraint \"{}\" conflicts with NOT VALID constraint on child table \"{}\"",
                  own->name, relation.name);
    }
    own->parent = constraint.oid;
    own->also_local = false;
  }
}

void validate_not_null(StatementContext& session, const TablePtr& table, Oid constraint) {
  check_stack();
  const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
  Relation relation = locked->relation;
  std::vector<Oid> parts;
  for (Constraint& one : relation.constraints) {
    if (one.oid != constraint && one.parent != constraint) continue;
    if (one.validated) continue;
    one.validated = true;
    parts.push_back(one.oid);
  }
  if (parts.empty()) return;
  const std::size_t constraints = relation.constraints.size();
  const TablePtr changed =
      session.catalog.replace(*session.transaction, *locked, std::move(relation));
  if (changed->tree) validate_constraints(session, changed, constraints);
  for (const Oid oid : changed->relation.partitions) {
    validate_not_null(session, session.names.table(oid), parts.front());
  }
}

void alter_inheritability(StatementContext& session, const TablePtr& table,
                          const Constraint& constraint, bool no_inherit) {
  if (constraint.kind != ConstraintKind::not_null) {
    throw_error(sqlstate::wrong_object_type,
                "constraint \"{}\" of relation \"{}\" is not a not-null constraint",
                constraint.name, table->relation.name);
  }
  if (no_inherit && table->relation.is_partitioned()) {
    throw_error(sqlstate::feature_not_supported,
                "not-null constraint \"{}\" on partitioned table \"{}\" cannot be NO INHERIT",
                constraint.name, table->relation.name);
  }
  if (no_inherit && constraint.is_inherited()) {
    throw_error(kNotReady, "cannot alter inherited constraint \"{}\" on relation \"{}\"",
                constraint.name, table->relation.name);
  }
  if (constraint.no_inherit == no_inherit) return;
  const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
  Relation relation = locked->relation;
  std::ranges::find(relation.constraints, constraint.oid, &Constraint::oid)->no_inherit =
      no_inherit;
  session.catalog.replace(*session.transaction, *locked, std::move(relation));
}

}  // namespace swizzle::sql

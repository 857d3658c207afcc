// ALTER TABLE … SET LOGGED and SET UNLOGGED. Changes to unlogged tables are logged too: only the
// catalog's flag changes, which decides about publication and about allowed references between
// tables.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Throws if a permanent table would reference rows that a crash may remove.
void refuse_reference(StatementContext& session, const Relation& changed, bool logged,
                      const Constraint& key, const Relation& other) {
  if (other.oid == changed.oid || (other.persistence == Persistence::permanent) == logged) return;
  const std::string_view from = logged ? "unlogged" : "logged";
  const std::string_view to = logged ? "logged" : "unlogged";
  SqlError error =
      sql_error(sqlstate::invalid_table_definition,
                "could not change table \"{}\" to {} because it references {} table \"{}\"",
                changed.name, to, from, other.name);
  error.fields().schema = session.names.schema_name(changed.schema);
  error.fields().table = changed.name;
  error.fields().constraint = key.name;
  throw error;
}

void refuse_references(StatementContext& session, const Relation& changed, bool logged) {
  if (logged) {
    for (const Constraint& key : changed.constraints) {
      if (key.kind != ConstraintKind::foreign_key) continue;
      const TablePtr other = session.names.table(key.referenced_table);
      if (other) refuse_reference(session, changed, logged, key, other->relation);
    }
    return;
  }
  for (const TablePtr& other : session.names.referencing_tables(changed.oid)) {
    for (const Constraint& key : other->relation.constraints) {
      if (key.kind != ConstraintKind::foreign_key || key.referenced_table != changed.oid) continue;
      refuse_reference(session, changed, logged, key, other->relation);
    }
  }
}

void refuse_published(StatementContext& session, const Relation& relation) {
  const auto publications = session.catalog.all_made<Publication>();
  if (std::ranges::none_of(publications, [&](const auto& publication) {
        return publication->member(relation.oid) != nullptr;
      })) {
    return;
  }
  throw sql_error(SqlState{"55000"},
                  "cannot change table \"{}\" to unlogged because it is part of a publication",
                  relation.name)
      .with_detail("Unlogged relations cannot be replicated.");
}

}  // namespace

void TableChange::set_logged(bool logged) {
  if (persistence_changes_) {
    throw SqlError{sqlstate::feature_not_supported, "cannot change persistence setting twice"};
  }
  Relation relation = table_->relation;
  const Persistence wanted = logged ? Persistence::permanent : Persistence::unlogged;
  if (relation.persistence == Persistence::temporary) {
    SqlError error = sql_error(
        sqlstate::invalid_table_definition,
        "cannot change logged status of table \"{}\" because it is temporary", relation.name);
    error.fields().schema = session_.names.schema_name(relation.schema);
    error.fields().table = relation.name;
    throw error;
  }
  if (relation.persistence == wanted) return;
  if (!logged) refuse_published(session_, relation);
  refuse_references(session_, relation, logged);
  relation.persistence = wanted;
  persistence_changes_ = true;
  const Oid oid = relation.oid;
  replace(std::move(relation));
  // Owned sequences change with the table.
  for (const TablePtr& other : session_.catalog.sequences_of(oid)) {
    Relation owned = other->relation;
    owned.persistence = wanted;
    session_.catalog.replace(*session_.transaction, *other, std::move(owned));
  }
}

}  // namespace swizzle::sql

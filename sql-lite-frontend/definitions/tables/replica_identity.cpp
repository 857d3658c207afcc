// ALTER TABLE … REPLICA IDENTITY.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Refuses an index that does not identify each row: it must be unique, without expressions and
/// predicate, over columns that are NOT NULL.
void require_identifying(const Relation& relation, const Index& index) {
  const auto refuse = [&](SqlState state, std::string_view why) {
    throw_error(state, "cannot use {} \"{}\" as replica identity", why, index.name);
  };
  if (!index.unique) refuse(sqlstate::wrong_object_type, "non-unique index");
  if (index.deferrable) refuse(sqlstate::feature_not_supported, "non-immediate index");
  const bool has_expression = std::ranges::any_of(
      index.columns, [](const IndexColumn& column) { return column.column == 0; });
  if (has_expression) refuse(sqlstate::feature_not_supported, "expression index");
  if (!index.predicate_sql.empty()) refuse(sqlstate::feature_not_supported, "partial index");
  for (const IndexColumn& column : index.columns) {
    const Column& of = relation.columns[static_cast<std::size_t>(column.column - 1)];
    if (of.not_null) continue;
    throw_error(sqlstate::wrong_object_type,
                "index \"{}\" cannot be used as replica identity because column \"{}\" is nullable",
                index.name, of.name);
  }
}

}  // namespace

void TableChange::set_replica_identity(const ast::ReplicaIdentityStmt& statement) {
  Relation relation = table_->relation;
  relation.replica_identity = statement.identity_type.front();
  relation.replica_index = kNoOid;
  if (relation.replica_identity == 'i') {
    const auto index = std::ranges::find(relation.indexes, statement.name, &Index::name);
    if (index == relation.indexes.end()) {
      throw_error(sqlstate::undefined_object, "index \"{}\" for table \"{}\" does not exist",
                  statement.name, relation.name);
    }
    // A deferrable key is unique in all but the entries of its index.
    Index judged = *index;
    if (judged.is_key()) judged.unique = true;
    require_identifying(relation, judged);
    relation.replica_index = index->oid;
  }
  replace(std::move(relation));
}

}  // namespace swizzle::sql

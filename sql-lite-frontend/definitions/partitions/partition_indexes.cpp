#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/types/check_stack.h"

/// Keys and indexes of partitioned tables. They have no entries of their own: each partition has an
/// index that is a part of them.
namespace swizzle::sql {
namespace {

const Constraint* constraint_of(const Relation& relation, Oid index) {
  const auto found = std::ranges::find_if(relation.constraints, [&](const Constraint& constraint) {
    return constraint.index == index && constraint.kind != ConstraintKind::foreign_key;
  });
  return found == relation.constraints.end() ? nullptr : &*found;
}

/// Returns the definition of the partition's part of an index.
Index as_part(const Relation& parent, const Relation& partition, const Index& index) {
  Index part = index;
  for (IndexColumn& column : part.columns) {
    if (column.column == 0) continue;
    column.column = numbers_in(parent, partition, {&column.column, 1}).front();
  }
  part.included = numbers_in(parent, partition, index.included);
  return part;
}

bool is_like(const Index& own, const Index& wanted) {
  const auto same = [](const IndexColumn& left, const IndexColumn& right) {
    return left.column == right.column && left.expression_sql == right.expression_sql &&
           left.operator_class == right.operator_class && left.collation == right.collation &&
           left.excludes_by == right.excludes_by;
  };
  return own.method == wanted.method && own.unique == wanted.unique &&
         own.primary == wanted.primary && own.deferrable == wanted.deferrable &&
         own.nulls_not_distinct == wanted.nulls_not_distinct &&
         own.without_overlaps == wanted.without_overlaps &&
         std::ranges::equal(own.columns, wanted.columns, same) && own.included == wanted.included &&
         own.predicate_sql == wanted.predicate_sql;
}

/// Returns the columns in the order in which the definition names them.
std::vector<IndexColumn> written_columns(const Index& index) {
  std::vector<IndexColumn> columns = index.columns;
  std::ranges::stable_sort(columns, {}, &IndexColumn::written_place);
  return columns;
}

std::string name_of_part(StatementContext& session, const Table& partition, const Index& index,
                         bool is_key) {
  const Relation& relation = partition.relation;
  if (index.primary) return free_name(session, relation, object_name(relation.name, {}, "pkey"));
  std::vector<std::string> names;
  const auto name_of = [&](std::int16_t number) {
    return relation.columns[static_cast<std::size_t>(number - 1)].name;
  };
  for (const IndexColumn& column : written_columns(index)) {
    names.push_back(column.column == 0
                        ? name_of_expression(session, partition, column.expression_sql)
                        : name_of(column.column));
  }
  for (const std::int16_t number : index.included) names.push_back(name_of(number));
  const std::string_view kind = index.excludes() ? "excl" : (is_key ? "key" : "idx");
  return free_name(session, relation,
                   object_name(relation.name, joined_once(std::move(names)), kind));
}

/// Uses an equivalent index of the partition as the part. Returns false if there is none.
bool adopt(StatementContext& session, const Table& partition, Relation& relation,
           const Index& wanted, const Constraint* key, PartsToAdopt from) {
  for (Index& own : relation.indexes) {
    if (own.parent != kNoOid || !is_like(own, wanted)) continue;
    if (from == PartsToAdopt::valid && !(own.is_valid() && is_whole(session, partition, own)))
      continue;
    const Constraint* constraint = constraint_of(relation, own.oid);
    if (key != nullptr && constraint == nullptr) continue;
    own.parent = wanted.oid;
    for (Constraint& one : relation.constraints) {
      if (key != nullptr && &one == constraint) one.parent = key->oid;
    }
    return true;
  }
  return false;
}

/// Adds a part. `relation`: the partition's definition with the parts added so far.
void add_part(StatementContext& session, const Table& partition, Relation& relation, Index part,
              const Constraint* key) {
  if (part.primary && std::ranges::any_of(relation.indexes, &Index::primary)) {
    throw_error(sqlstate::invalid_table_definition,
                "multiple primary keys for table \"{}\" are not allowed", relation.name);
  }
  part.parent = part.oid;
  part.oid = session.catalog.allocate_oid();
  part.comment.clear();
  part.estimated_pages = 0;
  part.tree = TreeId::directory;
  part.name = name_of_part(session, partition, part, key != nullptr);
  if (key != nullptr) {
    Constraint copy = *key;
    copy.oid = session.catalog.allocate_oid();
    copy.parent = key->oid;
    copy.index = part.oid;
    copy.name = part.name;
    copy.comment.clear();
    copy.columns.clear();
    for (const IndexColumn& column : written_columns(part)) copy.columns.push_back(column.column);
    relation.constraints.push_back(std::move(copy));
  }
  if (part.primary) {
    for (const IndexColumn& column : part.columns) {
      relation.columns[static_cast<std::size_t>(column.column - 1)].not_null = true;
    }
  }
  relation.indexes.push_back(std::move(part));
}

}  // namespace

TablePtr give_index(StatementContext& session, const TablePtr& parent, const Index& index,
                    TablePtr partition, PartsToAdopt from) {
  check_stack();
  Relation relation = partition->relation;
  const Constraint* key = constraint_of(parent->relation, index.oid);
  Index wanted = as_part(parent->relation, relation, index);
  if (adopt(session, *partition, relation, wanted, key, from)) {
    return session.catalog.replace(*session.transaction, *partition, std::move(relation));
  }
  require_unused(session, *partition, "CREATE INDEX");
  require_partition_key_in(relation, wanted);
  const std::size_t constraints = relation.constraints.size();
  add_part(session, *partition, relation, std::move(wanted), key);
  const std::size_t place = relation.indexes.size() - 1;
  if (relation.is_partitioned()) {
    partition = session.catalog.replace(*session.transaction, *partition, std::move(relation));
    for (const Oid below : partition->relation.partitions) {
      const TablePtr locked =
          session.catalog.lock_for_change(*session.transaction, session.names.table(below));
      give_index(session, partition, partition->relation.indexes[place], locked, from);
    }
    return partition;
  }
  if (relation.indexes[place].orders_rows()) {
    return rewrite_table(session, partition, std::move(relation), {});
  }
  relation.indexes[place].tree = value_of(session.shared.engine.create_tree(*session.transaction));
  partition = session.catalog.replace(*session.transaction, *partition, std::move(relation));
  fill_index(session, partition, place);
  // The columns of a primary key have become NOT NULL.
  if (partition->relation.indexes[place].primary) {
    validate_constraints(session, partition, constraints);
  }
  return partition;
}

void drop_parts_of_index(StatementContext& session, const Table& table, Oid index) {
  check_stack();
  for (const Oid oid : table.relation.partitions) {
    TablePtr partition =
        session.catalog.lock_for_change(*session.transaction, session.names.table(oid));
    const auto& indexes = partition->relation.indexes;
    const auto part = std::ranges::find(indexes, index, &Index::parent);
    if (part == indexes.end()) continue;
    require_index_unused(session, *partition, part->name);
    const Index gone = *part;
    drop_parts_of_index(session, *partition, gone.oid);
    Relation relation = partition->relation;
    std::erase_if(relation.indexes, [&](const Index& one) { return one.oid == gone.oid; });
    std::erase_if(relation.constraints, [&](const Constraint& one) {
      return one.index == gone.oid && one.kind != ConstraintKind::foreign_key;
    });
    if (gone.orders_rows() && partition->tree) {
      rewrite_table(session, partition, std::move(relation), {});
      continue;
    }
    drop_index_tree(session, gone);
    session.catalog.replace(*session.transaction, *partition, std::move(relation));
  }
}

bool is_whole(StatementContext& session, const Table& table, const Index& index) {
  check_stack();
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition = session.names.table(oid);
    if (!partition) continue;
    const auto& indexes = partition->relation.indexes;
    const auto part = std::ranges::find(indexes, index.oid, &Index::parent);
    if (part == indexes.end() || !part->is_valid() || !is_whole(session, *partition, *part)) {
      return false;
    }
  }
  return true;
}

void require_partition_key_in(const Relation& relation, const Index& index) {
  if (!relation.partition_key || !(index.is_key() || index.excludes())) return;
  std::string_view kind = index.primary ? "PRIMARY KEY" : "UNIQUE";
  if (index.excludes() && !index.without_overlaps) kind = "EXCLUDE";
  for (const PartitionColumn& part : relation.partition_key->columns) {
    if (part.column == 0) {
      throw sql_error(sqlstate::feature_not_supported,
                      "unsupported {} constraint with partition key definition", kind)
          .with_detail(fmt::format(
              "{} constraints cannot be used when partition keys include expressions.", kind));
    }
    const auto found = std::ranges::find(index.columns, part.column, &IndexColumn::column);
    if (found != index.columns.end()) {
      if (found->excludes_by.empty() || found->excludes_by == "=") continue;
      throw_error(sqlstate::feature_not_supported,
                  "cannot match partition key to index on column \"{}\" using non-equal operator "
                  "\"{}\"",
                  relation.columns[static_cast<std::size_t>(part.column - 1)].name,
                  found->excludes_by);
    }
    throw SqlError{sqlstate::feature_not_supported,
                   "unique constraint on partitioned table must include all partitioning columns"}
        .with_detail(fmt::format(
            "{} constraint on table \"{}\" lacks column \"{}\" which is part of the partition key.",
            kind, relation.name, relation.columns[static_cast<std::size_t>(part.column - 1)].name));
  }
}

void attach_index(StatementContext& session, const TablePtr& parent, Oid index,
                  const ast::PartitionCmd& command) {
  const Index& whole = *parent->index_by_oid(index);
  const NamedRelation found = require_named_relation(session, *command.name);
  if (found.index == nullptr) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is not an index", command.name->relname);
  }
  require_alterable(session, found);
  const Oid part_oid = found.index->oid;
  TablePtr table = session.catalog.lock_for_change(*session.transaction, found.table);
  const Index part = *table->index_by_oid(part_oid);
  if (part.parent == index) return;
  const auto refuse = [&](SqlState state, std::string detail) {
    throw sql_error(state, "cannot attach index \"{}\" as a partition of index \"{}\"", part.name,
                    whole.name)
        .with_detail(std::move(detail));
  };
  constexpr SqlState kNotReady{"55000"};
  const auto& indexes = table->relation.indexes;
  if (std::ranges::find(indexes, index, &Index::parent) != indexes.end()) {
    refuse(kNotReady, fmt::format("Another index is already attached for partition \"{}\".",
                                  table->relation.name));
  }
  if (part.parent != kNoOid) {
    refuse(kNotReady, fmt::format("Index \"{}\" is already attached to another index.", part.name));
  }
  if (table->relation.partition_of != parent->relation.oid) {
    refuse(kNotReady, fmt::format("Index \"{}\" is not an index on any partition of table \"{}\".",
                                  part.name, parent->relation.name));
  }
  const Index wanted = as_part(parent->relation, table->relation, whole);
  if (!is_like(part, wanted)) {
    refuse(SqlState{"42P17"}, "The index definitions do not match.");
  }
  Relation relation = table->relation;
  const Constraint* const key = constraint_of(parent->relation, index);
  const Constraint* const own = constraint_of(relation, part_oid);
  if (key != nullptr && own == nullptr) {
    refuse(SqlState{"42P17"},
           fmt::format("The index \"{}\" belongs to a constraint in table \"{}\" but no constraint "
                       "exists for index \"{}\".",
                       whole.name, parent->relation.name, part.name));
  }
  for (Index& one : relation.indexes) {
    if (one.oid == part_oid) one.parent = index;
  }
  for (Constraint& one : relation.constraints) {
    if (key != nullptr && one.index == part_oid && one.kind != ConstraintKind::foreign_key) {
      one.parent = key->oid;
    }
  }
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

}  // namespace swizzle::sql

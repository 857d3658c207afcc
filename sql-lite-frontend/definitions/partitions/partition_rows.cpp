#include <algorithm>

#include "sql-lite-frontend/catalog/partition_bound.h"
#include "sql-lite-frontend/catalog/partition_map.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/table_rewrite.h"
#include "sql-lite-frontend/statement/names/partitions.h"

/// Checks of existing rows against new partition bounds.
namespace swizzle::sql {
namespace {

/// Computes the partition key of a table's rows for its present or future parent.
class KeyReader {
 public:
  KeyReader(StatementContext& session, const Table& parent, const Table& table)
      : scratch_(session.new_scratch()) {
    Binder binder{session.names, scratch_->arena};
    first_ = binder.new_slots(table.relation.columns.size());
    key_ = binder.bind_partition_key(parent, table, first_);
    scratch_->execution.slots.resize(binder.slot_count());
    scratch_->execution.transaction = session.transaction.get();
  }

  std::span<const Value> of(std::span<const Value> row) {
    Execution& execution = scratch_->execution;
    std::ranges::copy(row, execution.slots.begin() + first_);
    values_.clear();
    for (const ExprPtr& part : key_) values_.push_back(part->eval(execution));
    return values_;
  }
  void rewind() { scratch_->execution.row_arena.reset(); }

 private:
  std::unique_ptr<Scratch> scratch_;
  Slot first_ = 0;
  std::vector<ExprPtr> key_;
  std::vector<Value> values_;
};

/// Calls `visit` with the key of each row of the table and of its partitions.
template <class Visit>
void visit_keys(StatementContext& session, const TablePtr& table, const Table& parent,
                const Visit& visit) {
  for (const TablePtr& one : with_partitions(session, table)) {
    if (!one->tree) continue;
    KeyReader reader{session, parent, *one};
    visit_rows(session, one, [&](std::span<const Value> row) {
      visit(*one, reader.of(row));
      reader.rewind();
    });
  }
}

}  // namespace

void check_default_rows(StatementContext& session, const Table& parent,
                        const PartitionBound& bound) {
  if (bound.is_default) return;
  const PartitionMap map{*parent.relation.partition_key, {&bound}};
  for (const Oid oid : parent.relation.partitions) {
    const TablePtr partition = session.names.table(oid);
    if (!partition || !partition->relation.partition_bound->is_default) continue;
    // Lock out writers while its rows are checked, and plans made for the rows that it takes now.
    for (const TablePtr& one : with_partitions(session, partition)) {
      session.catalog.lock_for_change(*session.transaction, one);
    }
    visit_keys(session, partition, parent, [&](const Table&, std::span<const Value> key) {
      if (!map.find(key)) return;
      SqlError error = sql_error(sqlstate::check_violation,
                                 "updated partition constraint for default partition \"{}\" would "
                                 "be violated by some row",
                                 partition->relation.name);
      error.fields().schema = session.names.schema_name(partition->relation.schema);
      error.fields().table = partition->relation.name;
      throw error;
    });
  }
}

void check_rows_within(StatementContext& session, const TablePtr& table, const Table& parent,
                       const PartitionBound& bound) {
  std::vector<TablePtr> siblings;
  std::vector<const PartitionBound*> bounds;
  if (bound.is_default) {
    for (const Oid oid : parent.relation.partitions) {
      siblings.push_back(session.names.table(oid));
      bounds.push_back(&bound_within(parent.relation.oid, oid, siblings.back()));
    }
  }
  const std::size_t own = bounds.size();
  bounds.push_back(&bound);
  const PartitionMap map{*parent.relation.partition_key, std::move(bounds)};
  visit_keys(session, table, parent, [&](const Table& leaf, std::span<const Value> key) {
    if (map.find(key) == own) return;
    SqlError error = sql_error(sqlstate::check_violation,
                               "partition constraint of relation \"{}\" is violated by some row",
                               leaf.relation.name);
    error.fields().schema = session.names.schema_name(leaf.relation.schema);
    error.fields().table = leaf.relation.name;
    throw error;
  });
}

}  // namespace swizzle::sql

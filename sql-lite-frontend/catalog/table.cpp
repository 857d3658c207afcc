#include "sql-lite-frontend/catalog/table.h"

#include <algorithm>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

void set_missing_values(Table& table) {
  for (std::size_t i = 0; i < table.relation.columns.size(); ++i) {
    const Column& column = table.relation.columns[i];
    if (!column.missing) continue;
    table.layout.set_default(i, read_flat(shape_of(column.type), as_bytes(*column.missing)));
  }
}

void open_indexes(Engine& engine, Table& table) {
  for (const Index& index : table.relation.indexes) {
    IndexAccess access{&index, std::nullopt, {}, &table.runtime->index_counters(index.oid), {}};
    for (const IndexColumn& column : index.columns) {
      const bool is_inverted = index.method == IndexMethod::inverted;
      access.columns.push_back(
          {is_inverted ? column.type : column.key_type(), column.direction, column.nulls});
      if (index.method != IndexMethod::inverted) continue;
      const ElementClassInfo* taken = find_element_class(column.type, column.operator_class);
      if (taken == nullptr) {
        throw_error(sqlstate::data_corrupted, "index \"{}\" has an unknown operator class",
                    index.name);
      }
      access.classes.push_back(taken->id);
    }
    if (index.orders_rows()) {
      table.key_columns = access.columns;
      for (const IndexColumn& column : index.columns) {
        table.key_positions.push_back(static_cast<std::size_t>(column.column - 1));
      }
    } else {
      access.tree = value_of(engine.tree(index.tree));
    }
    access.complete_since = table.runtime->complete_since(index.oid);
    table.indexes.push_back(std::move(access));
  }
}

/// Lets queries find rows by hidden row ids, whose key is that of an xid8.
void open_row_ids(Table& table) {
  auto index = std::make_unique<Index>();
  index->name = "ctid";
  index->unique = true;
  IndexColumn column;
  column.column = static_cast<std::int16_t>(table.relation.columns.size() + 1);
  column.type = TypeId::xid8;
  column.nulls = NullsOrder::absent;
  index->columns.push_back(column);
  table.row_ids = IndexAccess{index.get(),
                              std::nullopt,
                              {{column.type, column.direction, column.nulls}},
                              &table.runtime->index_counters(kNoOid),
                              {}};
  table.row_id_index = std::move(index);
}

RelationPages pages_by_counters(Engine& engine, TableCounters& counters, TreeId tree) {
  const std::uint64_t read = counters.page_reads.since_reset(tree, engine.pages_read_of(tree));
  const std::uint64_t requests = counters.leaf_requests();
  return {.read = read, .hit = requests - std::min(read, requests)};
}

}  // namespace

TypeId IndexColumn::key_type() const noexcept {
  if (collation == kNoOid || collation == default_collation(type)) return type;
  const TypeId plain = base_type(type);
  if (operator_class.ends_with("_pattern_ops")) return plain;
  return is_plain_collation(collation) ? plain : with_collation(plain, collation);
}

TableCounters& TableRuntime::index_counters(Oid index) {
  const std::lock_guard lock{mutex_};
  return index_counters_[index];
}

void TableRuntime::note_complete(Oid index, Lsn since) {
  const std::lock_guard lock{mutex_};
  complete_since_[index] = since;
}

Lsn TableRuntime::complete_since(Oid index) {
  const std::lock_guard lock{mutex_};
  const auto found = complete_since_.find(index);
  return found == complete_since_.end() ? Lsn::none : found->second;
}

TablePtr open_table(Engine& engine, Relation relation, std::uint64_t version,
                    std::shared_ptr<TableRuntime> runtime) {
  auto table = std::make_shared<Table>();
  table->relation = std::move(relation);
  table->version = version;
  for (const Column& column : table->relation.columns) table->column_types.push_back(column.type);
  table->layout = RowLayout{table->column_types};
  set_missing_values(*table);
  if (table->relation.tree != TreeId::directory) {
    table->tree = value_of(engine.tree(table->relation.tree));
  }
  table->runtime = runtime ? std::move(runtime) : std::make_shared<TableRuntime>();
  // A partitioned table's indexes have no trees: its partitions' do.
  if (!table->relation.is_partitioned()) open_indexes(engine, *table);
  if (table->tree && table->has_row_ids()) open_row_ids(*table);
  if (const TypeId rows{table->relation.row_type}; is_composite(rows)) {
    table->row_type_name = NotedType{rows, {quote_identifier(table->relation.name), {}, {}}};
  }
  return table;
}

std::optional<std::size_t> Table::column_position(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    if (!relation.columns[i].dropped && relation.columns[i].name == name) return i;
  }
  return std::nullopt;
}

const Index* Table::index_by_oid(Oid oid) const noexcept {
  const auto found = std::ranges::find(relation.indexes, oid, &Index::oid);
  return found == relation.indexes.end() ? nullptr : &*found;
}

const Constraint* Table::constraint_named(std::string_view name) const noexcept {
  const auto found = std::ranges::find(relation.constraints, name, &Constraint::name);
  return found == relation.constraints.end() ? nullptr : &*found;
}

const Index* Table::primary_key() const noexcept {
  const auto found = std::ranges::find(relation.indexes, true, &Index::primary);
  return found == relation.indexes.end() ? nullptr : &*found;
}

const Index* Table::row_order() const noexcept {
  const auto found = std::ranges::find_if(relation.indexes, &Index::orders_rows);
  return found == relation.indexes.end() ? nullptr : &*found;
}

double Table::expected_rows() const noexcept {
  const std::int64_t known = runtime->analyzed_delta.load(std::memory_order_relaxed);
  const auto delta = static_cast<double>(runtime->row_delta() - known);
  if (relation.estimated_rows < 0) return std::max(1000.0, delta);
  return std::max(1.0, relation.estimated_rows + delta);
}

RelationPages pages_of(Engine& engine, const Table& table) {
  return pages_by_counters(engine, table.runtime->counters, table.relation.tree);
}

RelationPages pages_of(Engine& engine, const IndexAccess& index) {
  if (!index.tree) return {};
  return pages_by_counters(engine, *index.counters, index.index->tree);
}

void reset_counters(Engine& engine, TableCounters& counters, TreeId tree) {
  counters.reset();
  counters.page_reads.reset(tree, engine.pages_read_of(tree));
}

}  // namespace swizzle::sql

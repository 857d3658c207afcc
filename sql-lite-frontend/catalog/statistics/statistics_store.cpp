#include "sql-lite-frontend/catalog/statistics/statistics_store.h"

#include <utility>

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/key_codec.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

std::string record_key(Oid relation, std::int16_t column) {
  std::string key;
  append_oid(key, relation);
  std::byte bytes[sizeof column];
  store_big_endian(bytes, static_cast<std::uint16_t>(column));
  key += as_text(Bytes{bytes, sizeof bytes});
  return key;
}

void put(Tree tree, Transaction& transaction, const std::string& key, std::string_view value) {
  if (value_of(tree.update(transaction, as_bytes(key), as_bytes(value)))) return;
  value_of(tree.insert(transaction, as_bytes(key), as_bytes(value)));
}

/// Moves to the next record. Statistics that cannot be read end there as if there were no more:
/// they speed queries up, and a table without them can be read and dropped. The storage has logged
/// the damaged page.
bool has_next(Cursor& cursor) {
  auto next = cursor.next();
  if (!next && next.error().state() == sqlstate::data_corrupted) return false;
  return value_of(std::move(next));
}

}  // namespace

std::unique_ptr<StatisticsStore> StatisticsStore::open(Engine& engine, const Tree& catalog) {
  const std::string key = object_key(kSharedCatalog, RecordKind::statistics_tree, 0);
  auto transaction = engine.begin();
  transaction->begin_statement();
  ValueBuffer buffer;
  TreeId id{};
  if (value_of(catalog.get(*transaction, as_bytes(key), buffer))) {
    if (buffer.bytes().size() != sizeof(Oid)) {
      throw SqlError{sqlstate::data_corrupted, "the catalog does not know its statistics"};
    }
    id = TreeId{load_big_endian<Oid>(buffer.bytes().data())};
    transaction->rollback();
  } else if (engine.salvages()) {
    transaction->rollback();
    return std::unique_ptr<StatisticsStore>{new StatisticsStore{engine, std::nullopt}};
  } else {
    id = value_of(engine.create_tree(*transaction));
    std::string value;
    append_oid(value, static_cast<Oid>(id));
    Tree records = catalog;
    value_of(records.insert(*transaction, as_bytes(key), as_bytes(value)));
    value_of(transaction->commit());
  }
  return std::unique_ptr<StatisticsStore>{new StatisticsStore{engine, value_of(engine.tree(id))}};
}

StatisticsPtr StatisticsStore::read(Transaction& transaction, Oid relation) const {
  if (!tree_) return nullptr;
  std::string low;
  append_oid(low, relation);
  const std::string high = key_successor(low);
  ScanRange range;
  range.low = as_bytes(low);
  range.high = as_bytes(high);
  std::shared_ptr<TableStatistics> statistics;
  Cursor cursor = value_of(tree_->scan(transaction, range));
  while (has_next(cursor)) {
    if (!statistics) statistics = std::make_shared<TableStatistics>();
    const auto column = load_big_endian<std::uint16_t>(cursor.key().data() + sizeof(Oid));
    if (column == 0) {
      statistics->rows = load<double>(cursor.value().data());
    } else {
      statistics->columns.push_back(decode_column_statistics(cursor.value()));
    }
  }
  return statistics;
}

StatisticsPtr StatisticsStore::of(const Table& table) {
  {
    const std::lock_guard lock{mutex_};
    const auto found = known_.find(table.relation.oid);
    if (found != known_.end() && found->second.version == table.version) {
      return found->second.statistics;
    }
  }
  auto transaction = engine_.begin(Isolation::read_committed, Access::read_only);
  transaction->begin_statement();
  StatisticsPtr statistics = read(*transaction, table.relation.oid);
  transaction->rollback();
  const std::lock_guard lock{mutex_};
  known_[table.relation.oid] = {table.version, statistics};
  return statistics;
}

void StatisticsStore::forget_known() {
  const std::lock_guard lock{mutex_};
  known_.clear();
}

void StatisticsStore::remove(Transaction& transaction, Oid relation) {
  std::string low;
  append_oid(low, relation);
  const std::string high = key_successor(low);
  ScanRange range;
  range.low = as_bytes(low);
  range.high = as_bytes(high);
  std::vector<std::string> keys;
  {
    Cursor cursor = value_of(tree_->scan(transaction, range));
    while (has_next(cursor)) keys.emplace_back(as_text(cursor.key()));
  }
  Tree tree = *tree_;
  for (const std::string& key : keys) value_of(tree.remove(transaction, as_bytes(key)));
  // Drop the cached statistics of the dropped relation, which would stay forever.
  const std::lock_guard lock{mutex_};
  known_.erase(relation);
}

void StatisticsStore::write(Transaction& transaction, Oid relation,
                            const TableStatistics& statistics) {
  remove(transaction, relation);
  std::string rows(sizeof statistics.rows, '\0');
  std::memcpy(rows.data(), &statistics.rows, sizeof statistics.rows);
  put(*tree_, transaction, record_key(relation, 0), rows);
  for (const ColumnStatistics& column : statistics.columns) {
    put(*tree_, transaction, record_key(relation, column.column), encode(column));
  }
}

}  // namespace swizzle::sql

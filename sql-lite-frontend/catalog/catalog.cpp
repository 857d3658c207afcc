#include "sql-lite-frontend/catalog/catalog.h"

#include <mutex>

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

template <class Map, class Key>
auto find_or_null(const Map& map, const Key& key) -> typename Map::mapped_type {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

template <class Map>
auto find_by_name(const Map& map, std::string_view name) -> typename Map::mapped_type {
  for (const auto& [oid, object] : map) {
    if (object->name == name) return object;
  }
  return nullptr;
}

template <class Map>
auto values_of(const Map& map) {
  std::vector<typename Map::mapped_type> list;
  list.reserve(map.size());
  for (const auto& [key, value] : map) list.push_back(value);
  return list;
}

/// Trees of temporary relations that a crash left behind.
void drop_leftovers(Engine& engine, Tree& tree, Oid database) {
  auto transaction = engine.begin();
  transaction->begin_statement();
  const std::string low = kind_prefix(database, RecordKind::temporary);
  const std::string high = key_successor(low);
  std::vector<std::string> keys;
  std::vector<TreeId> trees;
  {
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    Cursor cursor = value_of(tree.scan(*transaction, range));
    while (value_of(cursor.next())) {
      const auto relation = decode<Relation>(cursor.value());
      keys.emplace_back(as_text(cursor.key()));
      if (relation.tree != TreeId::directory) trees.push_back(relation.tree);
      for (const Index& index : relation.indexes) {
        if (!index.primary) trees.push_back(index.tree);
      }
    }
  }
  if (keys.empty()) {
    transaction->rollback();
    return;
  }
  for (const std::string& key : keys) value_of(tree.remove(*transaction, as_bytes(key)));
  for (const TreeId id : trees) value_of(engine.drop_tree(*transaction, id));
  value_of(transaction->commit());
}

}  // namespace

std::unique_ptr<Catalog> Catalog::open(Engine& engine, SharedObjects& shared, Oid database) {
  Tree tree = value_of(engine.tree(kTree));
  drop_leftovers(engine, tree, database);
  std::unique_ptr<Catalog> catalog{new Catalog{engine, tree, shared, database}};
  catalog->load();
  return catalog;
}

void Catalog::load() {
  auto transaction = engine_.begin(Isolation::read_committed, Access::read_only);
  transaction->begin_statement();
  {
    std::string low;
    append_oid(low, database_);
    const std::string high = key_successor(low);
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    Cursor cursor = value_of(tree_.scan(*transaction, range));
    while (value_of(cursor.next())) load_record(cursor.key(), cursor.value());
  }
  transaction->rollback();
}

void Catalog::load_record(Bytes key, Bytes value) {
  const auto kind = static_cast<RecordKind>(key[sizeof(Oid)]);
  const auto oid = load_big_endian<Oid>(key.data() + sizeof(Oid) + 1);
  switch (kind) {
    case RecordKind::schema:
      schemas_[oid] = std::make_shared<Schema>(decode<Schema>(value));
      return;
    case RecordKind::lock:
      // Relations come before their versions in key order.
      if (const auto found = tables_.find(oid); found != tables_.end()) {
        auto table = std::const_pointer_cast<Table>(found->second);
        table->version = load_big_endian<std::uint64_t>(value.data());
      }
      return;
    case RecordKind::relation:
      put({oid, true, open_table(engine_, decode<Relation>(value), 0, nullptr)});
      return;
    case RecordKind::temporary:
    case RecordKind::name:
    case RecordKind::sequence:
    case RecordKind::statistics_tree:
      return;
    case RecordKind::counter:
    case RecordKind::role:
    case RecordKind::database:
      // Those belong to all databases.
      return;
  }
}

TablePtr Catalog::table(Oid oid) const {
  const std::shared_lock lock{mutex_};
  return find_or_null(tables_, oid);
}

TablePtr Catalog::table(Oid schema, std::string_view name) const {
  const std::shared_lock lock{mutex_};
  const auto found = table_names_.find(NameKey{schema, name});
  return found == table_names_.end() ? nullptr : find_or_null(tables_, found->second);
}

TablePtr Catalog::table_of_index(Oid schema, std::string_view index) const {
  const std::shared_lock lock{mutex_};
  const auto found = index_names_.find(NameKey{schema, index});
  return found == index_names_.end() ? nullptr : find_or_null(tables_, found->second);
}

SchemaPtr Catalog::schema(Oid oid) const {
  const std::shared_lock lock{mutex_};
  return find_or_null(schemas_, oid);
}
SchemaPtr Catalog::schema(std::string_view name) const {
  const std::shared_lock lock{mutex_};
  return find_by_name(schemas_, name);
}
std::vector<TablePtr> Catalog::tables() const {
  const std::shared_lock lock{mutex_};
  return values_of(tables_);
}
std::vector<SchemaPtr> Catalog::schemas() const {
  const std::shared_lock lock{mutex_};
  return values_of(schemas_);
}

void Catalog::apply(std::span<const CatalogChange> changes) {
  const std::unique_lock lock{mutex_};
  for (const CatalogChange& change : changes) put(change);
  // release: who sees the new number finds the changes in the maps.
  version_.fetch_add(1, std::memory_order_release);
}

void Catalog::forget_names(const Relation& relation) {
  table_names_.erase(NameKey{relation.schema, relation.name});
  for (const Index& index : relation.indexes) {
    index_names_.erase(NameKey{relation.schema, index.name});
  }
}

namespace {

template <class Map, class Ptr>
void put_object(Map& map, Oid oid, const Ptr& object) {
  if (object) {
    map[oid] = object;
  } else {
    map.erase(oid);
  }
}

}  // namespace

void Catalog::put(const CatalogChange& change) {
  if (const auto* schema = std::get_if<SchemaPtr>(&change.object)) {
    put_object(schemas_, change.oid, *schema);
  } else if (const auto* role = std::get_if<RolePtr>(&change.object)) {
    shared_.put(change.oid, *role);
  } else if (const auto* database = std::get_if<DatabasePtr>(&change.object)) {
    shared_.put(change.oid, *database);
  } else {
    const auto& table = std::get<TablePtr>(change.object);
    const auto old = tables_.find(change.oid);
    if (old == tables_.end()) {
      // Dropped by a later transaction that was published earlier.
      if (!table || !change.created) return;
    } else {
      // Two transactions may publish in another order than they committed: the newer stays.
      if (table && old->second->version > table->version) return;
      forget_names(old->second->relation);
    }
    put_object(tables_, change.oid, table);
    if (!table) return;
    table_names_[NameKey{table->relation.schema, table->relation.name}] = change.oid;
    for (const Index& index : table->relation.indexes) {
      index_names_[NameKey{table->relation.schema, index.name}] = change.oid;
    }
  }
}

}  // namespace swizzle::sql

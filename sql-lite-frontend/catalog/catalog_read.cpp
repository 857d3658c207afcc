// Reads relations on demand.
#include <algorithm>
#include <mutex>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"

namespace swizzle::sql {
namespace {

/// Limit of the negative cache, so that look-ups of many absent names do not take memory for each.
constexpr std::size_t kMostAbsent = 10'000;

/// To decode a record and to open its table, in `yield_point`'s units.
constexpr std::size_t kWorkOfRecord = 5'000;

template <class Set, class Key>
void remember(Set& absent, Key&& key) {
  if (absent.size() >= kMostAbsent) absent.clear();
  absent.insert(std::forward<Key>(key));
}

}  // namespace

/// A read of committed definitions, without a lock. Changes applied meanwhile are in the maps, or
/// among the dropped; earlier ones are in the records that it reads.
struct Catalog::Reading {
  explicit Reading(Catalog& of) : catalog(of) {
    {
      const std::unique_lock lock{catalog.mutex_};
      ++catalog.readers_;
    }
    transaction = catalog.engine_.begin(Isolation::read_committed, Access::read_only);
    transaction->begin_statement();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() {
    const std::unique_lock lock{catalog.mutex_};
    if (--catalog.readers_ == 0) catalog.dropped_.clear();
  }

  /// Returns the value of the key, or nothing if there is none.
  std::optional<Bytes> get(const std::string& key) {
    if (!value_of(catalog.tree_.get(*transaction, as_bytes(key), buffer))) return std::nullopt;
    return buffer.bytes();
  }
  /// Returns nothing if there is none; an error if the page of the name cannot be read.
  Result<std::optional<Oid>> oid_named(Oid schema, std::string_view name) {
    const std::string key = name_key(catalog.database_, schema, name);
    ASSIGN_OR_RETURN(const bool found, catalog.tree_.get(*transaction, as_bytes(key), buffer));
    if (!found || buffer.bytes().size() != sizeof(Oid)) return std::optional<Oid>{};
    return std::optional{load_big_endian<Oid>(buffer.bytes().data())};
  }
  /// Returns 0 also if its page cannot be read: the relation can be used without its version, and a
  /// change of it reads the page again, and fails.
  std::uint64_t version_of(Oid oid) {
    const std::string key = object_key(catalog.database_, RecordKind::lock, oid);
    auto found = catalog.tree_.get(*transaction, as_bytes(key), buffer);
    if (!found && found.error().state() == sqlstate::data_corrupted) return 0;
    return value_of(std::move(found)) && buffer.bytes().size() == sizeof(std::uint64_t)
               ? load_big_endian<std::uint64_t>(buffer.bytes().data())
               : 0;
  }
  TablePtr relation(Oid oid) {
    const auto value = get(object_key(catalog.database_, RecordKind::relation, oid));
    if (!value) return nullptr;
    const std::size_t bytes = value->size();
    return opened(decode<Relation>(*value), bytes);
  }
  TablePtr opened(Relation relation, std::size_t record_bytes) {
    const std::uint64_t version = version_of(relation.oid);
    return counted<Table>(
        open_table(catalog.engine_, std::move(relation), version, nullptr),
        {catalog.shared_.definition_memory(), DefinitionMemory::bytes_of_record(record_bytes)});
  }
  std::vector<Oid> references_to(Oid referenced) {
    const std::string low = object_key(catalog.database_, RecordKind::reference, referenced);
    const std::string high = key_successor(low);
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    std::vector<Oid> found;
    Cursor cursor = value_of(catalog.tree_.scan(*transaction, range));
    while (value_of(cursor.next())) {
      if (cursor.key().size() != low.size() + sizeof(Oid)) continue;
      found.push_back(load_big_endian<Oid>(cursor.key().data() + low.size()));
    }
    return found;
  }
  /// Every relation, as `visit(oid, value)`.
  template <class Visit>
  void for_each_relation(Visit&& visit) {
    const std::string low = kind_prefix(catalog.database_, RecordKind::relation);
    const std::string high = key_successor(low);
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    Cursor cursor = value_of(catalog.tree_.scan(*transaction, range));
    while (value_of(cursor.next())) {
      visit(load_big_endian<Oid>(cursor.key().data() + low.size()), cursor.value());
    }
  }

  Catalog& catalog;
  std::unique_ptr<Transaction> transaction;
  ValueBuffer buffer;
};

void Catalog::add(const TablePtr& table) {
  const Relation& relation = table->relation;
  put_indexed<Table>(relation.oid, table);
  table_names_[NameKey{relation.schema, relation.name}] = relation.oid;
  for (const Index& index : relation.indexes) {
    index_names_[NameKey{relation.schema, index.name}] = relation.oid;
  }
  for (const Oid referenced : relation.referenced_relations()) {
    if (knows_references_of_.contains(referenced)) references_.emplace(referenced, relation.oid);
  }
}

void Catalog::forget(const Relation& relation) {
  table_names_.erase(NameKey{relation.schema, relation.name});
  for (const Index& index : relation.indexes) {
    index_names_.erase(NameKey{relation.schema, index.name});
  }
  for (const Oid referenced : relation.referenced_relations()) {
    references_.erase({referenced, relation.oid});
  }
}

TablePtr Catalog::read(Oid oid) {
  Reading reading{*this};
  const TablePtr table = reading.relation(oid);
  const std::unique_lock lock{mutex_};
  if (const auto found = tables_.find(oid); found != tables_.end()) return found->second;
  if (!table || dropped_.contains(oid)) {
    remember(absent_, oid);
    return nullptr;
  }
  add(table);
  return table;
}

TablePtr Catalog::table(Oid oid) {
  {
    const std::shared_lock lock{mutex_};
    if (const auto found = tables_.find(oid); found != tables_.end()) return found->second;
    if (is_whole_ || absent_.contains(oid)) return nullptr;
  }
  return read(oid);
}

TablePtr Catalog::named(const Names& names, Oid schema, std::string_view name) {
  // No relation has such a name, and a client may make up names of any length.
  constexpr std::size_t kLongestName = 63;
  if (name.size() > kLongestName) return nullptr;
  // The page with the names may be the damaged one; relations have their names, too.
  if (engine_.salvages()) [[unlikely]]
    become_whole();
  NameKey key{schema, name};
  const auto find = [&]() -> TablePtr {
    const auto found = names.find(key);
    return found == names.end() ? nullptr : tables_.at(found->second);
  };
  {
    const std::shared_lock lock{mutex_};
    if (TablePtr known = find()) return known;
    if (is_whole_ || absent_names_.contains(key)) return nullptr;
  }
  auto read_name = [&] {
    Reading reading{*this};
    return reading.oid_named(schema, name);
  }();
  // Relations have their names, too.
  const bool is_damaged = !read_name && read_name.error().state() == sqlstate::data_corrupted;
  if (is_damaged) become_whole();
  const std::optional<Oid> oid = is_damaged ? std::nullopt : value_of(std::move(read_name));
  if (oid) static_cast<void>(table(*oid));
  const std::unique_lock lock{mutex_};
  if (TablePtr known = find()) return known;
  // Tables and indexes share their names: the other kind of name is found by its own map.
  if (!oid) remember(absent_names_, std::move(key));
  return nullptr;
}

TablePtr Catalog::table(Oid schema, std::string_view name) {
  return named(table_names_, schema, name);
}

TablePtr Catalog::table_of_index(Oid schema, std::string_view index) {
  return named(index_names_, schema, index);
}

void Catalog::read_all() {
  Reading reading{*this};
  struct Found {
    Oid oid;
    Relation relation;
    std::size_t record_bytes;
  };
  std::vector<Found> found;
  reading.for_each_relation([&](Oid oid, Bytes value) {
    yield_point(kWorkOfRecord);
    const std::shared_lock lock{mutex_};
    if (!tables_.contains(oid)) found.push_back({oid, decode<Relation>(value), value.size()});
  });
  for (auto& [oid, relation, record_bytes] : found) {
    yield_point(kWorkOfRecord);
    const TablePtr table = reading.opened(std::move(relation), record_bytes);
    const std::unique_lock lock{mutex_};
    if (may_add(oid)) add(table);
  }
  const std::unique_lock lock{mutex_};
  is_whole_ = true;
  absent_.clear();
  absent_names_.clear();
}

void Catalog::become_whole() {
  bool is_whole = false;
  {
    const std::shared_lock lock{mutex_};
    is_whole = is_whole_;
  }
  if (!is_whole) read_all();
}

std::vector<TablePtr> Catalog::tables() {
  become_whole();
  return known_tables();
}

std::vector<TablePtr> Catalog::known_tables() const {
  const std::shared_lock lock{mutex_};
  std::vector<TablePtr> list;
  list.reserve(tables_.size());
  for (const auto& [oid, table] : tables_) list.push_back(table);
  return list;
}

CountedRows Catalog::counted_rows() const {
  const std::shared_lock lock{mutex_};
  CountedRows all = rows_of_dropped_;
  for (const auto& [oid, table] : tables_) all.add(table->runtime->counters);
  return all;
}

void Catalog::forget_rows_of_dropped() {
  const std::unique_lock lock{mutex_};
  rows_of_dropped_ = {};
}

void Catalog::read_references(Oid referenced) {
  Reading reading{*this};
  std::vector<Oid> found;
  if (reading.get(object_key(database_, RecordKind::reference, kNoOid))) {
    found = reading.references_to(referenced);
  } else {
    reading.for_each_relation([&](Oid oid, Bytes value) {
      const std::vector<Oid> all = decode<Relation>(value).referenced_relations();
      if (std::ranges::find(all, referenced) != all.end()) found.push_back(oid);
    });
  }
  const std::unique_lock lock{mutex_};
  for (const Oid referencing : found) {
    if (may_add(referencing)) references_.emplace(referenced, referencing);
  }
  knows_references_of_.insert(referenced);
  std::vector<Oid> known = dependencies_.naming(kKindOf<Table>, referenced);
  known.push_back(referenced);
  for (const Oid oid : known) {
    const auto table = tables_.find(oid);
    if (table == tables_.end()) continue;
    const std::vector<Oid> all = table->second->relation.referenced_relations();
    if (std::ranges::find(all, referenced) != all.end()) references_.emplace(referenced, oid);
  }
}

std::vector<Oid> Catalog::referencing(Oid referenced) {
  bool is_known = false;
  {
    const std::shared_lock lock{mutex_};
    is_known = knows_references_of_.contains(referenced);
  }
  if (!is_known) read_references(referenced);
  const std::shared_lock lock{mutex_};
  std::vector<Oid> list;
  for (auto at = references_.lower_bound({referenced, kNoOid});
       at != references_.end() && at->first == referenced; ++at) {
    list.push_back(at->second);
  }
  return list;
}

}  // namespace swizzle::sql

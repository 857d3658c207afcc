#include "sql-lite-frontend/catalog/prepared_changes.h"

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// The objects among the records that a transaction has changed, as it sees them.
class ChangedObjects {
 public:
  ChangedObjects(Catalog& catalog, Transaction& transaction)
      : catalog_(catalog), transaction_(transaction) {}

  void add(const Engine::ChangedKey& changed) {
    // Names, locks and references follow from the objects.
    constexpr std::size_t kObjectKeyBytes = sizeof(Oid) + 1 + sizeof(Oid);
    if (changed.key.size() != kObjectKeyBytes) return;
    const auto database = load_big_endian<Oid>(changed.key.data());
    const auto oid = load_big_endian<Oid>(changed.key.data() + sizeof(Oid) + 1);
    const bool is_ours = database == catalog_.database();
    if (!is_ours && database != kSharedCatalog) return;
    switch (static_cast<RecordKind>(changed.key[sizeof(Oid)])) {
      case RecordKind::relation:
        if (is_ours) changes_.push_back({oid, changed.is_new, relation(changed.key, oid)});
        break;
      case RecordKind::schema:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<Schema>(changed.key)});
        break;
      case RecordKind::user_type:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<UserType>(changed.key)});
        break;
      case RecordKind::routine:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<Routine>(changed.key)});
        break;
      case RecordKind::user_collation:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<UserCollation>(changed.key)});
        break;
      case RecordKind::publication:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<Publication>(changed.key)});
        break;
      case RecordKind::event_trigger:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<EventTrigger>(changed.key)});
        break;
      case RecordKind::user_operator:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<UserOperator>(changed.key)});
        break;
      case RecordKind::user_cast:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<UserCast>(changed.key)});
        break;
      case RecordKind::extension:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<Extension>(changed.key)});
        break;
      case RecordKind::user_text_dictionary:
        if (is_ours)
          changes_.push_back({oid, changed.is_new, object<UserTextDictionary>(changed.key)});
        break;
      case RecordKind::user_text_config:
        if (is_ours) changes_.push_back({oid, changed.is_new, object<UserTextConfig>(changed.key)});
        break;
      case RecordKind::role:
        if (!is_ours) changes_.push_back({oid, changed.is_new, object<Role>(changed.key)});
        break;
      case RecordKind::database:
        if (!is_ours) changes_.push_back({oid, changed.is_new, object<DatabaseEntry>(changed.key)});
        break;
      default:
        break;
    }
  }
  [[nodiscard]] std::vector<CatalogChange> take() { return std::move(changes_); }

 private:
  bool read(Bytes key) { return value_of(catalog_.tree().get(transaction_, key, buffer_)); }
  /// Returns the object, or null if it is dropped.
  template <class Object>
  CheckedShared<const Object> object(Bytes key) {
    if (!read(key)) return nullptr;
    return std::make_shared<const Object>(decode<Object>(buffer_.bytes()));
  }
  TablePtr relation(Bytes key, Oid oid) {
    // From now on the table is in the cache, so that a concurrent reader cannot add the old version
    // behind the new one.
    const TablePtr before = catalog_.table(oid);
    if (!read(key)) return nullptr;
    auto relation = decode<Relation>(buffer_.bytes());
    const std::string lock = object_key(catalog_.database(), RecordKind::lock, oid);
    const bool has_version =
        read(as_bytes(lock)) && buffer_.bytes().size() == sizeof(std::uint64_t);
    const std::uint64_t version =
        has_version ? load_big_endian<std::uint64_t>(buffer_.bytes().data()) : 0;
    // The counters of its rows continue, unless the table has other rows.
    const bool has_same_rows = before && before->relation.tree == relation.tree;
    return open_table(catalog_.engine(), std::move(relation), version,
                      has_same_rows ? before->runtime : nullptr);
  }

  Catalog& catalog_;
  Transaction& transaction_;
  ValueBuffer buffer_;
  std::vector<CatalogChange> changes_;
};

}  // namespace

std::vector<CatalogChange> changes_of(Catalog& catalog, Transaction& transaction) {
  transaction.begin_statement();
  ChangedObjects changed{catalog, transaction};
  for (const Engine::ChangedKey& key : Engine::changed_keys(transaction, Catalog::kTree)) {
    changed.add(key);
  }
  return changed.take();
}

}  // namespace swizzle::sql

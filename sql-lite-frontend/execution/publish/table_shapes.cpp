#include "sql-lite-frontend/execution/publish/table_shapes.h"

#include <mutex>
#include <vector>

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

struct KeptShape {
  std::string key;
  std::uint32_t number = 0;
  std::string form;
};

std::vector<KeptShape> kept_shapes(Catalog& catalog, Transaction& transaction) {
  const std::string prefix = kind_prefix(catalog.database(), RecordKind::table_shape);
  std::string end = prefix;
  ++end.back();
  std::vector<KeptShape> all;
  ScanRange range{.low = as_bytes(prefix), .high = as_bytes(end)};
  Cursor cursor = value_of(catalog.tree().scan(transaction, range));
  while (value_of(cursor.next())) {
    if (cursor.key().size() != prefix.size() + sizeof(Oid)) continue;
    all.push_back({std::string{as_text(cursor.key())},
                   load_big_endian<std::uint32_t>(cursor.key().data() + prefix.size()),
                   std::string{as_text(cursor.value())}});
  }
  return all;
}

}  // namespace

TableShapes::Known& TableShapes::known_of(Catalog& catalog) {
  const auto found = databases_.find(catalog.database());
  if (found != databases_.end()) return found->second;
  Known known;
  const auto transaction = catalog.engine().begin();
  const std::vector<KeptShape> kept = kept_shapes(catalog, *transaction);
  // Without replication slots, no reader needs changes logged before this start, and no changes
  // have been logged since.
  const bool are_needed = !catalog.engine().logical_log().slots().list().empty();
  for (const KeptShape& shape : kept) {
    if (are_needed)
      known.emplace(shape.form, shape.number);
    else
      value_of(catalog.tree().remove(*transaction, as_bytes(shape.key)));
  }
  value_of(transaction->commit_unforced());
  return databases_.emplace(catalog.database(), std::move(known)).first->second;
}

std::uint32_t TableShapes::number_of(Catalog& catalog, const std::string& form) {
  const std::lock_guard in_turn(mutex_);
  Known& known = known_of(catalog);
  const auto found = known.find(form);
  if (found != known.end()) return found->second;
  const std::uint32_t number = catalog.shared_objects().allocate_oid();
  const std::string key = object_key(catalog.database(), RecordKind::table_shape, number);
  const auto transaction = catalog.engine().begin();
  value_of(catalog.tree().insert(*transaction, as_bytes(key), as_bytes(form)));
  // Its log record precedes those of the changes that refer to the shape, so no forced commit is
  // needed.
  value_of(transaction->commit_unforced());
  known.emplace(form, number);
  return number;
}

TableShape TableShapes::read(Catalog& catalog, std::uint32_t number) {
  const std::string key = object_key(catalog.database(), RecordKind::table_shape, number);
  const auto transaction = catalog.engine().begin(Isolation::read_committed, Access::read_only);
  ValueBuffer buffer;
  if (!value_of(catalog.tree().get(*transaction, as_bytes(key), buffer)))
    throw_error(sqlstate::data_corrupted, "there is no published table's shape {}", number);
  return decode_table_shape(buffer.bytes());
}

}  // namespace swizzle::sql

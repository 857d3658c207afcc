#include "sql-lite-frontend/catalog/comments.h"

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

std::string key_of(Oid database, Oid of_catalog, Oid object, std::uint32_t part) {
  std::string key = object_key(database, RecordKind::comment, of_catalog);
  append_oid(key, object);
  append_oid(key, part);
  return key;
}

Oid oid_at(Bytes key, std::size_t from) {
  return load_big_endian<Oid>(key.data() + from);
}

}  // namespace

std::vector<Comment> read_comments(Catalog& catalog, Transaction& transaction, Oid database) {
  const std::string low = kind_prefix(database, RecordKind::comment);
  const std::string high = key_successor(low);
  ScanRange range;
  range.low = as_bytes(low);
  range.high = as_bytes(high);
  std::vector<Comment> found;
  Cursor cursor = value_of(catalog.tree().scan(transaction, range));
  while (value_of(cursor.next())) {
    const Bytes key = cursor.key();
    found.push_back({oid_at(key, low.size()), oid_at(key, low.size() + sizeof(Oid)),
                     oid_at(key, low.size() + 2 * sizeof(Oid)),
                     std::string{as_text(cursor.value())}});
  }
  return found;
}

std::string read_comment(Catalog& catalog, Transaction& transaction, Oid database, Oid of_catalog,
                         Oid object, std::uint32_t part) {
  const std::string key = key_of(database, of_catalog, object, part);
  ValueBuffer buffer;
  if (!value_of(catalog.tree().get(transaction, as_bytes(key), buffer))) return {};
  return std::string{as_text(buffer.bytes())};
}

void put_comment(Catalog& catalog, Transaction& transaction, Oid database, const Comment& comment) {
  const std::string key = key_of(database, comment.catalog, comment.object, comment.part);
  Tree tree = catalog.tree();
  ValueBuffer buffer;
  const bool is_there =
      value_of(tree.get(transaction, as_bytes(key), buffer, ReadMode::for_update));
  if (comment.text.empty()) {
    if (is_there) value_of(tree.remove(transaction, as_bytes(key)));
  } else if (is_there) {
    value_of(tree.update(transaction, as_bytes(key), as_bytes(comment.text)));
  } else if (!value_of(tree.insert(transaction, as_bytes(key), as_bytes(comment.text)))) {
    // Two transactions comment first on the same object. PostgreSQL reports the same error.
    throw SqlError{SqlState{"XX000"}, "tuple concurrently updated"};
  }
}

}  // namespace swizzle::sql

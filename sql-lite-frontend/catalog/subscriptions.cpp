#include "sql-lite-frontend/catalog/subscriptions.h"

#include <fmt/format.h>

#include <string>

#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kPositionBytes = sizeof(std::uint64_t);

std::string key_of(const Catalog& catalog, Oid subscription) {
  return object_key(catalog.database(), RecordKind::subscription, subscription);
}
std::string name_key_of(const Catalog& catalog, std::string_view name) {
  return name_key(catalog.database(), static_cast<Oid>(RecordKind::subscription), name);
}
std::string position_key(const Catalog& catalog, const FollowerId& follower) {
  std::string key =
      object_key(catalog.database(), RecordKind::subscription_position, follower.subscription);
  if (follower.table != kNoOid) append_oid(key, follower.table);
  return key;
}
std::string mark_prefix(const Catalog& catalog, Oid subscription) {
  std::string key = object_key(catalog.database(), RecordKind::subscription_position, subscription);
  append_oid(key, kNoOid);
  return key;
}
std::string mark_key(const Catalog& catalog, Oid subscription, std::uint32_t number) {
  std::string key = mark_prefix(catalog, subscription);
  append_oid(key, number);
  return key;
}
std::string table_key(const Catalog& catalog, Oid subscription, Oid table) {
  std::string key = object_key(catalog.database(), RecordKind::subscription_table, subscription);
  append_oid(key, table);
  return key;
}

std::string position_record(Lsn lsn) {
  std::byte bytes[kPositionBytes];
  store_big_endian(bytes, raw(lsn));
  return std::string{as_text(Bytes{bytes, sizeof bytes})};
}

[[noreturn]] void malformed() {
  throw SqlError{sqlstate::data_corrupted, "catalog record is malformed"};
}

Lsn position_in(Bytes record) {
  if (record.size() != kPositionBytes) malformed();
  return Lsn{load_big_endian<std::uint64_t>(record.data())};
}

SubscribedTable table_in(Bytes key, Bytes record) {
  constexpr std::size_t kTableAt = sizeof(Oid) + 1 + sizeof(Oid);
  if (key.size() != kTableAt + sizeof(Oid) || record.size() != 1 + kPositionBytes) malformed();
  SubscribedTable table;
  table.subscription = load_big_endian<Oid>(key.data() + sizeof(Oid) + 1);
  table.table = load_big_endian<Oid>(key.data() + kTableAt);
  table.state = static_cast<SubscribedTable::State>(record[0]);
  table.lsn = position_in(record.subspan(1));
  return table;
}

template <class Visit>
void for_each_below(Tree tree, Transaction& transaction, const std::string& low,
                    const Visit& visit) {
  const std::string high = key_successor(low);
  ScanRange range;
  range.low = as_bytes(low);
  range.high = as_bytes(high);
  Cursor cursor = value_of(tree.scan(transaction, range));
  while (value_of(cursor.next())) visit(cursor.key(), cursor.value());
}

std::optional<Subscription> read(Catalog& catalog, Transaction& transaction, Oid oid,
                                 ReadMode mode) {
  const std::string key = key_of(catalog, oid);
  ValueBuffer buffer;
  if (!value_of(catalog.tree().get(transaction, as_bytes(key), buffer, mode))) return std::nullopt;
  return decode<Subscription>(buffer.bytes());
}

/// Inserts the record, or replaces it.
void put(Catalog& catalog, Transaction& transaction, const std::string& key,
         const std::string& record) {
  Tree tree = catalog.tree();
  if (value_of(tree.update(transaction, as_bytes(key), as_bytes(record)))) return;
  if (value_of(tree.insert(transaction, as_bytes(key), as_bytes(record)))) return;
  throw SqlError{SqlState{"XX000"}, "tuple concurrently updated"};
}

void claim_name(Catalog& catalog, Transaction& transaction, const Subscription& subscription) {
  std::string value;
  append_oid(value, subscription.oid);
  const std::string key = name_key_of(catalog, subscription.name);
  if (value_of(catalog.tree().insert(transaction, as_bytes(key), as_bytes(value)))) return;
  throw_error(sqlstate::duplicate_object, "subscription \"{}\" already exists", subscription.name);
}

}  // namespace

std::vector<Subscription> read_subscriptions(Catalog& catalog, Transaction& transaction) {
  return read_subscriptions(catalog.tree(), catalog.database(), transaction);
}

std::vector<Subscription> read_subscriptions(Tree tree, Oid database, Transaction& transaction) {
  std::vector<Subscription> found;
  for_each_below(tree, transaction, kind_prefix(database, RecordKind::subscription),
                 [&](Bytes, Bytes value) { found.push_back(decode<Subscription>(value)); });
  return found;
}

std::optional<Subscription> find_subscription(Catalog& catalog, Transaction& transaction,
                                              std::string_view name) {
  const std::string key = name_key_of(catalog, name);
  ValueBuffer buffer;
  if (!value_of(catalog.tree().get(transaction, as_bytes(key), buffer))) return std::nullopt;
  if (buffer.bytes().size() != sizeof(Oid)) malformed();
  return read_subscription(catalog, transaction, load_big_endian<Oid>(buffer.bytes().data()));
}

std::optional<Subscription> read_subscription(Catalog& catalog, Transaction& transaction, Oid oid) {
  return read(catalog, transaction, oid, ReadMode::snapshot);
}

std::optional<Subscription> lock_subscription(Catalog& catalog, Transaction& transaction, Oid oid) {
  return read(catalog, transaction, oid, ReadMode::for_update);
}

void insert_subscription(CatalogView& catalog, Transaction& transaction,
                         const Subscription& subscription) {
  Catalog& shared = catalog.of_database();
  catalog.hold(transaction, subscription.owner);
  claim_name(shared, transaction, subscription);
  put(shared, transaction, key_of(shared, subscription.oid), encode(subscription));
}

void replace_subscription(CatalogView& catalog, Transaction& transaction, const Subscription& old,
                          const Subscription& subscription) {
  Catalog& shared = catalog.of_database();
  if (old.owner != subscription.owner) catalog.hold(transaction, subscription.owner);
  if (old.name != subscription.name) {
    claim_name(shared, transaction, subscription);
    const std::string key = name_key_of(shared, old.name);
    value_of(shared.tree().remove(transaction, as_bytes(key)));
  }
  put(shared, transaction, key_of(shared, subscription.oid), encode(subscription));
}

void remove_subscription(Catalog& catalog, Transaction& transaction,
                         const Subscription& subscription) {
  std::vector<std::string> keys{key_of(catalog, subscription.oid),
                                name_key_of(catalog, subscription.name),
                                position_key(catalog, {subscription.oid})};
  for (const SubscribedTable& table :
       read_subscribed_tables(catalog, transaction, subscription.oid)) {
    keys.push_back(table_key(catalog, subscription.oid, table.table));
    keys.push_back(position_key(catalog, {subscription.oid, table.table}));
  }
  for_each_below(catalog.tree(), transaction, mark_prefix(catalog, subscription.oid),
                 [&](Bytes key, Bytes /*value*/) { keys.emplace_back(as_text(key)); });
  for (const std::string& key : keys) value_of(catalog.tree().remove(transaction, as_bytes(key)));
}

std::vector<SubscribedTable> read_subscribed_tables(Catalog& catalog, Transaction& transaction,
                                                    Oid subscription) {
  return read_subscribed_tables(catalog.tree(), catalog.database(), transaction, subscription);
}

std::vector<SubscribedTable> read_subscribed_tables(Tree tree, Oid database,
                                                    Transaction& transaction, Oid subscription) {
  const std::string low = subscription == kNoOid
                              ? kind_prefix(database, RecordKind::subscription_table)
                              : object_key(database, RecordKind::subscription_table, subscription);
  std::vector<SubscribedTable> found;
  for_each_below(tree, transaction, low,
                 [&](Bytes key, Bytes value) { found.push_back(table_in(key, value)); });
  return found;
}

bool put_subscribed_table(Catalog& catalog, Transaction& transaction, const SubscribedTable& table,
                          TableRecord record) {
  const std::string key = table_key(catalog, table.subscription, table.table);
  std::string value(1, static_cast<char>(table.state));
  value += position_record(table.lsn);
  if (record == TableRecord::must_exist)
    return value_of(catalog.tree().update(transaction, as_bytes(key), as_bytes(value)));
  put(catalog, transaction, key, value);
  return true;
}

void remove_subscribed_table(Catalog& catalog, Transaction& transaction, Oid subscription,
                             Oid table) {
  const std::string key = table_key(catalog, subscription, table);
  value_of(catalog.tree().remove(transaction, as_bytes(key)));
  remove_applied_position(catalog, transaction, {subscription, table});
}

namespace {

void require_copied(Catalog& catalog, Transaction& transaction, const SubscribedTable& table,
                    std::string_view name) {
  if (table.state == SubscribedTable::State::ready) return;
  const auto subscription = read_subscription(catalog, transaction, table.subscription);
  throw sql_error(sqlstate::invalid_parameter_value,
                  "could not drop relation mapping for subscription \"{}\"",
                  subscription ? subscription->name : std::string{})
      .with_detail(
          fmt::format("Table synchronization for relation \"{}\" is in progress and is in state "
                      "\"{}\".",
                      name, static_cast<char>(table.state)))
      .with_hint(
          "Use ALTER SUBSCRIPTION ... ENABLE to enable subscription if not already enabled or use "
          "DROP SUBSCRIPTION ... to drop the subscription.");
}

}  // namespace

void forget_subscribed_table(Catalog& catalog, Transaction& transaction, Oid table,
                             std::string_view name) {
  for (const SubscribedTable& one : read_subscribed_tables(catalog, transaction, kNoOid)) {
    if (one.table != table) continue;
    require_copied(catalog, transaction, one, name);
    remove_subscribed_table(catalog, transaction, one.subscription, table);
  }
}

Lsn read_applied_position(Catalog& catalog, Transaction& transaction, const FollowerId& follower) {
  const std::string key = position_key(catalog, follower);
  ValueBuffer buffer;
  if (!value_of(catalog.tree().get(transaction, as_bytes(key), buffer))) return Lsn::none;
  return position_in(buffer.bytes());
}

void put_applied_position(Catalog& catalog, Transaction& transaction, const FollowerId& follower,
                          Lsn lsn) {
  put(catalog, transaction, position_key(catalog, follower), position_record(lsn));
}

void remove_applied_position(Catalog& catalog, Transaction& transaction,
                             const FollowerId& follower) {
  const std::string key = position_key(catalog, follower);
  value_of(catalog.tree().remove(transaction, as_bytes(key)));
}

void put_prepared_mark(Catalog& catalog, Transaction& transaction, Oid subscription,
                       std::uint32_t number) {
  put(catalog, transaction, mark_key(catalog, subscription, number), {});
}

bool has_prepared_mark(Catalog& catalog, Transaction& transaction, Oid subscription,
                       std::uint32_t number) {
  const std::string key = mark_key(catalog, subscription, number);
  ValueBuffer buffer;
  return value_of(catalog.tree().get(transaction, as_bytes(key), buffer));
}

void remove_prepared_mark(Catalog& catalog, Transaction& transaction, Oid subscription,
                          std::uint32_t number) {
  const std::string key = mark_key(catalog, subscription, number);
  value_of(catalog.tree().remove(transaction, as_bytes(key)));
}

}  // namespace swizzle::sql

#include "sql-lite-frontend/catalog/shared_objects.h"

#include <mutex>

#include "sql-lite-frontend/catalog/bootstrap.h"
#include "sql-lite-frontend/catalog/catalog_keys.h"
#include "sql-lite-frontend/catalog/counted_record.h"
#include "sql-lite-frontend/catalog/object_map.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr Oid kOidsPerReservation = 64;

}  // namespace

void SharedObjects::load() {
  auto transaction = engine_.begin(Isolation::read_committed, Access::read_only);
  transaction->begin_statement();
  {
    std::string low;
    append_oid(low, kSharedCatalog);
    const std::string high = key_successor(low);
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    Cursor cursor = value_of(tree_.scan(*transaction, range));
    while (value_of(cursor.next())) {
      const auto kind = static_cast<RecordKind>(cursor.key()[sizeof(Oid)]);
      const auto oid = load_big_endian<Oid>(cursor.key().data() + sizeof(Oid) + 1);
      if (kind == RecordKind::counter) {
        next_oid_ = load_big_endian<Oid>(cursor.value().data());
        oid_limit_ = next_oid_.load();
      } else if (kind == RecordKind::role) {
        roles_[oid] = read_record<Role>(memory_, cursor.value());
      } else if (kind == RecordKind::database) {
        databases_[oid] = read_record<DatabaseEntry>(memory_, cursor.value());
      }
    }
  }
  transaction->rollback();
  if (!engine_.salvages()) return;
  roles_.try_emplace(kBootstrapRole, std::make_shared<Role>(first_superuser()));
  databases_.try_emplace(kPostgresDatabase, std::make_shared<DatabaseEntry>(first_database()));
}

void SharedObjects::read_again() {
  SharedObjects fresh{engine_, tree_};
  fresh.memory_ = memory_;
  fresh.load();
  const std::unique_lock lock{mutex_};
  roles_.swap(fresh.roles_);
  databases_.swap(fresh.databases_);
  // release: publishes the maps with the new number.
  version_.fetch_add(1, std::memory_order_release);
}

void SharedObjects::open_promoted(const Tree& tree) {
  tree_ = tree;
  SharedObjects fresh{engine_, tree_};
  fresh.memory_ = memory_;
  fresh.load();
  next_oid_ = fresh.next_oid_.load();
  oid_limit_ = fresh.oid_limit_.load();
  const std::unique_lock lock{mutex_};
  roles_.swap(fresh.roles_);
  databases_.swap(fresh.databases_);
  // release: publishes the maps with the new number.
  version_.fetch_add(1, std::memory_order_release);
}

RolePtr SharedObjects::role(Oid oid) const {
  const std::shared_lock lock{mutex_};
  return find_or_null(roles_, oid);
}
RolePtr SharedObjects::role(std::string_view name) const {
  const std::shared_lock lock{mutex_};
  return find_by_name(roles_, name);
}
DatabasePtr SharedObjects::database(Oid oid) const {
  const std::shared_lock lock{mutex_};
  return find_or_null(databases_, oid);
}
DatabasePtr SharedObjects::database(std::string_view name) const {
  const std::shared_lock lock{mutex_};
  return find_by_name(databases_, name);
}
std::vector<RolePtr> SharedObjects::roles() const {
  const std::shared_lock lock{mutex_};
  return values_of(roles_);
}
std::vector<DatabasePtr> SharedObjects::databases() const {
  const std::shared_lock lock{mutex_};
  return values_of(databases_);
}

void SharedObjects::put(Oid oid, const RolePtr& role) {
  const std::unique_lock lock{mutex_};
  put_object(roles_, oid, role);
  // release: publishes the change in the map with the new number.
  version_.fetch_add(1, std::memory_order_release);
}
void SharedObjects::put(Oid oid, const DatabasePtr& database) {
  const std::unique_lock lock{mutex_};
  put_object(databases_, oid, database);
  version_.fetch_add(1, std::memory_order_release);  // release: as above
}

Oid SharedObjects::allocate_oid() {
  const Oid oid = next_oid_.fetch_add(1, std::memory_order_relaxed);
  // Numbers below the limit are reserved durably, so a crash never gives one out again.
  while (oid >= oid_limit_.load(std::memory_order_acquire)) {
    auto transaction = engine_.begin();
    transaction->begin_statement();
    const std::string key = object_key(kSharedCatalog, RecordKind::counter, 0);
    ValueBuffer buffer;
    value_of(tree_.get(*transaction, as_bytes(key), buffer, ReadMode::for_update));
    auto limit = load_big_endian<Oid>(buffer.bytes().data());
    if (limit <= oid) {
      limit = oid + kOidsPerReservation;
      std::string value;
      append_oid(value, limit);
      value_of(tree_.update(*transaction, as_bytes(key), as_bytes(value)));
    }
    value_of(transaction->commit());
    Oid known = oid_limit_.load(std::memory_order_relaxed);
    // release: pairs with the acquire above; the reservation is durable by now.
    while (known < limit &&
           !oid_limit_.compare_exchange_weak(known, limit, std::memory_order_release)) {
    }
  }
  return oid;
}

}  // namespace swizzle::sql

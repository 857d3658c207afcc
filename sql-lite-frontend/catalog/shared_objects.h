#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/definition_memory.h"
#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "storage/engine.h"

namespace swizzle::sql {

using RolePtr = CheckedShared<const Role>;
using DatabasePtr = CheckedShared<const DatabaseEntry>;

/// Objects shared by all databases of a data directory: roles, databases, and the counter of object
/// numbers. Thread-safe.
class SharedObjects {
 public:
  SharedObjects(Engine& engine, Tree tree) : engine_(engine), tree_(tree) {}
  SharedObjects(const SharedObjects&) = delete;
  SharedObjects& operator=(const SharedObjects&) = delete;

  /// Reads the objects. Call once, before any other use.
  void load();
  /// The same again on a standby. Pre: nobody uses them.
  void read_again();
  /// The same once the standby is promoted, by the tree that its new engine has. The counter of
  /// numbers is read as well, since the primary has moved it.
  void open_promoted(const Tree& tree);
  [[nodiscard]] Tree tree() const noexcept { return tree_; }
  [[nodiscard]] const DefinitionMemoryPtr& definition_memory() const noexcept { return memory_; }

  /// Version number, raised after every committed change.
  [[nodiscard]] std::uint64_t version() const noexcept {
    // acquire: observes the change that the number counts.
    return version_.load(std::memory_order_acquire);
  }
  [[nodiscard]] RolePtr role(Oid oid) const;
  [[nodiscard]] RolePtr role(std::string_view name) const;
  [[nodiscard]] DatabasePtr database(Oid oid) const;
  [[nodiscard]] DatabasePtr database(std::string_view name) const;
  [[nodiscard]] std::vector<RolePtr> roles() const;
  [[nodiscard]] std::vector<DatabasePtr> databases() const;

  /// Publishes a committed change; null means dropped.
  void put(Oid oid, const RolePtr& role);
  void put(Oid oid, const DatabasePtr& database);

  /// Returns a number that is never returned again, even if the caller's transaction rolls back.
  Oid allocate_oid();

 private:
  Engine& engine_;
  Tree tree_;
  DefinitionMemoryPtr memory_ = std::make_shared<DefinitionMemory>();
  std::atomic<std::uint64_t> version_{1};
  std::atomic<Oid> next_oid_{kFirstUserOid};
  std::atomic<Oid> oid_limit_{kFirstUserOid};

  /// Guards the maps; held for lookups only, never across a wait.
  mutable std::shared_mutex mutex_;
  std::map<Oid, RolePtr> roles_;
  std::map<Oid, DatabasePtr> databases_;
};

}  // namespace swizzle::sql

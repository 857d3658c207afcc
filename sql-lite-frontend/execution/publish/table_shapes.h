#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/runtime/park_mutex.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/execution/publish/table_shape.h"

namespace swizzle::sql {

/// The table shapes to which logged changes refer by number. Each is stored in the catalog's tree
/// by a transaction of its own, so that a reader of a change always finds its shape. Thread-safe;
/// parks.
class TableShapes {
 public:
  TableShapes() = default;
  TableShapes(const TableShapes&) = delete;
  TableShapes& operator=(const TableShapes&) = delete;

  /// Returns the number of a shape with this encoding; stores and logs it if it is new, before
  /// anything that the caller logs.
  std::uint32_t number_of(Catalog& catalog, const std::string& form);
  /// Throws XX001 if there is no shape with that number.
  static TableShape read(Catalog& catalog, std::uint32_t number);

 private:
  using Known = std::map<std::string, std::uint32_t, std::less<>>;
  Known& known_of(Catalog& catalog);

  ParkMutex mutex_;
  std::map<Oid, Known> databases_;
};

}  // namespace swizzle::sql

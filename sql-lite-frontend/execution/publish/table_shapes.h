#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/runtime/park_mutex.h"
#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/execution/publish/table_shape.h"

namespace swizzle::sql {

/// The shapes that changes in the log refer to by number, kept in the catalog's tree beside
/// transactions, so that a reader of a change can always read its shape. Thread-safe; parks.
class TableShapes {
 public:
  TableShapes() = default;
  TableShapes(const TableShapes&) = delete;
  TableShapes& operator=(const TableShapes&) = delete;

  /// The number under which a shape of this form is kept: it is in the log before anything that is
  /// logged from now on.
  std::uint32_t number_of(Catalog& catalog, const std::string& form);
  /// Throws XX001 when there is none of that number.
  static TableShape read(Catalog& catalog, std::uint32_t number);

 private:
  using Known = std::map<std::string, std::uint32_t, std::less<>>;
  Known& known_of(Catalog& catalog);

  ParkMutex mutex_;
  std::map<Oid, Known> databases_;
};

}  // namespace swizzle::sql

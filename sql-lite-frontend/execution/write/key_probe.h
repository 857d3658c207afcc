#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/execution/access/table_access.h"
#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {

/// Finds rows by their values in an index, and locks them FOR KEY SHARE, for foreign key checks:
/// does the work of a SELECT without running one.
class KeyProbe {
 public:
  /// Returns null if no index finds rows by these columns, or if values of these types must be cast
  /// first; an SQL statement is needed then.
  static std::unique_ptr<KeyProbe> make(NameSource& names, const TablePtr& table,
                                        std::span<const std::int16_t> columns,
                                        std::span<const TypeId> types);

  /// Locks the table's definition against change. False if it has changed since the probe was made,
  /// which cannot be used then.
  bool holds_still(StatementServices& services);

  // Use the snapshot of the current internal statement. No value is NULL. Pre: holds_still().

  /// Returns true if there is a row with these values.
  bool finds(StatementServices& services, std::span<const Value> values);
  /// Locks a row with these values, if there is one. Throws 40001 at REPEATABLE READ if another
  /// transaction has changed it.
  bool locks(StatementServices& services, std::span<const Value> values);

 private:
  struct Column {
    std::size_t position;  ///< in the table
    TypeId type;
  };
  KeyProbe(NameSource& names, TablePtr table, std::vector<Column> columns);
  void choose(const IndexAccess& index);
  bool open(StatementServices& services, std::span<const Value> values);
  bool lock();
  [[nodiscard]] bool still_fits();

  NameSource& names_;
  TablePtr table_;
  std::vector<Column> columns_;
  std::unique_ptr<TableAccess> access_;
  /// Its slots hold the values in the order of the columns, then the row's identity.
  std::unique_ptr<Execution> execution_;
  std::vector<Value> row_;
  CatalogView::Stamp seen_at_;
};

}  // namespace swizzle::sql

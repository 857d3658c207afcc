#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/catalog.h"
#include "sql-lite-frontend/execution/access/table_access.h"
#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {

/// Finds a table's rows by the values of some of its columns in an index, as foreign keys ask for
/// them, and locks them FOR KEY SHARE: the work of a SELECT, without a statement.
class KeyProbe {
 public:
  /// Nothing where no index finds rows by these columns, or where values of these types have to be
  /// cast first: then it takes a statement.
  static std::unique_ptr<KeyProbe> make(NameSource& names, const TablePtr& table,
                                        std::span<const std::int16_t> columns,
                                        std::span<const TypeId> types);

  /// Keeps others from changing the table's definition. False: it has changed since the probe was
  /// made, which is of no use then.
  bool holds_still(StatementServices& services);

  // Uses the view of the inner statement that runs. No value is NULL. Pre: holds_still().

  /// Returns true if there is a row with these values.
  bool finds(StatementServices& services, std::span<const Value> values);
  /// Locks a row with these values, if there is one. At REPEATABLE READ 40001 where another
  /// transaction has been faster.
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
  /// Execution whose slots are the values in the order of the columns, then the row's identity.
  std::unique_ptr<Execution> execution_;
  std::vector<Value> row_;
  CatalogView::Stamp seen_at_;
};

}  // namespace swizzle::sql

#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/write/row_events.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// UNIQUE and PRIMARY KEY … DEFERRABLE constraints of one table, for one statement. Their indexes
/// accept duplicate keys. The written rows are checked at the end of the statement; if the
/// constraint is deferred, rows in conflict are checked again at commit. The writer has locked each
/// key that it adds or removes.
class DeferrableKeys {
 public:
  DeferrableKeys(NameSource& names, const TablePtr& table);

  void begin() noexcept { notes_.clear(); }
  [[nodiscard]] bool has_notes() const noexcept { return !notes_.empty(); }
  void inserted(Execution& execution, std::span<const Value> row);
  void updated(Execution& execution, std::span<const Value> old_row,
               std::span<const Value> new_row);
  void finish(Execution& execution);

 private:
  struct Key {
    const Constraint* constraint;
    bool nulls_are_equal;
    std::vector<TypeId> types;
  };
  void note(Execution& execution, std::size_t key, std::span<const Value> values);
  void check(Execution& execution, std::size_t key, std::span<const Value> values) const;

  TablePtr table_;
  NameSource& names_;
  std::vector<Key> keys_;
  RowEvents notes_;  ///< a key's place, and the values that a row has in it
};

/// Throws 23505 if two rows have the values of the check in their key.
void check_deferred_key(StatementServices& services, NameSource& names, const TablePtr& table,
                        const DeferredCheck& check);

}  // namespace swizzle::sql

#pragma once

#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/write/row_events.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// The keys of one table that may repeat for a while (UNIQUE … DEFERRABLE), for one statement:
/// their indexes take every entry, and the rows that were written are looked at when the statement
/// has written them all, and those in conflict again when the transaction ends if the key is
/// deferred. The writer has locked each key that it takes or gives up.
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

/// No two rows have the values in their key.
void check_deferred_key(StatementServices& services, NameSource& names, const TablePtr& table,
                        const DeferredCheck& check);

}  // namespace swizzle::sql

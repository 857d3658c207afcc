#include "sql-lite-frontend/execute/entry_batch.h"

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/bulk_changes.h"

namespace swizzle::sql {

void EntryBatch::add(std::string_view key, std::string_view what) {
  constexpr std::size_t kEach = 32;  // besides the key, about
  sorter_.add(key, what);
  bytes_ += key.size() + kEach;
}

void EntryBatch::apply(Transaction& transaction) {
  if (bytes_ == 0) return;
  const auto put = [&](std::string_view key) {
    if (value_of(tree_.insert(transaction, as_bytes(key), {}))) return;
    throw SqlError{SqlState{"XX002"}, "an index has an entry already that is to be inserted"};
  };
  sorter_.finish();
  std::optional<std::string_view> inserted;
  // Long enough for memory to answer, and short enough that what it brings is still there.
  constexpr std::size_t kStep = 10;
  const auto fetch = [&](std::size_t calls, Fetch step) {
    const auto soon = sorter_.ahead(calls);
    if (soon) prefetch_change(tree_, transaction, as_bytes(soon->key), step);
  };
  while (const auto entry = sorter_.next()) {
    fetch(2 * kStep, Fetch::places);
    fetch(kStep, Fetch::contents);
    if (inserted && *inserted != entry->key) {
      put(*inserted);
      inserted.reset();
    }
    if (entry->value == kInsert) {
      inserted = entry->key;
    } else {
      value_of(tree_.remove(transaction, as_bytes(entry->key)));
    }
  }
  if (inserted) put(*inserted);
  sorter_.restart();
  bytes_ = 0;
}

}  // namespace swizzle::sql

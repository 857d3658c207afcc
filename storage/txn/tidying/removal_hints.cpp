#include "storage/txn/tidying/removal_hints.h"

#include <new>

#include "storage/txn/versions/removed_runs.h"

namespace swizzle {

void RemovalHints::add(const UndoRecord& record) noexcept {
  try {
    if (record.kind != UndoRecord::Kind::removed_run)
      return ranges_.add(record.tree, record.key(), record.key());
    const RemovedRun run(record);
    ranges_.add(record.tree, run.key(0), run.key(run.count() - 1));
  } catch (const std::bad_alloc&) {
    tidier_.lost_hint();
  }
}

}  // namespace swizzle

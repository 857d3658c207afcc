#include "storage/txn/versions/spilled_versions.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/invariant.h"

namespace swizzle {

void SpilledVersions::take(UndoRecord& record, Lsn commit, VersionIndex& versions) noexcept {
  static_assert(sizeof(UndoOutcome) % alignof(UndoRecord) == 0);
  const std::size_t data = std::size_t{record.key_size} + record.old_size;
  const std::size_t size =
      (sizeof(UndoOutcome) + sizeof(UndoRecord) + data + alignof(UndoRecord) - 1) &
      ~(alignof(UndoRecord) - 1);
  INVARIANT(size <= room());
  std::byte* const at = memory_->bytes().data() + used_;
  used_ += size;
  auto* const outcome = new (at) UndoOutcome;
  outcome->outcome.store(raw(commit), std::memory_order_relaxed);
  outcome->serial.store(record.log->serial.load(std::memory_order_relaxed),
                        std::memory_order_relaxed);
  auto* const copy = new (at + sizeof(UndoOutcome)) UndoRecord;
  copy->previous = newest_;
  copy->log = outcome;
  copy->key_hash = record.key_hash;
  copy->tree = record.tree;
  copy->statement = record.statement;
  copy->old_size = record.old_size;
  copy->new_size = record.new_size;
  copy->key_size = record.key_size;
  copy->kind = record.kind;
  copy->old_overflow = record.old_overflow;
  copy->takes_key = record.takes_key;
  std::memcpy(static_cast<void*>(copy + 1), static_cast<const void*>(&record + 1), data);
  versions.replace(record, *copy);
  newest_ = copy;
  ++count_;
  last_commit_ = std::max(last_commit_, commit);
}

}  // namespace swizzle

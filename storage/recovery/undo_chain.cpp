#include "storage/recovery/undo_chain.h"

#include "storage/recovery/records/record_effects.h"

namespace swizzle {

Result<std::optional<UndoStep>> UndoChain::next() {
  while (next_ != Lsn::none) {
    ASSIGN_OR_RETURN(const wal::Record record, reader_.read(next_));
    if ((record.header.flags & record_flags::kCompensation) != 0) {
      next_ = record.header.undo_next;
      continue;
    }
    next_ = record.header.txn_prev;
    // These records change nothing that undo could restore; a rollback may even begin after them.
    const RecordKind kind = kind_of(record.header);
    if (kind == RecordKind::transaction_prepared || kind == RecordKind::prepared_kept) continue;
    if (kind == RecordKind::change_noted || kind == RecordKind::changes_taken_back) continue;
    UndoStep step{.lsn = record.lsn,
                  .kind = kind,
                  .tree = record.header.tree,
                  .page = record.header.page,
                  .undo_next = next_,
                  .payload = {record.payload.begin(), record.payload.end()}};
    return step;
  }
  return std::nullopt;
}

}  // namespace swizzle

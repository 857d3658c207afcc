#pragma once

#include <vector>

#include "storage/btree/records.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "wal/reader.h"

namespace swizzle {

/// A logged change of a transaction that is to be undone.
struct UndoStep {
  Lsn lsn;
  RecordKind kind;
  TreeId tree;
  PageId page;
  /// LSN at which undo continues after this step: undo_next of its compensation record.
  Lsn undo_next;
  /// A copy, since the reader moves on.
  std::vector<std::byte> payload;
};

/// Walks a transaction's records from the newest to the oldest. Skips changes that compensation
/// records have undone already, so an interrupted rollback continues where it stopped (rule R5).
class UndoChain {
 public:
  /// `reader` should be made for random reads.
  UndoChain(wal::Reader& reader, Lsn last) noexcept : reader_(reader), next_(last) {}

  /// Returns the next change to undo, or nullopt when nothing is left.
  Result<std::optional<UndoStep>> next();

 private:
  wal::Reader& reader_;
  Lsn next_;
};

}  // namespace swizzle

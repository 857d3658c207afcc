#pragma once

#include "storage/txn/tidying/key_ranges.h"
#include "storage/txn/tidying/leaf_tidier.h"
#include "storage/txn/undo/undo_log.h"

namespace swizzle {

/// Collects the places of ghosts that no snapshot needs any more, and gives them to the tidier at
/// the end, so that the tidier's latch, which all threads share, is taken once for many
/// transactions.
class RemovalHints {
 public:
  explicit RemovalHints(LeafTidier& tidier) noexcept : tidier_(tidier) {}
  RemovalHints(const RemovalHints&) = delete;
  RemovalHints& operator=(const RemovalHints&) = delete;
  ~RemovalHints() {
    if (!ranges_.is_empty()) tidier_.hint(std::move(ranges_));
  }

  /// Notes the place of a record that has left the version index.
  void note(const UndoRecord& record) noexcept {
    using Kind = UndoRecord::Kind;
    if (record.kind == Kind::inserted) return;
    if (record.kind == Kind::updated && record.old_size < record.new_size + kMuchShorter) return;
    add(record);
  }

 private:
  /// An update that shortens a value by this many bytes may leave a leaf sparse.
  static constexpr unsigned kMuchShorter = 256;
  void add(const UndoRecord& record) noexcept;

  LeafTidier& tidier_;
  KeyRanges ranges_;
};

}  // namespace swizzle

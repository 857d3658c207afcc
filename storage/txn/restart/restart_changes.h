#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/records/prepared_record.h"
#include "storage/recovery/records/record_undo.h"
#include "storage/recovery/undo_chain.h"
#include "storage/txn/restart/later_changes.h"
#include "storage/txn/versions/version_index.h"

namespace swizzle {

struct EngineParts;
struct TransactionState;

/// Makes a working state for a transaction that had not ended at a stop or a crash. The state has
/// the transaction's number and its place in the log, so that checkpoints and snapshots know of it.
Result<std::unique_ptr<TransactionState>> state_of_unended(EngineParts& engine,
                                                           const ActiveTransaction& of,
                                                           Lsn began_at);

/// Facts of a transaction's changes besides the undo records that are kept of them.
struct ChangesFound {
  /// All trees that it changed.
  std::set<TreeId> trees = {};
  /// Trees of which it changed too many rows: no undo records are kept for their rows.
  std::set<TreeId> large = {};
  std::set<TreeId> created = {};
  std::set<TreeId> loaded = {};
  /// Root of a tree whose row in the directory was not written, or is undone already.
  struct Root {
    TreeId tree;
    PageId page;
  };
  std::vector<Root> roots = {};
  /// Most bytes that undoing the rows of `large` adds to the log.
  std::uint64_t owed_bytes = 0;
};

/// Reads a transaction's changes from its newest log record to its oldest. An update's record has
/// only the part that it changed, so the value before it follows from the value after it. That is
/// the value that the next change of the key found, or the one in the leaf. The changes go into an
/// undo log; walked from its newest record, they are in their order.
class ChangesBackward {
 public:
  static constexpr std::uint64_t kAnyNumber = UINT64_MAX;
  /// Keeps at most `most_rows_of_tree` rows of a tree. If a tree has more, its rows must not be
  /// used.
  ChangesBackward(EngineParts& engine, UndoLog& into,
                  std::uint64_t most_rows_of_tree = kAnyNumber) noexcept;

  Result<> read(Lsn last);
  /// Adds one row of a step. `previous` is the LSN at which undo continues after the row.
  Result<> add_row(const UndoStep& step, const UndoneRow& row, Lsn previous);
  [[nodiscard]] const ChangesFound& found() const noexcept { return found_; }

 private:
  Result<> add(const UndoStep& step, bool is_newest);
  bool keeps(const UndoStep& step, std::size_t rows);
  void note_created(const UndoneRow& row);
  Result<> add_update(const UndoStep& step, const UndoneRow& row, Lsn previous);
  Result<> keep_unreadable(const UndoStep& step, const UndoneRow& row, Lsn previous);
  Result<std::optional<std::vector<std::byte>>> value_after(const UndoStep& step, Bytes key);
  Result<> give_up(const UndoStep& step, Bytes key);
  Result<> open_dropped(const UndoStep& step, const UndoneRow& row);
  Result<> keep(const UndoStep& step, UndoRecord::Kind kind, Lsn previous, Bytes key, Bytes value,
                bool overflow);

  EngineParts& engine_;
  UndoLog& into_;
  const std::uint64_t most_rows_;
  ChangesFound found_;
  struct Rows {
    std::uint64_t count = 0;
    std::uint64_t owed_bytes = 0;
  };
  std::unordered_map<TreeId, Rows> rows_;
  LaterChanges later_;
};

/// Returns the rows that a step changed, in the order in which they are undone.
Result<std::vector<UndoneRow>> rows_of(const UndoStep& step);

/// Returns true if a rollback that a crash interrupted has undone this one of a log record's rows:
/// a compensation record tells only that the undo of the record has begun. Pre: every newer change
/// of the transaction is undone.
Result<bool> is_undone(EngineParts& engine, const UndoStep& step, const UndoneRow& row);

/// Gives a state its changes, the oldest first: as undo records, as versions, and with locks.
class ChangesForward {
 public:
  ChangesForward(TransactionState& state, const PreparedKept& kept, const ChangesFound& found);
  Result<> take_all(UndoLog& changes);

 private:
  void mark_rows() noexcept;
  Result<> take(const UndoRecord& from);
  void note_tree(const UndoRecord& row);
  Result<> hide_load(TreeId id);

  TransactionState& state_;
  const ChangesFound& found_;
  /// How many changes come after the current one.
  std::uint64_t younger_ = 0;
  /// Those of the changes that are still to come; the next one is last.
  std::vector<UndoTraits> traits_;
};

}  // namespace swizzle

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/records/prepared_record.h"
#include "storage/recovery/records/record_undo.h"
#include "storage/recovery/undo_chain.h"
#include "storage/txn/version_index.h"

namespace swizzle {

struct EngineParts;
struct TransactionState;

/// Makes a working state for a transaction that had not ended at a stop or a crash: with its number
/// and its place in the log, so that checkpoints and snapshots know of it.
Result<std::unique_ptr<TransactionState>> state_of_unended(EngineParts& engine,
                                                           const ActiveTransaction& of,
                                                           Lsn began_at);

/// Facts of a transaction's changes besides the undo records that are kept of them.
struct ChangesFound {
  /// All trees that it changed.
  std::set<TreeId> trees = {};
  /// Trees of which it changed too many rows: no undo record of a row is kept.
  std::set<TreeId> large = {};
  std::set<TreeId> created = {};
  std::set<TreeId> loaded = {};
  /// Root of a tree whose row in the directory was not written, or is taken back already.
  struct Root {
    TreeId tree;
    PageId page;
  };
  std::vector<Root> roots = {};
  /// Most that the log gets when the rows of `large` are undone.
  std::uint64_t owed_bytes = 0;
};

/// Reads a transaction's changes from its newest log record to its oldest, since an update's record
/// has no more than the part that it changed: the value that it found follows from the one that it
/// left, which the next change of the key found, or which the leaf has. They go into an undo log,
/// whose records, walked from the newest of them, are the changes in their order.
class ChangesBackward {
 public:
  static constexpr std::uint64_t kAnyNumber = UINT64_MAX;
  /// Keeps at most so many rows of a tree; of a tree with more, none is to be used.
  ChangesBackward(EngineParts& engine, UndoLog& into, std::uint64_t most_rows_of_tree = kAnyNumber)
      : engine_(engine), into_(into), most_rows_(most_rows_of_tree) {}

  Result<> read(Lsn last);
  /// One row of a step. `previous` is the LSN where undo goes on after the row.
  Result<> add_row(const UndoStep& step, const UndoneRow& row, Lsn previous);
  [[nodiscard]] const ChangesFound& found() const noexcept { return found_; }

 private:
  struct KeyOfTree {
    TreeId tree;
    std::string_view key;
    friend bool operator==(const KeyOfTree&, const KeyOfTree&) = default;
  };
  struct Hash {
    std::size_t operator()(const KeyOfTree& of) const noexcept {
      return hash_of_key(of.tree, as_bytes(of.key));
    }
  };

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
  /// By key, of those that have been read: the oldest.
  std::unordered_map<KeyOfTree, const UndoRecord*, Hash> next_changes_;
};

/// Returns the rows that a step changed, in the order in which they are undone.
Result<std::vector<UndoneRow>> rows_of(const UndoStep& step);

/// Returns true if a rollback that a crash has interrupted has put back this one of a log record's
/// rows: compensation records say of a record only that it has begun. Pre: every newer
/// change of its transaction is undone.
Result<bool> is_undone(EngineParts& engine, const UndoStep& step, const UndoneRow& row);

/// Gives a state its changes, the oldest first: as undo records and versions, and with locks.
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
  /// Of the change that is taken: how many come after it.
  std::uint64_t younger_ = 0;
  std::unordered_map<std::uint64_t, UndoTraits> traits_;
};

}  // namespace swizzle

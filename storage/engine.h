#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "lock/lock_types.h"
#include "storage/access.h"
#include "storage/backup.h"
#include "storage/held_view.h"
#include "storage/options.h"
#include "storage/prepared_transaction.h"
#include "storage/transaction.h"
#include "storage/tree.h"

namespace swizzle {

class LogicalLog;
class ReplayGate;
struct EngineStatistics;

/// An open snapshot, and the versions kept because of it.
struct HeldSnapshot {
  lock::OwnerLabel label = 0;    ///< as Transaction::work_for() said
  Lsn lsn = Lsn::none;           ///< commits before it are visible
  std::uint64_t held_bytes = 0;  ///< of versions that are newer; those of several snapshots overlap
  TxnId next_id = TxnId::none;   ///< transactions with this number or a higher one wrote later
  enum class State : std::uint8_t {
    usable,
    too_old,  ///< given up for the store's limit; its next read that needs an old version fails
  } state = State::usable;
};

/// Result of Engine::tidy().
struct TidiedTree {
  std::uint64_t leaves = 0;          ///< visited
  std::uint64_t ghosts_removed = 0;  ///< of removed records
  std::uint64_t ghosts_left = 0;     ///< that a snapshot or lock may still need
  std::uint64_t pages_freed = 0;
  std::uint64_t overflow_pages_freed = 0;  ///< of values too large for the tree itself
};

/// A transaction that has written and has not ended: its log is kept, from its first record on.
struct WritingTransaction {
  lock::OwnerLabel label = 0;  ///< as Transaction::work_for() said
  TxnId id = TxnId::none;
  std::uint64_t log_bytes = 0;  ///< from its first record to the log's end
  enum class State : std::uint8_t { running, rolling_back, prepared } state = State::running;
};

/// The storage manager's interface, for SQL and for embedders. Thread-safe; a Transaction and its
/// cursors belong to one thread or fiber at a time.
///
/// Keys are byte strings that order by memcmp, 1 to kMaxKeyBytes long. Values are 0 bytes to 256
/// MB.
class Engine {
 public:
  static constexpr std::size_t kMaxKeyBytes = 1024;
  static constexpr std::size_t kMaxValueBytes = std::size_t{256} << 20U;

  /// Makes an empty database in `directory`, which must be absent or empty.
  static Result<> create(FileSystem& files, const std::filesystem::path& directory,
                         const EngineOptions& options);
  /// Locks the directory, recovers if the last run did not close, and starts background work.
  static Result<std::unique_ptr<Engine>> open(FileSystem& files,
                                              const std::filesystem::path& directory,
                                              const EngineOptions& options,
                                              RecoveryObserver observer = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  /// Without close() before, the data directory is left as after a crash.
  ~Engine();

  /// Checkpoints and releases the directory. Pre: no transaction is open.
  Result<> close();

  /// Null but on a standby (Standby::open_engine()), which writes nothing: there every use of the
  /// engine is inside this gate, so that it sees one state of the database, and ends soon. Valid
  /// for as long as this object, also after a promotion. It, is_standby() and salvages() may be
  /// asked outside.
  [[nodiscard]] ReplayGate* replay_gate() const noexcept {
    // Acquire: a caller that finds none uses what open_promoted() has opened.
    return gate_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_standby() const noexcept { return replay_gate() != nullptr; }
  /// The same gate after a promotion, for those who entered before.
  [[nodiscard]] ReplayGate* own_replay_gate() const noexcept { return own_gate_.get(); }

  /// A promotion in two steps, between which Standby::promote() makes the directory another one.
  /// The first closes everything, and what has come from here (transactions, trees, cursors) must
  /// be gone or is never used again. Pre: the standby's gate is closed, and nobody is inside.
  void close_for_promotion() noexcept;
  /// Opens the directory in this object, as open() does, and lets in everybody who waits at the
  /// gate. `before` runs first, while nobody else uses the engine, of which is_standby() still says
  /// true. After an error the object is closed as before.
  Result<> open_promoted(FileSystem& files, const std::filesystem::path& directory,
                         const EngineOptions& options, const std::function<Result<>()>& before);

  /// True if reads pass over damage (EngineOptions::salvage).
  [[nodiscard]] bool salvages() const noexcept { return salvages_; }

  /// Begins a short transaction of the system itself, which is never refused: it has slots of its
  /// own, and parks only while all of them are taken.
  std::unique_ptr<Transaction> begin(Isolation isolation = Isolation::read_committed,
                                     Access access = Access::read_write);
  /// Begins a transaction that may stay open for long. Never waits: 53400 when every slot that the
  /// caller may take is taken.
  Result<std::unique_ptr<Transaction>> try_begin(
      Isolation isolation = Isolation::read_committed, Access access = Access::read_write,
      TransactionPlace place = TransactionPlace::ordinary);

  /// Returns the prepared transactions, by their identifiers.
  [[nodiscard]] std::vector<PreparedTransaction> prepared() const;
  /// Takes a prepared transaction, to finish it by commit(), which is synchronous, or rollback(),
  /// which returns when it is durable. Destroyed without either, or after a commit() that fails, it
  /// is prepared as before. 42704 when there is none of that name, 55000 when it is busy.
  Result<std::unique_ptr<Transaction>> take_prepared(std::string_view gid);
  /// The keys of `tree` that a transaction has changed.
  struct ChangedKey {
    std::vector<std::byte> key;
    bool is_new;  ///< the transaction found nothing there
  };
  [[nodiscard]] static std::vector<ChangedKey> changed_keys(const Transaction& transaction,
                                                            TreeId tree);

  /// Transactional: visible to others at commit, undone by rollback.
  Result<TreeId> create_tree(Transaction& transaction);
  Result<> drop_tree(Transaction& transaction, TreeId tree);
  /// A cheap handle. 42P01-like misuse (no such tree) is XX000: the catalog above knows its trees.
  Result<Tree> tree(TreeId id);

  /// Reads the greatest key that is or was in the tree: no transaction has inserted a key above it,
  /// visible or not. False: the tree has none.
  Result<bool> greatest_key(TreeId tree, ValueBuffer& into);
  /// Returns the number of the tree's pages read from the data file since the engine opened.
  [[nodiscard]] std::uint64_t pages_read_of(TreeId tree) const;
  /// Returns true if the tree has neither records nor ghosts.
  Result<bool> is_blank(TreeId tree);
  /// Begins to build `tree` bottom-up. Null if that is not possible: the tree is not blank, or is
  /// not what `which` says, or another transaction reads or writes it under locks.
  enum class Loadable : std::uint8_t {
    new_tree,    ///< created by `transaction`, so invisible to others
    blank_tree,  ///< or another one, locked against changes and locks until the end
  };
  Result<std::unique_ptr<TreeLoad>> start_load(Transaction& transaction, TreeId tree,
                                               Loadable which);
  /// Fills `tree`: as start_load() does where the tree is new, else by inserts. `next` returns
  /// nothing at the end. Pre: keys ascend; 23505 when they do not, and the transaction is to be
  /// rolled back to before.
  struct Record {
    Bytes key;
    Bytes value;
  };
  Result<std::uint64_t> bulk_load(Transaction& transaction, TreeId tree,
                                  const std::function<Result<std::optional<Record>>()>& next);

  Result<> checkpoint();
  /// Copies the database to `target`, which does not exist, while it runs. The copy is a database
  /// directory that opens as the database was when the copying ended. restore_backup() can replay
  /// more log on it.
  Result<BackupOutcome> back_up(const std::filesystem::path& target,
                                const RecoveryObserver& observer = {});
  /// The same for an incremental backup: it has the pages that were changed since the backup
  /// `since` began. restore_backup() takes it after that one. 55000 if that is no whole backup of
  /// this database, or from before a restore or a promotion.
  Result<BackupOutcome> back_up_changes(const std::filesystem::path& since,
                                        const std::filesystem::path& target,
                                        const RecoveryObserver& observer = {});
  /// Writes a named record to the log, to which restore_backup() can restore. Durable on return.
  /// Returns the record's end. 22023 if the name has more than 63 bytes; 55000 on a standby, and
  /// without a log.
  Result<Lsn> create_restore_point(std::string_view name);
  /// Fills the rest of the log's segment, so that the archive gets it. Returns the end of what the
  /// log had. Does nothing if no transaction has written to the segment; returns its first LSN
  /// then. 55000 on a standby, and without a log.
  Result<Lsn> close_log_segment();
  /// Gives free pages at the end of the data file back to the file system. Returns how many.
  Result<std::uint64_t> shrink();
  /// Checks every numbered rule of one tree, or of the whole volume; each string is one violation.
  Result<std::vector<std::string>> verify(std::optional<TreeId> tree = std::nullopt);
  /// Reads those of the pages that are in use, so that damaged ones are repaired or given up.
  /// Returns the reason for each that is given up. Pre: there are no writes meanwhile.
  Result<std::vector<std::string>> read_pages(std::span<const PageId> pages);
  /// The pages that a tree has in the data file. Reads its branches.
  struct TreeSize {
    std::uint64_t pages = 0;
    std::uint64_t overflow_pages = 0;  ///< with values that are too large for the tree itself
  };
  Result<TreeSize> size_of(TreeId tree);
  /// Removes a tree's ghosts, merges sparse leaves and frees their pages, beside readers and
  /// writers. Ghosts that a snapshot or a lock needs stay. `goes_on` is asked between two leaves;
  /// false ends it with 57014.
  Result<TidiedTree> tidy(TreeId tree, const std::function<bool()>& goes_on = {});
  [[nodiscard]] EngineStatistics statistics() const;
  /// Logical changes of transactions, in terms of the layer above, and their readers.
  [[nodiscard]] LogicalLog& logical_log() const noexcept;
  /// Identifies this database among all others: drawn at random when it was made.
  [[nodiscard]] std::uint64_t database_id() const noexcept;
  /// File system and directory of the database, for files that the layer above keeps beside it.
  [[nodiscard]] FileSystem& files() const noexcept;
  [[nodiscard]] const std::filesystem::path& directory() const noexcept;
  /// Returns the locks held and awaited. Blocks no thread: each row was true at some moment of the
  /// call.
  [[nodiscard]] std::vector<lock::LockRow> locks() const;
  /// Returns what serializable transactions have read.
  [[nodiscard]] std::vector<lock::ReadMarkRow> read_marks() const;
  /// Lists only waits, which costs little.
  [[nodiscard]] std::vector<lock::LockRow> lock_waits() const;
  /// Lists open snapshots.
  [[nodiscard]] std::vector<HeldSnapshot> snapshots() const;
  [[nodiscard]] std::vector<WritingTransaction> writers() const;

 private:
  friend class StandbyEngine;
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  /// Opens the directory that `parts_` is of.
  Result<> open_parts(RecoveryObserver observer);

  const bool salvages_;
  /// Of a standby; outlives `parts_`, since callers wait there for a promotion.
  std::shared_ptr<ReplayGate> own_gate_;
  std::atomic<ReplayGate*> gate_{nullptr};
  /// Null in the middle of a promotion.
  std::unique_ptr<Parts> parts_;
};

}  // namespace swizzle

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "base/runtime/runtime.h"
#include "lock/lock_types.h"
#include "storage/backup.h"
#include "storage/options.h"
#include "storage/prepared_transaction.h"

namespace swizzle {

class Cursor;
class LogicalLog;
class Transaction;
class Tree;
class TreeLoad;
struct EngineStatistics;
struct TransactionState;

enum class Isolation : std::uint8_t { read_committed, repeatable_read, serializable };
enum class Access : std::uint8_t { read_write, read_only };

/// How a read treats other transactions.
enum class ReadMode : std::uint8_t {
  snapshot,  ///< what the transaction's snapshot shows; neither waits nor makes others wait
  /// The newest committed version, whose key stays until the transaction ends; others may change
  /// what stands under it, also since a snapshot. At SERIALIZABLE, and of a value that does not fit
  /// a page, as for_share.
  for_key_share,
  for_share,          ///< the newest version, locked against change until the transaction ends
  for_no_key_update,  ///< the same, and against being read by for_share
  for_update,         ///< the newest version, locked against everybody
};
/// What a locking read or a write does when another transaction holds the key.
enum class WaitPolicy : std::uint8_t {
  wait,     ///< until it is free, lock_timeout passes (55P03), or a deadlock is found (40P01)
  no_wait,  ///< fails at once with 55P03
  skip,     ///< acts as if the key were not there
};

/// What the reads of a statement see: what was committed at a moment in the log, and what its own
/// transaction wrote before it.
struct ReadView {
  Lsn lsn = Lsn::none;  ///< what committed before is visible
  Lsn quiet =
      Lsn::none;  ///< what has an LSN below it is visible wholly: all who wrote there are through
  std::uint32_t statement =
      0;                  ///< its transaction's changes from this statement on are hidden; 0: none
  bool is_taken = false;  ///< the moment is settled, which the first read does
  enum class Sees : std::uint8_t {
    durable,  ///< what no crash can take back
    latest,   ///< whatever is committed: what constraints and definitions have to hold for
  } sees = Sees::durable;
};

/// An open snapshot and what is kept because of it.
struct HeldSnapshot {
  lock::OwnerLabel label = 0;    ///< as Transaction::work_for() said
  Lsn lsn = Lsn::none;           ///< what committed before is visible
  std::uint64_t held_bytes = 0;  ///< of versions that are newer; those of several snapshots overlap
  TxnId next_id = TxnId::none;   ///< transactions with this number or a higher one wrote later
  enum class State : std::uint8_t {
    usable,
    too_old,  ///< given up for the store's bound; its next read of something newer says so
  } state = State::usable;
};

/// A transaction that has written and has not ended: its log is kept, from its first record on.
struct WritingTransaction {
  lock::OwnerLabel label = 0;  ///< as Transaction::work_for() said
  TxnId id = TxnId::none;
  std::uint64_t log_bytes = 0;  ///< from its first record to the log's end
  enum class State : std::uint8_t { running, rolling_back, prepared } state = State::running;
};

/// A value that a read copies out. Reused from call to call, so that a warm read allocates nothing.
class ValueBuffer {
 public:
  [[nodiscard]] Bytes bytes() const noexcept { return {data_.get(), size_}; }
  /// Room for `size` bytes whose content the caller fills; what was there is lost.
  MutableBytes prepare(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
    return {data_.get(), size_};
  }

 private:
  void grow(std::size_t size);
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// The storage manager: the one door for SQL and for embedders. Thread-safe; a Transaction and its
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
  /// Without close() first this is a crash as far as the data directory is concerned.
  ~Engine();

  /// Checkpoints and releases the directory. Pre: no transaction is open.
  Result<> close();

  /// Parks while TransactionRegistry::kSlots are open.
  std::unique_ptr<Transaction> begin(Isolation isolation = Isolation::read_committed,
                                     Access access = Access::read_write);

  /// Those that are prepared, by their identifiers.
  [[nodiscard]] std::vector<PreparedTransaction> prepared() const;
  /// Takes one out so that it can be finished, by commit(), which is synchronous, or rollback(),
  /// which returns when it is durable; destroyed without either it is prepared as before, as it is
  /// after a commit() that fails. 42704 when there is none of that name, 55000 when it is busy.
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

  /// A key above which nobody has put anything into the tree, whoever sees that: the greatest that
  /// stands in it, or stood there. False: it has none.
  Result<bool> greatest_key(TreeId tree, ValueBuffer& into);
  /// How many pages of the tree have been read from the data file since the engine opened.
  [[nodiscard]] std::uint64_t pages_read_of(TreeId tree) const;
  /// No records, nor what is left of some.
  Result<bool> is_blank(TreeId tree);
  /// Begins to build `tree` bottom-up. Null where that cannot be done: the tree is not blank, or is
  /// not what `which` says, or another transaction reads or writes it under locks.
  enum class Loadable : std::uint8_t {
    new_tree,    ///< created by `transaction`, so that nobody else has it
    blank_tree,  ///< or any other: nobody else changes it, or locks in it, before the end
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
  /// Copies the database to `target`, which does not exist, while it runs: a database directory
  /// that opens as the database was when the copying ended. restore_backup() takes it farther.
  Result<BackupOutcome> back_up(const std::filesystem::path& target,
                                const RecoveryObserver& observer = {});
  /// Gives free pages at the end of the data file back to the file system. Returns how many.
  Result<std::uint64_t> shrink();
  /// Checks every numbered rule of one tree, or of the whole volume; each string is one violation.
  Result<std::vector<std::string>> verify(std::optional<TreeId> tree = std::nullopt);
  /// The pages that a tree has in the data file. Reads its branches.
  struct TreeSize {
    std::uint64_t pages = 0;
    std::uint64_t overflow_pages = 0;  ///< with values that are too large for the tree itself
  };
  Result<TreeSize> size_of(TreeId tree);
  [[nodiscard]] EngineStatistics statistics() const;
  /// What transactions have changed, in words of the layer above, and who reads it.
  [[nodiscard]] LogicalLog& logical_log() const noexcept;
  /// Which database it is, among all that ever were: drawn at random when it was made.
  [[nodiscard]] std::uint64_t database_id() const noexcept;
  /// Where the database lies, for what the layer above keeps beside it.
  [[nodiscard]] FileSystem& files() const noexcept;
  [[nodiscard]] const std::filesystem::path& directory() const noexcept;
  /// What is locked and waited for. Stops nobody: each row was true at some moment of the call.
  [[nodiscard]] std::vector<lock::LockRow> locks() const;
  /// The same for snapshots.
  [[nodiscard]] std::vector<HeldSnapshot> snapshots() const;
  [[nodiscard]] std::vector<WritingTransaction> writers() const;

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// Ends by commit() or rollback(); destroying an open one rolls it back.
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  [[nodiscard]] TxnId id() const noexcept;
  [[nodiscard]] Isolation isolation() const noexcept;
  [[nodiscard]] Access access() const noexcept;

  /// Starts a statement: at READ COMMITTED it takes a fresh snapshot. What the statement itself
  /// writes is not visible to its own snapshot reads until the next begin_statement().
  void begin_statement();

  /// Starts a statement within the one that runs, and returns what the outer one sees, for
  /// end_inner(). Better by way of InnerStatement.
  [[nodiscard]] ReadView begin_inner(ReadView::Sees sees);
  void end_inner(const ReadView& outer) noexcept;

  /// Keeps what the statement that runs sees, for its reads beside later statements, until
  /// release_view(). Better by way of HeldView.
  [[nodiscard]] ReadView hold_view();
  void release_view(const ReadView& view) noexcept;
  /// Reads see by `view` from now on; returns by what they saw.
  [[nodiscard]] ReadView exchange_view(const ReadView& view) noexcept;

  /// How many leaves its reads and writes have asked for.
  [[nodiscard]] std::uint64_t leaf_requests() const noexcept;

  /// For the views and for reports of deadlocks: whom this transaction works for, and, unless null,
  /// where that says what it is doing, which is read when a wait for a lock begins. `doing`
  /// outlives the transaction.
  void work_for(lock::OwnerLabel label, const std::string* doing) noexcept;

  /// PostgreSQL's locks on a relation, for the layer that knows what relations are: they order
  /// statements and changes of definitions. Kept to the end, or to rollback_to() a mark before.
  /// False: not to be had, with WaitPolicy::skip. 55P03, 40P01, 57014 as every lock.
  Result<bool> lock_relation(lock::RelationId relation, lock::RelationMode mode,
                             WaitPolicy wait = WaitPolicy::wait);

  /// ACCESS SHARE when that takes a few instructions, which is when nobody changes definitions.
  /// False: ask lock_relation().
  [[nodiscard]] bool try_share_relation(lock::RelationId relation) noexcept;

  /// `publish` runs in commit(), once the commit is durable and before the locks go: whoever gets
  /// them finds what it published. It neither fails nor waits. For changes of definitions.
  void before_release(std::function<void()> publish);

  /// How long a lock may be waited for; zero, the default: without limit.
  void set_lock_timeout(Duration timeout) noexcept;
  /// How long a wait lasts before a deadlock is looked for; zero, the default: not at all.
  void set_deadlock_timeout(Duration timeout) noexcept;
  /// Makes the wait in progress, and every later one, fail with 57014 until clear_cancel().
  /// Callable from any thread while the transaction is open.
  void cancel() noexcept;
  void clear_cancel() noexcept;

  /// A place to which the transaction can be rolled back: savepoints, and statements that fail.
  struct Mark {
    std::uint64_t undo_position = 0;
    std::uint64_t lock_position = 0;
  };
  [[nodiscard]] Mark mark() const noexcept;
  /// Undoes what came after the mark and gives up its locks, but at SERIALIZABLE, where they stand
  /// for what has been read as well.
  Result<> rollback_to(Mark mark);

  /// Returns when the commit, and all that it read from, is durable (unless synchronous_commit is
  /// off). On error the transaction has been rolled back.
  enum class Durability : std::uint8_t { synchronous, asynchronous, unforced };
  Result<> commit(Durability durability = Durability::synchronous);
  /// Waits for nothing, and shows what it wrote to snapshots when that is durable, which it is with
  /// the next commit that waits. Whoever hands on what it wrote before then depends on the LSN.
  Result<Lsn> commit_unforced();
  /// Its commit waits for the one at `commit`, even if it has written nothing itself.
  void depend_on(Lsn commit) noexcept;
  void rollback() noexcept;

  /// Makes it durable that it can still be committed, or rolled back, whatever happens: it keeps
  /// its locks and what it has changed, also over a restart, until somebody finishes it
  /// (Engine::take_prepared()). It belongs to the engine from then on, and this is as if it had
  /// ended. `note` is given to whoever asks for it, at most 256 KB. 42710 when there is another of
  /// that name, 53200 when there are `most_at_once` already. On error it goes on as before.
  /// Pre: nothing is to be published at its commit.
  static constexpr std::size_t kMostGidBytes = 199;
  static constexpr std::size_t kAnyNumber = SIZE_MAX;
  Result<> prepare(std::string_view gid, Bytes note, std::size_t most_at_once = kAnyNumber);
  /// Its number, which it gets now, as if it had written, if it has none yet.
  [[nodiscard]] TxnId take_id();
  /// What it is prepared as. Pre: Engine::take_prepared() has handed it out, and it has not ended.
  [[nodiscard]] const PreparedTransaction& prepared_as() const noexcept;

 private:
  friend class Engine;
  friend struct TransactionAccess;
  explicit Transaction(std::unique_ptr<TransactionState> state) noexcept;
  std::unique_ptr<TransactionState> state_;
};

/// A statement within the one that runs, as a constraint's check or action and the parts of a
/// definition are: it sees what its transaction has written up to now, and of others what `sees`
/// says, at READ COMMITTED always the latest. The outer statement goes on with what it saw before.
class InnerStatement {
 public:
  explicit InnerStatement(Transaction& transaction, ReadView::Sees sees = ReadView::Sees::latest)
      : transaction_(transaction), outer_(transaction.begin_inner(sees)) {}
  InnerStatement(const InnerStatement&) = delete;
  InnerStatement& operator=(const InnerStatement&) = delete;
  ~InnerStatement() { transaction_.end_inner(outer_); }

 private:
  Transaction& transaction_;
  ReadView outer_;
};

/// What a statement saw when it was made, kept for as long as it is read while others of its
/// transaction run. To be gone before the transaction is.
class HeldView {
 public:
  HeldView() = default;
  explicit HeldView(Transaction& transaction)
      : transaction_(&transaction), view_(transaction.hold_view()) {}
  HeldView(const HeldView&) = delete;
  HeldView& operator=(const HeldView&) = delete;
  HeldView(HeldView&& other) noexcept
      : transaction_(std::exchange(other.transaction_, nullptr)), view_(other.view_) {}
  HeldView& operator=(HeldView&& other) noexcept {
    std::swap(transaction_, other.transaction_);
    std::swap(view_, other.view_);
    return *this;
  }
  ~HeldView() { reset(); }
  void reset() noexcept {
    if (transaction_ != nullptr) std::exchange(transaction_, nullptr)->release_view(view_);
  }

  /// While it lives, reads see by the view, if that was made.
  class Reading {
   public:
    explicit Reading(const HeldView& view) : transaction_(view.transaction_) {
      if (transaction_ != nullptr) outer_ = transaction_->exchange_view(view.view_);
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
      if (transaction_ != nullptr) static_cast<void>(transaction_->exchange_view(outer_));
    }

   private:
    Transaction* transaction_;
    ReadView outer_;
  };

 private:
  Transaction* transaction_ = nullptr;
  ReadView view_;
};

/// Builds a tree bottom-up from records in ascending order: several times faster than inserts,
/// since whole pages are logged, no key is locked, and no record has an older version. Rolling back
/// to before the load empties the tree.
///
/// Until finish() the tree shows nobody anything, and is not to be changed; a transaction that does
/// not finish a load rolls back to before it. Snapshots that are older than the transaction's
/// commit see an empty tree, as they would if the records had been inserted.
class TreeLoad {
 public:
  TreeLoad(const TreeLoad&) = delete;
  TreeLoad& operator=(const TreeLoad&) = delete;
  ~TreeLoad();

  /// False, and nothing is done: the key is not above the one before.
  Result<bool> add(Bytes key, Bytes value);
  /// The tree is a tree like others from now on. Returns how many records were added.
  Result<std::uint64_t> finish();

 private:
  struct State;
  explicit TreeLoad(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
  friend class Engine;
};

/// Half-open by default: [low, high). An absent bound is open-ended.
struct ScanRange {
  enum class Bound : std::uint8_t { inclusive, exclusive };
  std::optional<Bytes> low;
  Bound low_bound = Bound::inclusive;
  std::optional<Bytes> high;
  Bound high_bound = Bound::exclusive;
};
enum class Direction : std::uint8_t { forward, backward };
/// What the caller knows of a scan.
enum class ScanHint : std::uint8_t {
  none,        ///< each leaf is read when the cursor comes to it
  sequential,  ///< many leaves will be wanted: they are read ahead
  large,       ///< and, beyond a small share of the pool, they push out no others
};

/// A handle on one tree.
class Tree {
 public:
  [[nodiscard]] TreeId id() const noexcept { return id_; }

  /// False: no such key.
  Result<bool> get(Transaction& transaction, Bytes key, ValueBuffer& into,
                   ReadMode mode = ReadMode::snapshot, WaitPolicy wait = WaitPolicy::wait) const;
  /// Until the transaction ends nobody else locks the key, or writes under it, whether or not
  /// anything stands there.
  Result<> lock_key(Transaction& transaction, Bytes key);
  /// For whoever is about to look up several keys, one after the other: has what the processor will
  /// want for it fetched from memory for all of them at the same time, where each would else wait
  /// for memory by itself. A hint: locks nothing, waits for nothing, reads nothing from disk.
  /// ReadMode::for_update: they will be written too.
  void prefetch(Transaction& transaction, std::span<const Bytes> keys,
                ReadMode mode = ReadMode::snapshot) const noexcept;
  /// False: the key is there already (and is locked, so that the answer stays true).
  Result<bool> insert(Transaction& transaction, Bytes key, Bytes value);
  /// False: no such key. 40001 where the isolation level forbids overwriting a newer version. An
  /// update does not wait for ReadMode::for_key_share, a removal does.
  Result<bool> update(Transaction& transaction, Bytes key, Bytes value);
  Result<bool> remove(Transaction& transaction, Bytes key);
  /// Puts the record of `from` under `to`, with a new value: a removal and an insert, but whoever
  /// meets the old key with an older snapshot learns where the record went. False: `to` is there
  /// already. Pre: `from` is there and locked for_update.
  Result<bool> move(Transaction& transaction, Bytes from, Bytes to, Bytes value);
  /// What has become, by what is committed, of a record that the statement's view has shown.
  enum class Fate : std::uint8_t {
    stays,  ///< it is under the key
    moved,  ///< to the key that trace() leaves in `moved_to`
    gone,
  };
  /// Where trace() stands: at first on the record that the view shows.
  struct Trail {
    const void* at = nullptr;
  };
  /// Follows one step: the record stands under `key` by the trail. Meant for READ COMMITTED, once
  /// the key is locked: what stands there then may be another record, however like it looks.
  Fate trace(Transaction& transaction, Bytes key, Trail& trail, ValueBuffer& moved_to) const;
  /// At REPEATABLE READ: whether the newest version of the key is another transaction's and younger
  /// than the snapshot.
  [[nodiscard]] bool changed_since_snapshot(Transaction& transaction, Bytes key) const;
  /// Whether reads of the transaction's snapshot see the records that the tree was loaded with; at
  /// READ COMMITTED and SERIALIZABLE they do, or will.
  [[nodiscard]] bool is_visible(Transaction& transaction) const;
  /// The bounds are copied. The hint changes what is in memory when, not what is seen.
  Result<Cursor> scan(Transaction& transaction, const ScanRange& range,
                      Direction direction = Direction::forward, ReadMode mode = ReadMode::snapshot,
                      WaitPolicy wait = WaitPolicy::wait, ScanHint hint = ScanHint::none) const;

 private:
  Tree(TreeId id, void* tree) noexcept : id_(id), tree_(tree) {}
  TreeId id_;
  void* tree_;
  friend class Engine;
  friend struct TransactionAccess;
};

/// Moves over live records in key order. Holds no latch between calls, so it may stay open while
/// its transaction, and others, change the tree.
class Cursor {
 public:
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  /// False at the end. key() and value() are valid until the next call.
  Result<bool> next();
  /// Passes over what is left of a leaf and hands nothing out: how many records, 0 at the end. For
  /// whoever only counts; locks of the modes beside ReadMode::snapshot are not taken.
  Result<std::size_t> pass();
  [[nodiscard]] Bytes key() const noexcept;
  [[nodiscard]] Bytes value() const noexcept;
  /// How many leaves it has asked for.
  [[nodiscard]] std::uint64_t leaf_requests() const noexcept;

 private:
  struct State;
  explicit Cursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  friend class Tree;
};

}  // namespace swizzle

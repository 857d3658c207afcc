#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <vector>

#include "base/runtime/park_mutex.h"
#include "lock/lock_manager.h"
#include "lock/serializable/conflicts.h"
#include "storage/buffer/cleaner.h"
#include "storage/buffer/device_check.h"
#include "storage/engine.h"
#include "storage/logical/logical_log.h"
#include "storage/recovery/background_redo.h"
#include "storage/recovery/backup/background_restore.h"
#include "storage/recovery/backup/unrestored_pages.h"
#include "storage/recovery/checkpoint/checkpointer.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/page_redo.h"
#include "storage/recovery/page_repair.h"
#include "storage/recovery/pending_pages.h"
#include "storage/replay_gate.h"
#include "storage/space/data_file.h"
#include "storage/space/untidy_pages.h"
#include "storage/space/written_lsns_file.h"
#include "storage/txn/restart/prepared_transactions.h"
#include "storage/txn/restart/restart_losers.h"
#include "storage/txn/rows/any_tree.h"
#include "storage/txn/tidying/leaf_tidier.h"
#include "storage/txn/tidying/tree_reaper.h"
#include "storage/txn/undo/transaction_pool.h"
#include "storage/txn/versions/transaction_registry.h"
#include "storage/txn/versions/version_index.h"
#include "storage/txn/versions/version_reclaimer.h"
#include "storage/warm/preload.h"
#include "wal/log.h"

namespace swizzle {

class TreeTable;

/// Lets a ghost be removed when no version of its key is kept and its key and gap are neither
/// locked nor marked.
class LockAwareGhosts final : public GhostKeeper {
 public:
  LockAwareGhosts(VersionIndex& versions, lock::LockManager& locks, lock::ReadMarks& marks) noexcept
      : versions_(versions), locks_(locks), marks_(marks) {}
  bool may_remove(const Node& leaf, std::uint16_t index) noexcept override;
  std::size_t owed_bytes(const Node& leaf, std::uint16_t begin,
                         std::uint16_t end) noexcept override;
  bool may_cut_before(const Node& leaf, std::uint16_t index) noexcept override;
  bool may_join_at(TreeId tree, Bytes fence) noexcept override;
  void records_moved(PageId from, PageId to) noexcept override;
  /// While rows are undone that have no version.
  void keep_all(bool keeps) noexcept { keeps_all_.store(keeps, std::memory_order_relaxed); }
  /// Sets the trees whose directory keeps ghosts that are still needed.
  void know(const TreeTable& trees) noexcept { trees_ = &trees; }

 private:
  const TreeTable* trees_ = nullptr;
  VersionIndex& versions_;
  lock::LockManager& locks_;
  lock::ReadMarks& marks_;
  std::atomic<bool> keeps_all_{false};
};

class LogFlusher final : public LogGate {
 public:
  explicit LogFlusher(wal::Log& log) noexcept : log_(log) {}
  void flush_to(Lsn lsn) override {
#ifdef SWIZZLE_PLANTED_FAULTS
    if (fault_ == StorageFault::page_before_log) return;
#endif
    log_.flush_record(lsn);
  }
#ifdef SWIZZLE_PLANTED_FAULTS
  void plant(StorageFault fault) noexcept { fault_ = fault; }
#endif

 private:
  wal::Log& log_;
#ifdef SWIZZLE_PLANTED_FAULTS
  StorageFault fault_ = StorageFault::none;
#endif
};

/// The open trees. The directory, the tree of trees, maps a tree's id to its root page.
class TreeTable {
 public:
  TreeTable(std::unique_ptr<TreeFactory> factory, LeafTidier& tidier) noexcept
      : factory_(std::move(factory)), tidier_(tidier) {}

  [[nodiscard]] AnyTree& directory() noexcept { return *directory_; }
  [[nodiscard]] TreeFactory& factory() noexcept { return *factory_; }
  Result<PageId> create_directory();
  Result<> open_directory(PageId root);

  /// Finds it in the directory if need be; XX000 when it is not there. Parks.
  Result<AnyTree*> find(TreeId id);
  /// Returns the tree if it is open, or null: for code that looks at trees without a lock on them.
  /// Pre: the caller is inside a visit of the tidier, which destroy() waits for.
  [[nodiscard]] AnyTree* find_open(TreeId id) const;
  Result<AnyTree*> create(TreeId id, TransactionChain& creator);
  /// Frees the pages of a tree that is not in the directory any more, or never will be: one whose
  /// creation is rolled back, or that was dropped. Does nothing if they are free already. A page
  /// that cannot be read is given up with a warning: it stays in use and belongs to no tree.
  Result<> destroy(TreeId id, PageId root, const GoesOn& goes_on = {});
  Result<> destroy_dropped(TreeId id, const GoesOn& goes_on);
  /// At a start: whether the tree of a dropped row is still there, to be retired.
  Result<bool> finds_dropped(TreeId id, PageId root);
  /// A drop commits: the tree goes once every snapshot is at or behind `dropped_at`, since older
  /// ones may still be reading it. From the first call on its row stays in the directory, as a
  /// ghost; the last one counts.
  void retire(TreeId id, Lsn dropped_at);
  /// The drop did not commit, or the tree's pages are free.
  void gone(TreeId id) noexcept;
  /// Takes the retired trees that `horizon` has passed, unless there is a Hold. They cannot be
  /// found any more. The caller destroys them, and then calls gone() or retires them again.
  std::vector<TreeId> take_due(Lsn horizon);
  /// True if there are such trees, or some that were taken and are not gone.
  [[nodiscard]] bool has_due(Lsn horizon) const;
  /// True if the directory's ghost `key` is the only reference to a tree's pages.
  [[nodiscard]] bool is_needed(Bytes key) const noexcept;
  /// Keeps a tree that was found, dropped or not, for its lifetime: for code that reads trees
  /// without a lock on them and without a snapshot.
  class Hold {
   public:
    explicit Hold(TreeTable& of) : of_(of) { of_.change_holds(1); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() { of_.change_holds(-1); }

   private:
    TreeTable& of_;
  };
  /// True if dropped trees still have pages.
  [[nodiscard]] bool has_retired() const noexcept {
    return retired_count_.load(std::memory_order_relaxed) != 0;
  }
  /// The directory's row `key` is about to be undone.
  Result<> destroy_created(Bytes key);
  /// Numbers of trees are never used again: 54000 when none is left.
  Result<TreeId> next_id();
  /// Of the next tree that is created.
  void number_from(TreeId next) noexcept { next_id_.store(raw(next)); }
  struct Listed {
    TreeId id;
    PageId root;
    enum class Status : std::uint8_t { live, dropped } status;
  };
  /// On a standby: finds none any more of the open trees that the directory does not have, or has
  /// at another page: the number of a tree whose creation was undone may be used again. They stay
  /// in memory. Pre: no tree is in use.
  Result<> forget_replaced();
  /// Every row of the directory, ghosts included.
  Result<std::vector<Listed>> list();

 private:
  Result<std::unique_ptr<AnyTree>> open_if_owner(TreeId id, PageId root);
  Result<> destroy_row(Bytes key, const GoesOn& goes_on);
  void change_holds(int by);
  [[nodiscard]] bool is_leaving(TreeId id) const noexcept;
  /// Pre: mutex_ is held.
  void count_retired() noexcept { retired_count_.store(retired_.size() + leaving_.size()); }

  std::unique_ptr<TreeFactory> factory_;
  LeafTidier& tidier_;
  std::unique_ptr<AnyTree> directory_;
  mutable std::shared_mutex mutex_;
  std::map<TreeId, std::unique_ptr<AnyTree>> open_;
  /// Handles may still lead to them.
  std::vector<std::unique_ptr<AnyTree>> replaced_;
  std::atomic<std::uint32_t> next_id_{1};
  std::map<TreeId, Lsn> retired_;  ///< under mutex_
  std::set<TreeId> leaving_;       ///< taken to be destroyed; under mutex_
  int holds_ = 0;                  ///< under mutex_
  std::atomic<std::size_t> retired_count_{0};
};

std::array<std::byte, 4> directory_key(TreeId tree) noexcept;
TreeId tree_of_directory_key(Bytes key) noexcept;
std::array<std::byte, 8> directory_value(PageId root) noexcept;

/// Everything an engine is made of, in the order in which it comes to life.
struct EngineParts {
  EngineParts(FileSystem& in, std::filesystem::path at, EngineOptions with);
  ~EngineParts();

  FileSystem& files;
  const std::filesystem::path directory;
  const EngineOptions options;
  /// Not null on a standby: nothing is written, and redo changes the pages between two uses.
  ReplayGate* replay_gate = nullptr;
  /// Of a standby: the log is there from this position on. It changes while the gate is closed.
  const std::atomic<std::uint64_t>* oldest_log = nullptr;
  /// Null unless a restore on demand is not complete. The volume refers to it.
  std::unique_ptr<UnrestoredPages> unrestored;
  // A standby shares them with its redo.
  std::shared_ptr<Volume> volume;
  std::shared_ptr<WrittenLsnsFile> written_lsns;
  /// Null without a log: then nothing says how new a page must be.
  std::shared_ptr<GivenUpPages> given_up;
  /// Null without a log, and on a standby.
  std::unique_ptr<UntidyPages> untidy;
  std::shared_ptr<ControlFile> control;
  std::unique_ptr<wal::Log> log;
  /// Null: damaged pages are rebuilt from the double-write area and the log alone.
  std::unique_ptr<OlderCopies> repair_copies;
  std::unique_ptr<PageRepair> repair;
  std::unique_ptr<DeviceCheck> device_check;
  std::unique_ptr<SpaceMap> space;
  const std::int64_t opened_at_us = Runtime::current().wall_clock_us();
  /// LSN from which analysis read the log.
  Lsn analysed_from = Lsn::none;
  std::unique_ptr<PendingPages> pending;
  std::unique_ptr<PageRedo> page_redo;
  /// Of a standby: pages that redo could not read.
  std::unique_ptr<LackingPages> unredone;
  std::unique_ptr<DataFile> store;
  std::unique_ptr<WalTreeLog> tree_log;
  std::unique_ptr<LogFlusher> flusher;
  lock::LockManager locks;
  lock::SerializableConflicts conflicts;
  VersionIndex versions;
  LockAwareGhosts ghosts;
  std::unique_ptr<TransactionRegistry> registry;
  std::unique_ptr<TransactionPool> transactions;
  PreparedTransactions prepared;
  /// Of a standby: those of its primary.
  std::vector<PreparedTransaction> prepared_there;
  RestartLosers losers;
  std::unique_ptr<VersionReclaimer> reclaimer;
  std::unique_ptr<TreeTable> trees;
  std::unique_ptr<TreeReaper> reaper;
  std::unique_ptr<LeafTidier> tidier;
  /// Null: the pages in memory are not kept for the next start.
  std::unique_ptr<Preload> preload;
  std::unique_ptr<Cleaner> cleaner;
  std::unique_ptr<BackgroundRedo> redo;
  std::unique_ptr<BackgroundRestore> restore;
  std::unique_ptr<LogicalLog> logical;
  std::unique_ptr<Checkpointer> checkpointer;
};

struct Engine::Parts : EngineParts {
  using EngineParts::EngineParts;
};

/// The name of the log's directory in a database directory.
inline constexpr const char* kLogDirectory = "log";

/// Durability is in doubt: says why and ends the process; restart recovers.
[[noreturn]] void panic(std::string_view what, const Error& error) noexcept;

}  // namespace swizzle

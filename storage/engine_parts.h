#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "base/park_mutex.h"
#include "lock/lock_manager.h"
#include "storage/buffer/cleaner.h"
#include "storage/buffer/device_check.h"
#include "storage/engine.h"
#include "storage/recovery/checkpointer.h"
#include "storage/recovery/control_file.h"
#include "storage/recovery/page_repair.h"
#include "storage/space/data_file.h"
#include "storage/txn/any_tree.h"
#include "storage/txn/transaction_pool.h"
#include "storage/txn/transaction_registry.h"
#include "storage/txn/version_index.h"
#include "storage/txn/version_reclaimer.h"
#include "wal/log.h"

namespace swizzle {

/// A ghost goes when no version of its key is kept and nobody holds its key or its gap.
class LockAwareGhosts final : public GhostKeeper {
 public:
  LockAwareGhosts(VersionIndex& versions, lock::LockManager& locks) noexcept
      : versions_(versions), locks_(locks) {}
  bool may_remove(const Node& leaf, std::uint16_t index) noexcept override;
  bool may_cut_before(const Node& leaf, std::uint16_t index) noexcept override;
  bool may_join_at(TreeId tree, Bytes fence) noexcept override;

 private:
  VersionIndex& versions_;
  lock::LockManager& locks_;
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
  explicit TreeTable(std::unique_ptr<TreeFactory> factory) noexcept
      : factory_(std::move(factory)) {}

  [[nodiscard]] AnyTree& directory() noexcept { return *directory_; }
  [[nodiscard]] TreeFactory& factory() noexcept { return *factory_; }
  Result<PageId> create_directory();
  Result<> open_directory(PageId root);

  /// Finds it in the directory if need be; XX000 when it is not there. Parks.
  Result<AnyTree*> find(TreeId id);
  Result<AnyTree*> create(TreeId id, TransactionChain& creator);
  /// Frees the pages of a tree that the directory does not name any more, or never will: of a
  /// transaction that is rolled back or that dropped it. Nothing happens if they are free already.
  /// What cannot be read is given up with a warning: it stays in use and belongs to nobody.
  Result<> destroy(TreeId id, PageId root);
  Result<> destroy_dropped(TreeId id);
  /// A drop committed: the tree goes once every snapshot is at or behind `dropped_at`, since older
  /// ones may still be reading it.
  void retire(TreeId id, Lsn dropped_at);
  /// The retired trees that `horizon` has passed, unless somebody holds trees; the caller destroys
  /// them. Nobody finds them any more.
  std::vector<TreeId> take_due(Lsn horizon);
  /// While it lives a tree that was found stays, dropped or not: for those who look at trees
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
  [[nodiscard]] bool has_retired() const noexcept {
    return retired_count_.load(std::memory_order_relaxed) != 0;
  }
  /// The directory's row `key` is about to be taken back.
  Result<> destroy_created(Bytes key);
  [[nodiscard]] TreeId next_id() noexcept { return TreeId{next_id_.fetch_add(1)}; }
  struct Listed {
    TreeId id;
    PageId root;
    enum class Status : std::uint8_t { live, dropped } status;
  };
  /// Every row of the directory, ghosts included.
  Result<std::vector<Listed>> list();

 private:
  Result<std::unique_ptr<AnyTree>> open_if_owner(TreeId id, PageId root);
  void change_holds(int by);

  std::unique_ptr<TreeFactory> factory_;
  std::unique_ptr<AnyTree> directory_;
  std::shared_mutex mutex_;
  std::map<TreeId, std::unique_ptr<AnyTree>> open_;
  std::atomic<std::uint32_t> next_id_{1};
  std::vector<std::pair<TreeId, Lsn>> retired_;  ///< under mutex_
  std::set<TreeId> leaving_;                     ///< taken to be destroyed; under mutex_
  int holds_ = 0;                                ///< under mutex_
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
  std::unique_ptr<Volume> volume;
  std::unique_ptr<ControlFile> control;
  std::unique_ptr<wal::Log> log;
  std::unique_ptr<PageRepair> repair;
  std::unique_ptr<DeviceCheck> device_check;
  std::unique_ptr<SpaceMap> space;
  std::unique_ptr<DataFile> store;
  std::unique_ptr<WalTreeLog> tree_log;
  std::unique_ptr<LogFlusher> flusher;
  lock::LockManager locks;
  VersionIndex versions;
  LockAwareGhosts ghosts;
  std::unique_ptr<TransactionRegistry> registry;
  std::unique_ptr<TransactionPool> transactions;
  std::unique_ptr<VersionReclaimer> reclaimer;
  std::unique_ptr<TreeTable> trees;
  std::unique_ptr<Cleaner> cleaner;
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

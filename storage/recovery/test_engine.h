#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/btree/btree.h"
#include "storage/btree/node_layout.h"
#include "storage/buffer/cleaner.h"
#include "storage/buffer/device_check.h"
#include "storage/buffer/swizzling_pool.h"
#include "storage/recovery/background_redo.h"
#include "storage/recovery/checkpoint/checkpointer.h"
#include "storage/recovery/page_redo.h"
#include "storage/recovery/page_repair.h"
#include "storage/recovery/records/record_kinds.h"
#include "storage/recovery/recovery.h"
#include "storage/recovery/undo_chain.h"
#include "storage/space/data_file.h"
#include "storage/testing/database_home.h"
#include "wal/log.h"

namespace swizzle::test {

inline constexpr std::uint64_t kId = 0x5eed;

inline wal::RecordKind log_kind(RecordKind kind) {
  return static_cast<wal::RecordKind>(kind);
}

class LogFlusher final : public LogGate {
 public:
  explicit LogFlusher(wal::Log& log) : log_(log) {}
  void flush_to(Lsn lsn) override { log_.flush_record(lsn); }

 private:
  wal::Log& log_;
};

/// One step of a transaction.
class Step final : public LeafChange {
 public:
  Step(Action action, std::string value) : action_(action), value_(std::move(value)) {}
  Action decide(const Node& leaf, Node::Position at) noexcept override {
    const bool live = at.exact && !leaf.is_ghost(at.index);
    const bool fits = action_ == Action::insert ? !live : live;
    done = fits;
    return fits ? action_ : Action::leave;
  }
  [[nodiscard]] Value value() const noexcept override { return {as_bytes(value_), false}; }
  [[nodiscard]] std::size_t max_value_bytes() const noexcept override {
    return Node::kMaxInlineBytes;
  }
  void logged(const Node& /*leaf*/, Node::Position /*at*/, Lsn /*lsn*/) noexcept override {}

  bool done = false;

 private:
  Action action_;
  std::string value_;
};

class Ghosts final : public GhostKeeper {
 public:
  bool may_remove(const Node& /*leaf*/, std::uint16_t /*index*/) noexcept override {
    return !transaction_open;
  }
  bool transaction_open = true;
};

using Content = std::map<std::string, std::string>;

/// Storage without the Engine class: one tree, one transaction at a time.
class TestEngine {
 public:
  using TestTree = BTree<SwizzlingPool>;

  struct Options {
    std::uint32_t frames = 48;
    std::uint64_t checkpoint_bytes = 200'000;
    /// Memory for the records of a batch of the background redo.
    std::uint64_t redo_bytes = 20'000;
    std::uint32_t redo_tasks = 1;
    /// If false, only the pages' readers redo them.
    bool redo_in_background = true;
    std::filesystem::path home = kHome;
    wal::ArchiveSegment archive = {};
  };

  static wal::LogOptions log_options(const Options& of) {
    wal::LogOptions options;
    options.directory = of.home / "log";
    options.archive = of.archive;
    options.database_id = kId;
    options.segment_bytes = std::uint64_t{256} << 10U;
    options.buffer_bytes = std::size_t{256} << 10U;
    options.completion_bytes = std::uint64_t{64} << 10U;
    return options;
  }

  static void create(FileSystem& files) {
    REQUIRE(files.create_directory(kHome));
    REQUIRE(files.create_directory(kHome / "log"));
    REQUIRE(files.sync_directory(kHome));
    REQUIRE(files.sync_directory(kHome.parent_path()));
    auto log = wal::Log::create(files, log_options({})).value();
    REQUIRE(Volume::create(files, kHome, kId));
    REQUIRE(SpaceMap::create(files, kHome, kId, log->begin()));
    Control control;
    control.database_id = control.log_id = kId;
    control.checkpoint.begin = control.checkpoint.redo_from = control.checkpoint.keep_from =
        log->begin();
    REQUIRE(ControlFile::create(files, kHome, control));
    log->close();
    log.reset();
    TestEngine engine(files, Options{});
    REQUIRE(engine.open());
    auto tree = TestTree::create(*engine.pool, *engine.trees, engine.ghosts, TreeId{7}, nullptr);
    REQUIRE(tree);
    engine.tree = std::move(*tree);
    engine.directory_root = engine.tree->root_page();
    REQUIRE(engine.close());
  }

  TestEngine(FileSystem& files, Options options) : files_(files), options_(options) {}

  /// Recovers the database, undoes the losers and takes a checkpoint.
  Result<> open() {
    ASSIGN_OR_RETURN(volume, Volume::open(files_, options_.home));
    ASSIGN_OR_RETURN(control, ControlFile::open(files_, options_.home));
    const Lsn from = control->current().checkpoint.begin;
    const RecoveryObserver unobserved;
    LogAnalysis analysis(control->current().checkpoint, unobserved);
    ASSIGN_OR_RETURN(log, wal::Log::open(files_, log_options(options_), from, &analysis));
    repair = std::make_unique<PageRepair>(*volume, *log);
    const auto mend = [this](PageId page, Lsn newest, std::byte* into) {
      return repair->mend(page, newest, into);
    };
    ASSIGN_OR_RETURN(Recovered got,
                     recover(files_, options_.home, *volume, control->current(), *log, analysis));
    recovered = std::move(got);
    space = std::move(recovered.space);
    next_txn = raw(recovered.next_txn);

    flusher = std::make_unique<LogFlusher>(*log);
    check = std::make_unique<DeviceCheck>(*log, node_layout());
    volume->set_image_check(check.get());
    pending = std::make_unique<PendingPages>(std::move(recovered.pending));
    redo = std::make_unique<PageRedo>(PageRedo::Parts{*volume, *log, *repair, *pending});
    store =
        std::make_unique<DataFile>(*volume, *space, mend, DataFile::LogEnd{}, nullptr, redo.get());
    ASSIGN_OR_RETURN(FrameArena arena,
                     FrameArena::map(std::uint64_t{options_.frames} * Frame::kStride));
    pool = std::make_unique<SwizzlingPool>(std::move(arena), *store, node_layout(),
                                           ReplacementOptions{});
    cleaner = std::make_unique<Cleaner>(
        pool->arena(), *volume, *flusher, node_layout(),
        Cleaner::Options{.dirty_percent = 30, .interval = std::chrono::milliseconds{2}});
    pool->on_dirty_pressure([](void* to) { static_cast<Cleaner*>(to)->nudge(); }, cleaner.get());
    trees = std::make_unique<WalTreeLog>(*log);
    checkpointer = std::make_unique<Checkpointer>(
        Checkpointer::Parts{*log,
                            pool->arena(),
                            *space,
                            *control,
                            [this](Lsn begin) { return active(begin); },
                            [this] { return TxnId{next_txn}; },
                            {},
                            {},
                            {},
                            [this] { return pending->list(); }},
        Checkpointer::Options{.log_bytes = options_.checkpoint_bytes,
                              .redo_bytes = options_.checkpoint_bytes});
    background = std::make_unique<BackgroundRedo>(
        BackgroundRedo::Parts{*pending, *log, control->current().checkpoint.begin, *pool},
        BackgroundRedo::Options{.memory_bytes = options_.redo_bytes, .tasks = options_.redo_tasks});
    directory_root = control->current().directory_root;
    if (directory_root != PageId::none)
      tree = std::make_unique<TestTree>(*pool, *trees, ghosts, TreeId{7}, directory_root);
    cleaner->start();
    if (options_.redo_in_background) background->start();
    for (const ActiveTransaction& loser : recovered.losers) {
      set_chain(loser);
      RETURN_IF_ERROR(undo());
    }
    RETURN_IF_ERROR(checkpointer->take());
    checkpointer->start(*cleaner);
    return {};
  }

  Result<> close() {
    checkpointer->stop();
    background->stop();
    RETURN_IF_ERROR(background->finish());
    Control with_root = control->current();
    with_root.directory_root = directory_root;
    RETURN_IF_ERROR(control->write(with_root));
    RETURN_IF_ERROR(cleaner->clean_all());
    RETURN_IF_ERROR(checkpointer->take(Control::Shutdown::clean));
    cleaner->stop();
    log->close();
    return {};
  }

  void begin() { set_chain({TxnId{next_txn++}, Lsn::none, Lsn::none}); }
  bool apply(LeafChange::Action action, const std::string& key, const std::string& value = {}) {
    Step step{action, value};
    ghosts.transaction_open = true;
    REQUIRE(tree->change(as_bytes(key), &chain, step));
    return step.done;
  }
  /// Commits; returns the end of the commit record.
  Lsn commit() { return end_with(RecordKind::transaction_committed); }
  void rollback() { REQUIRE(undo()); }

  [[nodiscard]] Content content() {
    Content found;
    LeafCopy leaf;
    std::string from(1, '\0');
    while (true) {
      REQUIRE(tree->copy_leaf(as_bytes(from), leaf));
      const Node& node = leaf.node();
      for (std::uint16_t i = 0; i < node.count(); ++i) {
        if (node.is_ghost(i)) continue;
        std::array<std::byte, Node::kMaxKeyBytes> key;
        found.emplace(as_text({key.data(), node.copy_key(i, key.data())}), as_text(node.value(i)));
      }
      if (node.high_fence().is_infinite()) return found;
      from = as_text(node.high_fence().key);
    }
  }

  Result<> undo() {
    wal::Reader reader = log->reader(wal::ReadPattern::random);
    log->flush_to(log->tail());
    reader.extend_to(log->durable());
    UndoChain steps(reader, chain.last);
    chain.is_undoing.store(true, std::memory_order_relaxed);
    while (true) {
      ASSIGN_OR_RETURN(const auto step, steps.next());
      if (!step) break;
      RETURN_IF_ERROR(undo(*step));
    }
    end_with(RecordKind::transaction_ended);
    return {};
  }

  FileSystem& files_;
  const Options options_;
  std::unique_ptr<Volume> volume;
  std::unique_ptr<ControlFile> control;
  std::unique_ptr<wal::Log> log;
  Recovered recovered;
  std::unique_ptr<SpaceMap> space;
  std::unique_ptr<LogFlusher> flusher;
  std::unique_ptr<DeviceCheck> check;
  std::unique_ptr<PageRepair> repair;
  std::unique_ptr<PendingPages> pending;
  std::unique_ptr<PageRedo> redo;
  std::unique_ptr<DataFile> store;
  std::unique_ptr<SwizzlingPool> pool;
  std::unique_ptr<WalTreeLog> trees;
  Ghosts ghosts;
  std::unique_ptr<TestTree> tree;
  std::unique_ptr<Cleaner> cleaner;
  std::unique_ptr<BackgroundRedo> background;
  std::unique_ptr<Checkpointer> checkpointer;
  PageId directory_root = PageId::none;
  std::uint64_t next_txn = 1;
  TransactionChain chain;

 private:
  void set_chain(ActiveTransaction to) {
    chain.id = to.id;
    chain.first = to.first;
    chain.last = to.last;
    chain.undo_next = Lsn::none;
    chain.is_undoing.store(false, std::memory_order_relaxed);
  }
  Result<> undo(const UndoStep& step) {
    const RecordKindEntry* const kind = find_kind(log_kind(step.kind));
    INVARIANT(kind != nullptr && kind->undo != nullptr);
    ASSIGN_OR_RETURN(const auto rows, kind->undo(step.payload));
    for (const UndoneRow& row : rows) {
      chain.undo_next = &row == &rows.back() ? step.undo_next : step.lsn;
      LoggedUndo undone{row};
      RETURN_IF_ERROR(tree->change(row.key, &chain, undone));
      INVARIANT(undone.done());
    }
    return {};
  }

  Lsn end_with(RecordKind kind) {
    if (chain.last.load() == Lsn::none) return Lsn::none;
    auto reserved = log->reserve(8, 1, wal::ReservePurpose::completion);
    REQUIRE(reserved);
    wal::RecordHeader header;
    header.kind = log_kind(kind);
    header.txn = chain.id;
    header.txn_prev = chain.last;
    std::array<std::byte, 8> time;
    swizzle::store(time.data(), Runtime::current().wall_clock_us());
    const wal::Appended appended = log->append(*reserved, header, Bytes{time});
    set_chain({});
    ghosts.transaction_open = false;
    if (kind == RecordKind::transaction_committed) log->flush_to(appended.end);
    return appended.end;
  }

  std::vector<ActiveTransaction> active(Lsn /*begin*/) const {
    if (chain.last.load() == Lsn::none) return {};
    return {{chain.id.load(), chain.first.load(), chain.last.load()}};
  }
};

}  // namespace swizzle::test

#include "storage/txn/loads/tree_factory.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "storage/btree/damage.h"
#include "storage/btree/node_layout.h"
#include "storage/buffer/compare/main_memory_pool.h"
#include "storage/buffer/compare/traditional_pool.h"
#include "storage/buffer/swizzling_pool.h"

namespace swizzle {
namespace {

template <class Pool>
class PooledTreeFactory final : public TreeFactory {
 public:
  PooledTreeFactory(std::unique_ptr<Pool> pool, TreeLog& log, GhostKeeper& ghosts) noexcept
      : pool_(std::move(pool)), log_(log), ghosts_(ghosts) {}

  Result<std::unique_ptr<AnyTree>> create(TreeId id, TransactionChain* creator) override {
    ASSIGN_OR_RETURN(auto tree, BTree<Pool>::create(*pool_, log_, ghosts_, id, creator));
    return std::make_unique<PooledTree<Pool>>(std::move(tree));
  }
  Result<std::unique_ptr<AnyTree>> open(TreeId id, PageId root) override {
    auto tree = std::make_unique<BTree<Pool>>(*pool_, log_, ghosts_, id, root);
    if constexpr (std::is_same_v<Pool, MainMemoryPool>)
      RETURN_IF_ERROR(pool_->load_tree(tree->root()));
    return std::make_unique<PooledTree<Pool>>(std::move(tree));
  }
  BufferPool& pool() noexcept override { return *pool_; }
  bool is_allocated(PageId page) noexcept override { return pool_->store().is_allocated(page); }

  Result<> destroy(std::unique_ptr<AnyTree>& tree, const GoesOn& goes_on) override {
    // Frees the root last: as long as it is allocated, a restart knows that the work is not
    // finished.
    const TreeId id = tree->id();
    auto cleared = tree->clear(goes_on);
    if (cleared)
      report_given_up(id, *cleared);
    else if (is_unreadable(cleared.error()))
      report_given_up(id, GivenUp{1, cleared.error().message()});
    else
      return fail(std::move(cleared).error());
    return free_root(tree);
  }

 private:
  /// Logs the record before the frame is freed, so a checkpoint that no longer finds the page dirty
  /// begins after the record.
  Result<> free_root(std::unique_ptr<AnyTree>& tree) {
    const TreeId id = tree->id();
    const PageId root = tree->root_page();
    ASSIGN_OR_RETURN(LogSpace space, log_.reserve(sizeof root, 1, wal::ReservePurpose::completion));
    const PageStore::MarksGuard marks(pool_->store());
    const std::array<Bytes, 1> parts{std::as_bytes(std::span(&root, 1))};
    log_.append(space, {RecordKind::pages_freed, nullptr, nullptr, nullptr, id}, parts);
    static_cast<PooledTree<Pool>&>(*tree).tree().abandon();
    tree.reset();
    pool_->store().mark_free(root);
    return {};
  }

  std::unique_ptr<Pool> pool_;
  TreeLog& log_;
  GhostKeeper& ghosts_;
};

template <class Pool, class... More>
std::unique_ptr<TreeFactory> make(FrameArena arena, PageStore& store, TreeLog& log,
                                  GhostKeeper& ghosts, More... more) {
  return std::make_unique<PooledTreeFactory<Pool>>(
      std::make_unique<Pool>(std::move(arena), store, node_layout(), more...), log, ghosts);
}

Result<> check_replacement(const EngineOptions& options) {
  const auto refuse = [](std::string_view what, std::uint32_t value, std::string_view range) {
    return fail(sqlstate::invalid_parameter_value,
                fmt::format("{} is {}; it must be {}", what, value, range));
  };
  if (options.gclock_limit == 0) return refuse("gclock_limit", 0, "at least 1");
  if (options.cooling_percent == 0 || options.cooling_percent > 90)
    return refuse("cooling_percent", options.cooling_percent, "from 1 to 90");
  if (options.pool_partitions > 64)
    return refuse("pool_partitions", options.pool_partitions, "at most 64");
  return {};
}

}  // namespace

void report_given_up(TreeId tree, const GivenUp& given_up) {
  if (given_up.nodes == 0) return;
  spdlog::warn(
      "{} nodes of tree {}, which goes, cannot be read: what lay below them stays in use and "
      "belongs to nobody ({})",
      given_up.nodes, raw(tree), given_up.first);
}

void report_row_given_up(TreeId tree, const Error& why) {
  spdlog::error("a change of tree {} cannot be taken back: {}", raw(tree), why.message());
}

Result<std::unique_ptr<TreeFactory>> make_tree_factory(const EngineOptions& options,
                                                       PageStore& store, TreeLog& log,
                                                       GhostKeeper& ghosts) {
  constexpr std::uint64_t kMinBytes = BufferPool::kMinFrames * Frame::kStride;
  if (options.pool_bytes < kMinBytes)
    return fail(sqlstate::invalid_parameter_value,
                fmt::format("the buffer pool has {} bytes; the minimum is {}", options.pool_bytes,
                            kMinBytes));
  if (options.pool_mode == PoolMode::main_memory && options.replacement != Replacement::clock_sweep)
    return fail(sqlstate::feature_not_supported,
                "the pool mode main_memory replaces nothing, so it has no replacement policy");
  RETURN_IF_ERROR(check_replacement(options));
  const ReplacementOptions replacement{.policy = options.replacement,
                                       .gclock_limit = options.gclock_limit,
                                       .cooling_percent = options.cooling_percent};
  const auto touch =
      options.pool_prefault ? FrameArena::Touch::at_once : FrameArena::Touch::as_used;
  ASSIGN_OR_RETURN(FrameArena arena,
                   FrameArena::map(options.pool_bytes, options.pool_partitions, touch));
  switch (options.pool_mode) {
    case PoolMode::swizzling:
      return make<SwizzlingPool>(std::move(arena), store, log, ghosts, replacement);
    case PoolMode::traditional:
      return make<TraditionalPool>(std::move(arena), store, log, ghosts, replacement);
    case PoolMode::main_memory:
      return make<MainMemoryPool>(std::move(arena), store, log, ghosts);
  }
  return fail(sqlstate::invalid_parameter_value, "unknown pool mode");
}

}  // namespace swizzle

#include "storage/directory_rebuild.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/memory/aligned_buffer.h"
#include "base/runtime/long_work.h"
#include "storage/btree/damage.h"
#include "storage/btree/leaf_stage.h"
#include "storage/btree/map_change.h"
#include "storage/btree/node.h"
#include "storage/page/page.h"
#include "storage/recovery/undo_chain.h"
#include "storage/txn/restart/restart_changes.h"

namespace swizzle {
namespace {

/// Upper bound of the levels of any tree.
constexpr std::uint8_t kMostLevels = 24;

/// A page that may be the root of a tree.
struct RootCandidate {
  PageId page;
  std::uint8_t level;
  bool is_readable;
};

/// Searches all pages in one pass for the roots of trees.
class RootSearch {
 public:
  explicit RootSearch(EngineParts& parts)
      : parts_(parts), is_referred_to_(parts.space->page_count()) {}

  Result<> look_at_all() {
    AlignedBuffer buffer(kPageBytes);
    for (std::uint64_t page = SpaceMap::kFirstPage; page < is_referred_to_.size(); ++page) {
      if (!parts_.space->is_allocated(PageId{page})) continue;
      unending_yield_point(kUnknownWork);
      auto read = parts_.store->read_page(PageId{page}, buffer.data());
      if (read)
        look_at(buffer.data());
      else if (is_unreadable(read.error()))
        RETURN_IF_ERROR(look_at_damaged(PageId{page}, buffer.data()));
      else
        return fail(std::move(read).error());
    }
    // A tree whose pages are all damaged is known only by their headers. Ignore numbers beyond all
    // others: their headers are damaged as well.
    if (trees_.empty()) return {};
    const TreeId last = *trees_.rbegin();
    for (const auto& [tree, pages] : candidates_)
      if (tree < last) trees_.insert(tree);
    return {};
  }

  /// Returns the roots ordered by tree number.
  [[nodiscard]] std::vector<TreeTable::Listed> roots() const {
    std::vector<TreeTable::Listed> found;
    for (const TreeId tree : trees_)
      if (const auto root = root_of(tree))
        found.push_back({tree, *root, TreeTable::Listed::Status::live});
    return found;
  }
  [[nodiscard]] std::vector<TreeId> lost() const {
    std::vector<TreeId> lost;
    for (const TreeId tree : trees_)
      if (!root_of(tree)) lost.push_back(tree);
    return lost;
  }

 private:
  void look_at(std::byte* bytes) {
    Node& node = Node::of(bytes);
    if (node.tree() == TreeId::directory) return;
    trees_.insert(node.tree());
    node.for_each_ref([this](PageRef* ref) {
      const std::uint64_t page = raw(load_ref(ref).page());
      if (page < is_referred_to_.size()) is_referred_to_[page] = true;
    });
    if (node.low_fence().empty() && node.chain_high_fence().is_infinite())
      candidates_[node.tree()].push_back({node.id(), node.level(), true});
  }

  /// Notes a damaged page under the tree that its header names, if that is plausible.
  Result<> look_at_damaged(PageId page, std::byte* bytes) {
    std::fill_n(bytes, kPageBytes, std::byte{});
    // The error is known already; the call reads the page.
    static_cast<void>(parts_.volume->read_page(page, bytes));
    const auto header = load<PageHeader>(bytes);
    if (header.id != page || header.kind != PageKind::node || header.level > kMostLevels) return {};
    if (header.tree != TreeId::directory)
      candidates_[header.tree].push_back({page, header.level, false});
    return {};
  }

  /// Returns the highest page without a reference to it; none if there is none or more than one.
  [[nodiscard]] std::optional<PageId> root_of(TreeId tree) const {
    const auto found = candidates_.find(tree);
    if (found == candidates_.end()) return std::nullopt;
    std::vector<RootCandidate> tops;
    for (const RootCandidate& one : found->second)
      if (!is_referred_to_[raw(one.page)]) tops.push_back(one);
    // A damaged header may name the wrong tree: prefer readable pages.
    if (std::ranges::any_of(tops, &RootCandidate::is_readable))
      std::erase_if(tops, [](const RootCandidate& one) { return !one.is_readable; });
    if (tops.empty()) return std::nullopt;
    const std::uint8_t highest = std::ranges::max(tops, {}, &RootCandidate::level).level;
    std::erase_if(tops, [highest](const RootCandidate& one) { return one.level < highest; });
    return tops.size() == 1 ? std::optional{tops.front().page} : std::nullopt;
  }

  EngineParts& parts_;
  std::vector<bool> is_referred_to_;
  std::set<TreeId> trees_;
  std::map<TreeId, std::vector<RootCandidate>> candidates_;
};

Result<> fill(AnyTree& directory, const std::vector<TreeTable::Listed>& rows) {
  LeafStage stage;
  const auto append = [&directory](const LeafContent& content) {
    return directory.append_leaf(content);
  };
  for (const TreeTable::Listed& row : rows) {
    const auto key = directory_key(row.id);
    const auto value = directory_value(row.root);
    ASSIGN_OR_RETURN(const bool added, stage.add({key, value, false}, append));
    INVARIANT(added);
  }
  return stage.finish(append);
}

/// Returns the trees that the transaction has dropped, as far as that is not undone.
Result<> add_dropped(EngineParts& parts, const ActiveTransaction& of, std::set<TreeId>& dropped) {
  wal::Reader reader = parts.log->reader(wal::ReadPattern::random);
  UndoChain steps(reader, of.last);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<UndoStep> step, steps.next());
    if (!step) return {};
    if (step->tree != TreeId::directory || step->kind == RecordKind::page_image) continue;
    ASSIGN_OR_RETURN(const std::vector<UndoneRow> rows, rows_of(*step));
    for (const UndoneRow& row : rows)
      if (row.action == LeafChange::Action::insert && row.key.size() == sizeof(std::uint32_t))
        dropped.insert(tree_of_directory_key(row.key));
  }
}

/// Makes ghosts of the rows of dropped trees.
Result<> hide_dropped(AnyTree& directory, const std::set<TreeId>& dropped) {
  for (const TreeId tree : dropped) {
    MapChange removal(LeafChange::Action::remove, {});
    const auto key = directory_key(tree);
    RETURN_IF_ERROR(directory.change(key, nullptr, removal));
  }
  return {};
}

}  // namespace

Result<> rebuild_directory(EngineParts& parts,
                           std::span<const std::span<const ActiveTransaction>> unended) {
  spdlog::warn("reading all pages to find the trees");
  // Redo everything and clean, so that the file has the current pages.
  RETURN_IF_ERROR(parts.redo->finish());
  RETURN_IF_ERROR(parts.cleaner->clean_until(parts.log->tail()));
  std::set<TreeId> dropped;
  for (const auto& transactions : unended)
    for (const ActiveTransaction& one : transactions)
      RETURN_IF_ERROR(add_dropped(parts, one, dropped));
  RootSearch search(parts);
  RETURN_IF_ERROR(search.look_at_all());
  const auto rows = search.roots();
  Control control = parts.control->current();
  ASSIGN_OR_RETURN(control.directory_root, parts.trees->create_directory());
  RETURN_IF_ERROR(fill(parts.trees->directory(), rows));
  RETURN_IF_ERROR(hide_dropped(parts.trees->directory(), dropped));
  parts.log->flush_to(parts.log->tail());
  RETURN_IF_ERROR(parts.control->write(control));
  const auto lost = search.lost();
  spdlog::warn("the tree of trees is made anew: {} trees found, {} lost", rows.size(), lost.size());
  for (const TreeId tree : lost)
    spdlog::warn("tree {} is lost: the page where it begins cannot be read", raw(tree));
  return parts.trees->open_directory(control.directory_root);
}

}  // namespace swizzle

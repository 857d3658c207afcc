#include <fmt/format.h>

#include <algorithm>

#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/txn/loads/tree_factory.h"
#include "storage/txn/rows/leaf_scan.h"

namespace swizzle {
namespace {

/// A tree's id plus one ends the key range of its large values.
constexpr std::uint32_t kEndOfTreeIds = UINT32_MAX - 1;

/// Collects every row of the directory, ghosts too.
class DirectoryRows final : public LeafVisitor {
 public:
  void visit(const Node& leaf, Node::Position /*at*/) noexcept override {
    rows_.clear();
    for (std::uint16_t i = 0; i < leaf.count(); ++i) {
      std::array<std::byte, Node::kMaxKeyBytes> key;
      const std::size_t size = leaf.copy_key(i, key.data());
      const Bytes value = leaf.value(i);
      if (size != sizeof(std::uint32_t) || value.size() != sizeof(std::uint64_t)) continue;
      using Status = TreeTable::Listed::Status;
      rows_.push_back({TreeId{load_big_endian<std::uint32_t>(key.data())},
                       PageId{load<std::uint64_t>(value.data())},
                       leaf.is_ghost(i) ? Status::dropped : Status::live});
    }
    const KeyBound high = leaf.high_fence();
    next_.reset();
    if (!high.is_infinite()) next_.emplace(high.key.begin(), high.key.end());
  }
  [[nodiscard]] const std::vector<TreeTable::Listed>& rows() const noexcept { return rows_; }
  [[nodiscard]] const std::optional<std::vector<std::byte>>& next() const noexcept { return next_; }

 private:
  std::vector<TreeTable::Listed> rows_;
  std::optional<std::vector<std::byte>> next_;
};

/// Reads the newest row of one tree, committed or not: the caller knows that it may use the tree.
class DirectoryRow final : public LeafVisitor {
 public:
  enum class Ghosts : std::uint8_t { count, do_not_count };
  explicit DirectoryRow(Ghosts ghosts) noexcept : ghosts_(ghosts) {}
  void visit(const Node& leaf, Node::Position at) noexcept override {
    root = PageId::none;
    if (!at.exact || leaf.value(at.index).size() != sizeof(std::uint64_t)) return;
    if (ghosts_ == Ghosts::count || !leaf.is_ghost(at.index))
      root = PageId{load<std::uint64_t>(leaf.value(at.index).data())};
  }
  PageId root = PageId::none;

 private:
  Ghosts ghosts_;
};

/// Reads the last key of a leaf, also a ghost's or an uncommitted one.
class LastKeyOfLeaf final : public LeafVisitor {
 public:
  void visit(const Node& leaf, Node::Position at) noexcept override {
    key.clear();
    const Bytes low = leaf.low_fence();
    low_fence.assign(low.begin(), low.end());
    if (at.index == 0) return;
    std::array<std::byte, Node::kMaxKeyBytes> bytes;
    const std::size_t size = leaf.copy_key(static_cast<std::uint16_t>(at.index - 1), bytes.data());
    key.assign(bytes.data(), bytes.data() + size);
  }
  std::vector<std::byte> key;
  std::vector<std::byte> low_fence;
};

}  // namespace

std::array<std::byte, 4> directory_key(TreeId tree) noexcept {
  std::array<std::byte, 4> key;
  store_big_endian(key.data(), raw(tree));
  return key;
}

TreeId tree_of_directory_key(Bytes key) noexcept {
  return TreeId{load_big_endian<std::uint32_t>(key.data())};
}

std::array<std::byte, 8> directory_value(PageId root) noexcept {
  std::array<std::byte, 8> value;
  store(value.data(), raw(root));
  return value;
}

Result<PageId> TreeTable::create_directory() {
  ASSIGN_OR_RETURN(directory_, factory_->create(TreeId::directory, nullptr));
  return directory_->root_page();
}

Result<> TreeTable::open_directory(PageId root) {
  if (directory_ == nullptr) {
    ASSIGN_OR_RETURN(directory_, factory_->open(TreeId::directory, root));
  }
  ASSIGN_OR_RETURN(const std::vector<Listed> rows, list());
  std::uint32_t last = 0;
  for (const Listed& row : rows) last = std::max(last, raw(row.id));
  number_from(TreeId{std::min(last, kEndOfTreeIds - 1) + 1});
  return {};
}

Result<TreeId> TreeTable::next_id() {
  std::uint32_t id = next_id_.load();
  do {
    if (id >= kEndOfTreeIds)
      return fail(Error{sqlstate::program_limit_exceeded,
                        "the database cannot have more trees: their numbers are used up"}
                      .with_hint("Each table, index and TRUNCATE takes one. Dump the database and "
                                 "restore it into a new one."));
  } while (!next_id_.compare_exchange_weak(id, id + 1));
  return TreeId{id};
}

Result<std::vector<TreeTable::Listed>> TreeTable::list() {
  std::vector<Listed> all;
  DirectoryRows rows;
  std::vector<std::byte> from(1);
  while (true) {
    RETURN_IF_ERROR(directory_->read(from, rows));
    all.insert(all.end(), rows.rows().begin(), rows.rows().end());
    if (!rows.next()) return all;
    from = *rows.next();
  }
}

/// True if no snapshot may read the tree any more. Pre: mutex_ is held.
bool TreeTable::is_leaving(TreeId id) const noexcept {
  if (retired_count_.load(std::memory_order_relaxed) == 0) return false;
  const auto retired = retired_.find(id);
  return leaving_.contains(id) || (retired != retired_.end() && retired->second == Lsn::none);
}

Result<> TreeTable::forget_replaced() {
  std::vector<TreeId> replaced;
  for (const auto& [id, tree] : open_) {
    DirectoryRow row(DirectoryRow::Ghosts::count);
    const auto key = directory_key(id);
    RETURN_IF_ERROR(directory_->read(key, row));
    if (row.root != tree->root_page()) replaced.push_back(id);
  }
  const std::lock_guard hold(mutex_);
  for (const TreeId id : replaced) {
    const auto at = open_.find(id);
    replaced_.push_back(std::move(at->second));
    open_.erase(at);
  }
  return {};
}

Result<AnyTree*> TreeTable::find(TreeId id) {
  if (id == TreeId::directory) return directory_.get();
  {
    const std::shared_lock hold(mutex_);
    const auto found = open_.find(id);
    if (found != open_.end() && !is_leaving(id)) return found->second.get();
  }
  DirectoryRow row(DirectoryRow::Ghosts::do_not_count);
  const auto key = directory_key(id);
  RETURN_IF_ERROR(directory_->read(key, row));
  if (row.root == PageId::none)
    return fail(sqlstate::internal_error, fmt::format("there is no tree {}", raw(id)));
  ASSIGN_OR_RETURN(auto tree, factory_->open(id, row.root));
  const std::unique_lock hold(mutex_);
  return open_.try_emplace(id, std::move(tree)).first->second.get();
}

AnyTree* TreeTable::find_open(TreeId id) const {
  if (id == TreeId::directory) return directory_.get();
  const std::shared_lock hold(mutex_);
  const auto found = open_.find(id);
  return found != open_.end() && !is_leaving(id) ? found->second.get() : nullptr;
}

Result<AnyTree*> TreeTable::create(TreeId id, TransactionChain& creator) {
  ASSIGN_OR_RETURN(auto tree, factory_->create(id, &creator));
  const std::unique_lock hold(mutex_);
  return open_.try_emplace(id, std::move(tree)).first->second.get();
}

Result<> TreeTable::destroy(TreeId id, PageId root, const GoesOn& goes_on) {
  std::unique_ptr<AnyTree> tree;
  {
    const std::unique_lock hold(mutex_);
    if (auto node = open_.extract(id)) tree = std::move(node.mapped());
  }
  if (tree == nullptr) {
    if (!factory_->is_allocated(root)) return {};
    ASSIGN_OR_RETURN(tree, open_if_owner(id, root));
    if (tree == nullptr) return {};
  }
  // Wait until the tidier has left the tree, which it cannot find any more.
  tidier_.await_visit();
  auto destroyed = factory_->destroy(tree, goes_on);
  if (destroyed) {
    factory_->pool().reads_by_tree().forget(id);
    return {};
  }
  // It was not emptied; another attempt will continue.
  const std::unique_lock hold(mutex_);
  open_.try_emplace(id, std::move(tree));
  return destroyed;
}

Result<bool> TreeTable::finds_dropped(TreeId id, PageId root) {
  if (!factory_->is_allocated(root)) return false;
  {
    const std::shared_lock hold(mutex_);
    if (open_.contains(id)) return true;
  }
  // Now, since later the page may belong to another, open tree.
  ASSIGN_OR_RETURN(auto tree, open_if_owner(id, root));
  if (tree == nullptr) return false;
  const std::unique_lock hold(mutex_);
  open_.try_emplace(id, std::move(tree));
  return true;
}

/// Opens the tree if the page is still its root. Returns null if the page has been reused for
/// another tree, or its owner is unknown.
Result<std::unique_ptr<AnyTree>> TreeTable::open_if_owner(TreeId id, PageId root) {
  // The page may be in memory as another tree's, whose parent has its address: a second copy must
  // not come in, and the one on disk may be older.
  if (const auto owner = factory_->pool().owner_in_memory(root); owner && *owner != id)
    return nullptr;
  ASSIGN_OR_RETURN(auto tree, factory_->open(id, root));
  auto owner = tree->owner_of_root();
  if (!owner && is_unreadable(owner.error())) {
    // The page's owner is unknown: all of the tree stays in use.
    report_given_up(id, {.nodes = 1, .first = owner.error().message()});
    return nullptr;
  }
  if (!owner) return fail(std::move(owner).error());
  if (*owner != id) tree.reset();
  return tree;
}

Result<bool> Engine::greatest_key(TreeId id, ValueBuffer& into) {
  const TreeTable::Hold hold(*parts_->trees);
  ASSIGN_OR_RETURN(AnyTree* const tree, parts_->trees->find(id));
  if (tree->birth().is_loading()) return false;
  LastKeyOfLeaf last;
  std::vector<std::byte> before;
  KeyBound bound = KeyBound::infinite();
  while (true) {
    RETURN_IF_ERROR(tree->read_below(bound, last));
    if (!last.key.empty()) break;
    // The leaf is empty, so the key may be in the one before.
    if (last.low_fence.empty()) return false;
    before = last.low_fence;
    bound = KeyBound::at(before);
  }
  const MutableBytes to = into.prepare(last.key.size());
  std::ranges::copy(last.key, to.begin());
  return true;
}

Result<> TreeTable::destroy_row(Bytes key, const GoesOn& goes_on) {
  DirectoryRow row(DirectoryRow::Ghosts::count);
  RETURN_IF_ERROR(directory_->read(key, row));
  if (row.root == PageId::none) return {};
  return destroy(tree_of_directory_key(key), row.root, goes_on);
}

Result<> TreeTable::destroy_dropped(TreeId id, const GoesOn& goes_on) {
  const auto key = directory_key(id);
  return destroy_row(key, goes_on);
}

Result<> TreeTable::destroy_created(Bytes key) {
  return destroy_row(key, {});
}

void TreeTable::retire(TreeId id, Lsn dropped_at) {
  const std::unique_lock hold(mutex_);
  retired_.insert_or_assign(id, dropped_at);
  leaving_.erase(id);
  count_retired();
}

void TreeTable::gone(TreeId id) noexcept {
  const std::unique_lock hold(mutex_);
  retired_.erase(id);
  leaving_.erase(id);
  count_retired();
}

bool TreeTable::is_needed(Bytes key) const noexcept {
  if (!has_retired() || key.size() != sizeof(std::uint32_t)) return false;
  const TreeId id = tree_of_directory_key(key);
  const std::shared_lock hold(mutex_);
  return retired_.contains(id) || leaving_.contains(id);
}

bool TreeTable::has_due(Lsn horizon) const {
  const std::shared_lock hold(mutex_);
  const auto is_due = [&](const auto& tree) { return horizon >= tree.second; };
  return !leaving_.empty() || (holds_ == 0 && std::ranges::any_of(retired_, is_due));
}

void TreeTable::change_holds(int by) {
  const std::unique_lock hold(mutex_);
  holds_ += by;
}

std::vector<TreeId> TreeTable::take_due(Lsn horizon) {
  std::vector<TreeId> due;
  const std::unique_lock hold(mutex_);
  if (holds_ != 0) return due;
  std::erase_if(retired_, [&](const auto& tree) {
    if (horizon < tree.second) return false;
    due.push_back(tree.first);
    leaving_.insert(tree.first);
    return true;
  });
  count_retired();
  return due;
}

}  // namespace swizzle

#include "bench/baselines/latched_tree.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace swizzle::bench {
namespace {

constexpr std::size_t kPage = 8192;
constexpr std::size_t kHeader = 64;
constexpr std::size_t kBranchCapacity = (kPage - kHeader) / 16;

}  // namespace

struct LatchedTree::Page {
  std::shared_mutex latch;
  bool is_leaf = true;
  std::vector<std::uint64_t> keys;
  std::vector<std::byte> values;                ///< of leaves, in key order
  std::vector<std::unique_ptr<Page>> children;  ///< of branches; one more than keys

  [[nodiscard]] std::size_t child_of(std::uint64_t key) const {
    return static_cast<std::size_t>(std::upper_bound(keys.begin(), keys.end(), key) - keys.begin());
  }
};

LatchedTree::LatchedTree(std::size_t value_bytes)
    : value_bytes_(value_bytes),
      leaf_capacity_((kPage - kHeader) / (8 + value_bytes)),
      root_(std::make_unique<Page>()) {}

LatchedTree::~LatchedTree() = default;

bool LatchedTree::insert(std::uint64_t key, Bytes value) {
  switch (try_optimistically(key, value)) {
    case Attempt::inserted:
      return true;
    case Attempt::duplicate:
      return false;
    case Attempt::leaf_full:
      return insert_pessimistically(key, value);
  }
  return false;
}

LatchedTree::Attempt LatchedTree::try_optimistically(std::uint64_t key, Bytes value) {
  const std::shared_lock index(index_latch_);
  // is_leaf never changes, so read it before choosing the latch mode.
  Page* page = root_.get();
  std::shared_lock<std::shared_mutex> held;
  while (!page->is_leaf) {
    std::shared_lock next(page->latch);
    held.swap(next);
    page = page->children[page->child_of(key)].get();
  }
  const std::unique_lock leaf(page->latch);
  return put(*page, key, value);
}

bool LatchedTree::insert_pessimistically(std::uint64_t key, Bytes value) {
  const std::unique_lock index(index_latch_);
  counters_.index_exclusive.fetch_add(1, std::memory_order_relaxed);
  std::vector<Page*> path;
  Page* page = root_.get();
  while (!page->is_leaf) {
    path.push_back(page);
    page = page->children[page->child_of(key)].get();
  }
  const std::unique_lock leaf(page->latch);
  const Attempt again = put(*page, key, value);
  if (again != Attempt::leaf_full) return again == Attempt::inserted;
  Split split = split_leaf(*page);
  counters_.splits.fetch_add(1, std::memory_order_relaxed);
  const bool inserted =
      put(key < split.separator ? *page : *split.right, key, value) == Attempt::inserted;
  add_separator(path, std::move(split));
  return inserted;
}

LatchedTree::Attempt LatchedTree::put(Page& leaf, std::uint64_t key, Bytes value) const {
  const auto at = std::lower_bound(leaf.keys.begin(), leaf.keys.end(), key);
  if (at != leaf.keys.end() && *at == key) return Attempt::duplicate;
  if (leaf.keys.size() == leaf_capacity_) return Attempt::leaf_full;
  const auto index = at - leaf.keys.begin();
  leaf.keys.insert(at, key);
  leaf.values.insert(leaf.values.begin() + index * static_cast<std::ptrdiff_t>(value_bytes_),
                     value.begin(), value.end());
  return Attempt::inserted;
}

LatchedTree::Split LatchedTree::split_leaf(Page& leaf) const {
  auto right = std::make_unique<Page>();
  const std::size_t half = leaf.keys.size() / 2;
  const auto middle = static_cast<std::ptrdiff_t>(half);
  right->keys.assign(leaf.keys.begin() + middle, leaf.keys.end());
  right->values.assign(leaf.values.begin() + middle * static_cast<std::ptrdiff_t>(value_bytes_),
                       leaf.values.end());
  leaf.keys.resize(half);
  leaf.values.resize(half * value_bytes_);
  const std::uint64_t separator = right->keys.front();
  return {separator, std::move(right)};
}

LatchedTree::Split LatchedTree::split_branch(Page& branch) {
  auto right = std::make_unique<Page>();
  right->is_leaf = false;
  const std::size_t half = branch.keys.size() / 2;
  const std::uint64_t separator = branch.keys[half];
  const auto middle = static_cast<std::ptrdiff_t>(half);
  right->keys.assign(branch.keys.begin() + middle + 1, branch.keys.end());
  for (std::size_t i = half + 1; i < branch.children.size(); ++i) {
    right->children.push_back(std::move(branch.children[i]));
  }
  branch.keys.resize(half);
  branch.children.resize(half + 1);
  return {separator, std::move(right)};
}

// Inserts the separators of a split into its ancestors. Pre: the index latch is held exclusively.
void LatchedTree::add_separator(std::vector<Page*>& path, Split split) {
  while (!path.empty()) {
    Page& branch = *path.back();
    path.pop_back();
    const std::unique_lock hold(branch.latch);
    counters_.branch_exclusive.fetch_add(1, std::memory_order_relaxed);
    const auto index = static_cast<std::ptrdiff_t>(branch.child_of(split.separator));
    branch.keys.insert(branch.keys.begin() + index, split.separator);
    branch.children.insert(branch.children.begin() + index + 1, std::move(split.right));
    if (branch.keys.size() < kBranchCapacity) return;
    split = split_branch(branch);
  }
  auto root = std::make_unique<Page>();
  root->is_leaf = false;
  root->keys.push_back(split.separator);
  root->children.push_back(std::move(root_));
  root->children.push_back(std::move(split.right));
  root_ = std::move(root);
}

}  // namespace swizzle::bench

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/btree/btree.h"
#include "storage/txn/loads/tree_birth.h"

namespace swizzle {

/// Looks at a leaf. Runs inside an optimistic read: it copies out, may run again, and the result of
/// its last run counts.
class LeafVisitor {
 public:
  LeafVisitor() = default;
  LeafVisitor(const LeafVisitor&) = delete;
  LeafVisitor& operator=(const LeafVisitor&) = delete;
  virtual ~LeafVisitor() = default;
  virtual void visit(const Node& leaf, Node::Position at) noexcept = 0;
};

/// A tree of whatever pool mode the engine runs with.
class AnyTree {
 public:
  AnyTree() = default;
  AnyTree(const AnyTree&) = delete;
  AnyTree& operator=(const AnyTree&) = delete;
  virtual ~AnyTree() = default;

  [[nodiscard]] virtual TreeId id() const noexcept = 0;
  [[nodiscard]] virtual PageId root_page() const noexcept = 0;
  virtual Result<> read(Bytes key, LeafVisitor& visitor, Interest interest = Interest::keep,
                        LeafHint* hint = nullptr) = 0;
  /// BTree::prefetch().
  virtual std::size_t prefetch(std::span<const Bytes> keys,
                               std::span<LeafHint> leaves) noexcept = 0;
  virtual Result<> read_below(const KeyBound& bound, LeafVisitor& visitor,
                              Interest interest = Interest::keep) = 0;
  virtual Result<LeavesAhead> read_ahead(Bytes key, std::uint32_t most, Interest interest) = 0;
  virtual Result<LeavesAhead> read_ahead_below(const KeyBound& bound, std::uint32_t most,
                                               Interest interest) = 0;
  virtual Result<WantedAhead> read_ahead_of(Bytes key, std::uint8_t level,
                                            std::span<const PageId> wanted) = 0;
  [[nodiscard]] virtual BufferPool& pool() noexcept = 0;
  virtual Result<> change(Bytes key, TransactionChain* transaction, LeafChange& change,
                          LeafHint* hint = nullptr) = 0;
  virtual Result<> remove(LeafRemovals& removals, TransactionChain* transaction,
                          LeafHint* hint) = 0;
  virtual Result<> tidy(Bytes key) = 0;
  virtual Result<PageId> doubt_leaf(Bytes key) = 0;
  virtual Result<TidiedLeaf> tidy_leaf(Bytes key, TidyEffort effort, LeafCopy& copy) = 0;
  virtual Result<bool> is_leaf_absent(Bytes key) = 0;
  virtual Result<std::vector<std::string>> verify() = 0;
  virtual Result<std::vector<PageId>> pages() = 0;
  virtual Result<std::uint64_t> count_pages(Bytes low, const KeyBound& high) = 0;
  virtual Result<std::optional<std::vector<std::byte>>> behind_unreadable(Bytes key) = 0;
  virtual Result<bool> is_blank() = 0;
  virtual Result<> append_leaf(const LeafContent& content) = 0;
  virtual Result<GivenUp> clear(const GoesOn& goes_on = {}) = 0;
  virtual Result<DiscardedLeaf> discard(Bytes low, Bytes high) = 0;
  virtual Result<TreeId> owner_of_root() = 0;

  [[nodiscard]] TreeBirth& birth() noexcept { return birth_; }

 private:
  TreeBirth birth_;
};

template <class Pool>
class PooledTree final : public AnyTree {
 public:
  explicit PooledTree(std::unique_ptr<BTree<Pool>> tree) noexcept : tree_(std::move(tree)) {}
  [[nodiscard]] BTree<Pool>& tree() noexcept { return *tree_; }

  [[nodiscard]] TreeId id() const noexcept override { return tree_->id(); }
  [[nodiscard]] PageId root_page() const noexcept override { return tree_->root_page(); }
  Result<> read(Bytes key, LeafVisitor& visitor, Interest interest, LeafHint* hint) override {
    return tree_->read(
        key, [&](const Node& leaf, Node::Position at) { visitor.visit(leaf, at); }, interest, hint);
  }
  std::size_t prefetch(std::span<const Bytes> keys, std::span<LeafHint> leaves) noexcept override {
    return tree_->prefetch(keys, leaves);
  }
  Result<> read_below(const KeyBound& bound, LeafVisitor& visitor, Interest interest) override {
    return tree_->read_below(
        bound, [&](const Node& leaf, Node::Position at) { visitor.visit(leaf, at); }, interest);
  }
  Result<LeavesAhead> read_ahead(Bytes key, std::uint32_t most, Interest interest) override {
    return tree_->read_ahead(key, most, interest);
  }
  Result<LeavesAhead> read_ahead_below(const KeyBound& bound, std::uint32_t most,
                                       Interest interest) override {
    return tree_->read_ahead_below(bound, most, interest);
  }
  Result<WantedAhead> read_ahead_of(Bytes key, std::uint8_t level,
                                    std::span<const PageId> wanted) override {
    return tree_->read_ahead_of(key, level, wanted);
  }
  [[nodiscard]] BufferPool& pool() noexcept override { return tree_->pool(); }
  Result<> change(Bytes key, TransactionChain* transaction, LeafChange& change,
                  LeafHint* hint) override {
    return tree_->change(key, transaction, change, hint);
  }
  Result<> remove(LeafRemovals& removals, TransactionChain* transaction, LeafHint* hint) override {
    return tree_->remove(removals, transaction, hint);
  }
  Result<> tidy(Bytes key) override { return tree_->tidy(key); }
  Result<PageId> doubt_leaf(Bytes key) override { return tree_->doubt_leaf(key); }
  Result<TidiedLeaf> tidy_leaf(Bytes key, TidyEffort effort, LeafCopy& copy) override {
    return tree_->tidy_leaf(key, effort, copy);
  }
  Result<bool> is_leaf_absent(Bytes key) override { return tree_->is_leaf_absent(key); }
  Result<std::vector<std::string>> verify() override { return tree_->verify(); }
  Result<std::vector<PageId>> pages() override { return tree_->pages(); }
  Result<std::uint64_t> count_pages(Bytes low, const KeyBound& high) override {
    return tree_->count_pages(low, high);
  }
  Result<std::optional<std::vector<std::byte>>> behind_unreadable(Bytes key) override {
    return tree_->behind_unreadable(key);
  }
  Result<bool> is_blank() override { return tree_->is_blank(); }
  Result<> append_leaf(const LeafContent& content) override { return tree_->append_leaf(content); }
  Result<GivenUp> clear(const GoesOn& goes_on) override { return tree_->clear(goes_on); }
  Result<DiscardedLeaf> discard(Bytes low, Bytes high) override {
    return tree_->discard(low, high);
  }
  Result<TreeId> owner_of_root() override { return tree_->owner_of_root(); }

 private:
  std::unique_ptr<BTree<Pool>> tree_;
};

/// Makes trees over the engine's pool.
class TreeFactory {
 public:
  TreeFactory() = default;
  TreeFactory(const TreeFactory&) = delete;
  TreeFactory& operator=(const TreeFactory&) = delete;
  virtual ~TreeFactory() = default;
  /// The root is allocated by a record of `creator`, if there is one: undoing that frees it.
  virtual Result<std::unique_ptr<AnyTree>> create(TreeId id, TransactionChain* creator) = 0;
  virtual Result<std::unique_ptr<AnyTree>> open(TreeId id, PageId root) = 0;
  [[nodiscard]] virtual BufferPool& pool() noexcept = 0;
  [[nodiscard]] virtual bool is_allocated(PageId page) noexcept = 0;
  /// Frees every page of the tree and destroys `tree`; after an error it still exists, perhaps
  /// smaller. Pre: the tree is not in use.
  virtual Result<> destroy(std::unique_ptr<AnyTree>& tree, const GoesOn& goes_on) = 0;
};

}  // namespace swizzle

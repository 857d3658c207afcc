#pragma once

#include "storage/txn/rows/any_tree.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// Copies out the version of one record that a transaction sees.
class PointRead final : public LeafVisitor {
 public:
  enum class Which : std::uint8_t {
    visible,  ///< by the transaction's snapshot
    newest,   ///< the transaction has locked the key's value
    /// The same, but without the statement's own writes.
    newest_before_statement,
    /// The committed version, or the transaction's own. The transaction has locked only the key's
    /// existence, so another one may be changing the record.
    committed,
  };
  PointRead(TransactionState& transaction, TreeId tree, Bytes key, Which which,
            ValueBuffer& into) noexcept
      : transaction_(transaction), tree_(tree), key_(key), which_(which), into_(into) {}

  void visit(const Node& leaf, Node::Position at) noexcept override;

  /// Reads the record from `tree`. Returns false if there is none.
  Result<bool> run(AnyTree& tree);
  /// True if the value is an address in the overflow tree.
  [[nodiscard]] bool is_overflow() const noexcept { return overflow_; }
  /// Returns the leaf where the key is, or would be.
  [[nodiscard]] PageId leaf() const noexcept { return leaf_; }

  /// Call after locking the key: holder() then names a transaction whose change of the key excludes
  /// access `wanted`, if there is one.
  void expect_marks(lock::Access wanted) noexcept { wanted_ = wanted; }
  /// If it returns a transaction, nothing has been read.
  [[nodiscard]] const std::optional<lock::TransactionLock>& holder() const noexcept {
    return holder_;
  }

 private:
  [[nodiscard]] bool is_swapped_out(const Node& leaf) noexcept;
  bool read_back();
  void mark(const Node& leaf, Node::Position at) noexcept;
  void take(Bytes value, bool overflow) noexcept;
  bool is_in_leaf(const Node& leaf) noexcept;
  Result<> read_visible(AnyTree& tree);

  TransactionState& transaction_;
  TreeId tree_;
  Bytes key_;
  Which which_;
  TransactionState::TreeView view_ = TransactionState::TreeView::whole;
  ValueBuffer& into_;
  bool found_ = false;
  PageId leaf_ = PageId::none;
  Lsn commit_ = Lsn::none;
  bool too_old_ = false;
  bool overflow_ = false;
  lock::Access wanted_ = lock::Access::none;
  std::optional<lock::TransactionLock> holder_;
  /// True if a version of the key must be paged in first.
  bool is_swapped_out_ = false;
  unsigned reads_back_ = 0;
};

}  // namespace swizzle

#pragma once

#include "storage/txn/rows/any_tree.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// Access to the handles' private state, for the code of this folder.
struct TransactionAccess {
  static TransactionState& state(Transaction& transaction) noexcept { return *transaction.state_; }
  static std::unique_ptr<Transaction> begin(EngineParts& engine,
                                            Isolation isolation = Isolation::read_committed,
                                            Access access = Access::read_write);
  static Result<std::unique_ptr<Transaction>> try_begin(EngineParts& engine, Isolation isolation,
                                                        Access access, TransactionPlace place);
  static AnyTree* any_tree(const Tree& tree) noexcept { return static_cast<AnyTree*>(tree.tree_); }
  static std::unique_ptr<Transaction> handle(std::unique_ptr<TransactionState> state);
  static Tree handle(AnyTree& tree) noexcept { return Tree(tree.id(), &tree); }
};

}  // namespace swizzle

#pragma once

#include "storage/txn/any_tree.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// The insides of the façade's handles, for the code of this folder.
struct TransactionAccess {
  static TransactionState& state(Transaction& transaction) noexcept { return *transaction.state_; }
  static Tree handle(AnyTree& tree) noexcept { return Tree(tree.id(), &tree); }
};

}  // namespace swizzle

#pragma once

#include <array>

#include "storage/txn/rows/any_tree.h"
#include "storage/txn/rows/point_read.h"
#include "storage/txn/tidying/key_ranges.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// The tree of large values, in chunks keyed by owning tree, value and chunk number. A value is
/// written once and never changed, so a reader that sees its address sees its chunks.
inline constexpr TreeId kOverflowTree{1};

/// Returns true if a record of this size is too large for a leaf: its value then goes to the
/// overflow tree.
inline bool is_too_large_inline(Bytes key, Bytes value) noexcept {
  return key.size() + value.size() > Node::kMaxInlineBytes;
}
/// Returns 54000 for a record that is too large for any tree.
Result<> check_record(Bytes key, Bytes value);

/// Numbers are never reused: they consist of the writer's transaction id and the ordinal of its
/// large value. The 64 bits of `value` have room for 40 and 24 bits of these two; further bits,
/// usually none, are in `beyond`.
struct OverflowAddress {
  std::uint64_t value;
  std::uint32_t size;
  std::uint32_t beyond;

  /// Makes the address of the `ordinal`th large value of a transaction. 54000 when the number is
  /// too large.
  static Result<OverflowAddress> make(TxnId writer, std::uint64_t ordinal, std::uint64_t size);
};
using StoredAddress = std::array<std::byte, sizeof(OverflowAddress)>;
static_assert(sizeof(StoredAddress) == 16);

/// Writes a large value and returns its address. 54000 when the transaction has written too many.
Result<StoredAddress> write_overflow(TransactionState& transaction, TreeId owner, Bytes value);
/// Replaces the address in `buffer` by the value. XX001 when a chunk is missing.
Result<> read_overflow(TransactionState& transaction, TreeId owner, PointRead::Which which,
                       ValueBuffer& buffer);
Result<> remove_overflow(TransactionState& transaction, TreeId owner, const StoredAddress& stored);
/// Counts the pages whose first chunk is one of the tree's.
Result<std::uint64_t> count_overflow_pages(EngineParts& engine, TreeId owner);
/// Returns the key range of the chunks of a tree's large values.
KeyRanges::Range overflow_range_of(TreeId owner);
/// Discards all overflow values of a tree, a leaf at a time, without logging them. For a tree that
/// no snapshot can read any more. May be repeated after a crash. Chunks that cannot be read stay,
/// and so do those after them; a warning tells of them.
Result<> remove_overflow_of(EngineParts& engine, TreeId owner, const GoesOn& goes_on = {});

}  // namespace swizzle

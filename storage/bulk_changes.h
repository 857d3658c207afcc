#pragma once

#include <optional>
#include <span>

#include "storage/engine.h"

namespace swizzle {

/// Prefetches, into the processor's cache, the lock and version entries that a coming change of
/// `key` needs. For callers that write many records of a tree in key order, so that the key's leaf
/// is mostly that of the keys before. There are two steps, since the contents of the first tell
/// where the rest is. Only a hint: locks nothing, waits for nothing.
enum class Fetch : std::uint8_t { places, contents };
void prefetch_change(const Tree& tree, Transaction& transaction, Bytes key, Fetch step) noexcept;

/// A record to remove.
struct Removal {
  Bytes key;
  /// Expected value, as in remove_unchanged(). None: any.
  std::optional<Bytes> seen;
};
/// Removes the first of the records, as many as one visit of a leaf can, and returns their number.
/// 0: the first one is locked by another transaction, is absent, has changed, or is too large to
/// tell; Tree::remove() or remove_unchanged() decides. Waits for no lock. Pre: the keys ascend, and
/// either all have `seen`, or none.
Result<std::size_t> remove_first(const Tree& tree, Transaction& transaction,
                                 std::span<const Removal> removals);

/// Removes the record if it still has the value in the transaction's snapshot: locks, compares and
/// changes it at one visit of its leaf. Returns false, without a change, if it may have changed,
/// may be gone, or is too large to compare: lock it (ReadMode) and look then. May wait, and fails,
/// as Tree::remove() does.
Result<bool> remove_unchanged(const Tree& tree, Transaction& transaction, Bytes key, Bytes seen);

}  // namespace swizzle

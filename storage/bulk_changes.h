#pragma once

#include <optional>
#include <span>

#include "storage/engine.h"

namespace swizzle {

/// For whoever is about to write many records of a tree in key order: has what the processor will
/// want for the lock and the versions of a key that comes soon fetched from memory, in two steps,
/// since what the first one brings tells where the rest is. Its leaf is the one that those before
/// it are in, as a rule. A hint: locks nothing, waits for nothing.
enum class Fetch : std::uint8_t { places, contents };
void prefetch_change(const Tree& tree, Transaction& transaction, Bytes key, Fetch step) noexcept;

/// A record that somebody wants to remove.
struct Removal {
  Bytes key;
  /// As in remove_unchanged(). None: whatever it has.
  std::optional<Bytes> seen;
};
/// Removes the first of the records, as many as one visit of a leaf does, and returns their number.
/// 0: the first one is somebody else's, is not there, is another one by now, or is too large to
/// tell; Tree::remove() or remove_unchanged() knows. Waits for no lock. Pre: the keys ascend, and
/// either all say what has been seen, or none.
Result<std::size_t> remove_first(const Tree& tree, Transaction& transaction,
                                 std::span<const Removal> removals);

/// Removes the record if it still has the value that the transaction's snapshot showed: locked,
/// compared and changed at one visit of its leaf. False: it may be another one by now, or gone, or
/// it is too large to tell; nothing is done, and whoever wants to know locks it (ReadMode) and
/// looks. May wait, and fails, as Tree::remove() does.
Result<bool> remove_unchanged(const Tree& tree, Transaction& transaction, Bytes key, Bytes seen);

}  // namespace swizzle

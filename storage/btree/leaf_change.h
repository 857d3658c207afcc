#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/ids.h"
#include "storage/btree/node.h"

namespace swizzle {

/// Change of the record of one key. The tree finds the leaf, latches it, calls decide(), makes
/// room, logs and applies.
class LeafChange {
 public:
  enum class Action : std::uint8_t {
    leave,   ///< nothing, or not now
    insert,  ///< the key is absent or a ghost; it gets value()
    update,  ///< the live record gets value()
    remove,  ///< the live record becomes a ghost
  };
  struct Value {
    Bytes bytes;
    bool overflow = false;
  };

  LeafChange() = default;
  LeafChange(const LeafChange&) = delete;
  LeafChange& operator=(const LeafChange&) = delete;
  virtual ~LeafChange() = default;

  /// Called under the leaf's exclusive latch, possibly several times, since the leaf may have to be
  /// split first: must not park or change anything yet. `at.exact`: the key exists.
  virtual Action decide(const Node& leaf, Node::Position at) noexcept = 0;
  /// For insert and update; stays valid until applied() or the end of the operation.
  [[nodiscard]] virtual Value value() const noexcept = 0;
  /// The most bytes that value() can have, known before the leaf is.
  [[nodiscard]] virtual std::size_t max_value_bytes() const noexcept = 0;
  /// Called when the change is logged but not yet made, so `leaf` still has the old record. Readers
  /// see nothing until the latch is released: versions and undo are registered here.
  virtual void logged(const Node& leaf, Node::Position at, Lsn lsn) noexcept = 0;
};

/// Removals from one leaf at one visit. The tree finds the leaf of the first key, latches it, calls
/// decide(), logs all of them as one record, and makes ghosts.
class LeafRemovals {
 public:
  LeafRemovals() = default;
  LeafRemovals(const LeafRemovals&) = delete;
  LeafRemovals& operator=(const LeafRemovals&) = delete;
  virtual ~LeafRemovals() = default;

  [[nodiscard]] virtual Bytes first_key() const noexcept = 0;
  /// The most bytes that decide() can return.
  [[nodiscard]] virtual std::size_t max_payload_bytes() const noexcept = 0;
  /// Called under the leaf's exclusive latch: must not park and must not act yet. Returns the
  /// payload of leaf_removals; empty: nothing is removed.
  virtual Bytes decide(const Node& leaf) noexcept = 0;
  /// Returns the slots that decide() has chosen: live records of the leaf, in their order.
  [[nodiscard]] virtual std::span<const std::uint16_t> slots() const noexcept = 0;
  /// LeafChange::logged() for all of them.
  virtual void logged(const Node& leaf, Lsn lsn) noexcept = 0;
};

/// Decides which ghosts can be removed, and where gaps are locked. Called under the leaf's
/// exclusive latch.
class GhostKeeper {
 public:
  GhostKeeper() = default;
  GhostKeeper(const GhostKeeper&) = delete;
  GhostKeeper& operator=(const GhostKeeper&) = delete;
  virtual ~GhostKeeper() = default;
  [[nodiscard]] virtual bool may_remove(const Node& leaf, std::uint16_t index) noexcept = 0;
  /// Returns how much longer these records of `leaf` get if all open transactions are rolled back.
  [[nodiscard]] virtual std::size_t owed_bytes(const Node& /*leaf*/, std::uint16_t /*begin*/,
                                               std::uint16_t /*end*/) noexcept {
    return 0;
  }
  /// True if a fence may be put strictly between slot `index` and the one before it. A transaction
  /// may have locked that gap by its left key, and would not know of the fence (P7).
  [[nodiscard]] virtual bool may_cut_before(const Node& /*leaf*/,
                                            std::uint16_t /*index*/) noexcept {
    return true;
  }
  /// Tells that records of one leaf have moved to another. Both are held exclusively.
  virtual void records_moved(PageId /*from*/, PageId /*to*/) noexcept {}
  /// True if the fence between two leaves may go: gaps after it may be locked by its name.
  [[nodiscard]] virtual bool may_join_at(TreeId /*tree*/, Bytes /*fence*/) noexcept { return true; }
};

}  // namespace swizzle

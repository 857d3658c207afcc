#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "storage/btree/leaf_change.h"
#include "storage/btree/records.h"

namespace swizzle {

/// The inverse of one logged change of a row, which is found by key.
struct UndoneRow {
  LeafChange::Action action = LeafChange::Action::leave;
  Bytes key;
  /// Value of a removed row. For an update see `update`.
  Bytes value;
  bool overflow = false;
  /// The part of the value to restore.
  payload::LeafUpdate update;
  /// True for one of several rows of a record. A rollback that a crash interrupted may have
  /// restored it already, since a compensation record tells only that the undo of the record has
  /// begun.
  bool may_be_done = false;
};

/// Returns the value before an update, computed from the value after it. Returns nothing if the
/// update cannot have left that value.
std::optional<std::vector<std::byte>> value_before(const payload::LeafUpdate& update, Bytes after);

/// Functions for the kind table (record_kinds.h). Their results point into the payload.
namespace undo_of {
using Rows = Result<std::vector<UndoneRow>>;
Rows leaf_insert(Bytes payload);
Rows leaf_update(Bytes payload);
Rows leaf_remove(Bytes payload);
Rows leaf_removals(Bytes payload);
/// Returns no row: the whole tree is emptied (txn/loads/tree_load.h).
Rows load_begun(Bytes payload);
/// Returns no row: the root of a tree that the transaction creates is freed.
Rows new_root(Bytes payload);
}  // namespace undo_of

/// Applies an UndoneRow to a leaf.
class LoggedUndo final : public LeafChange {
 public:
  explicit LoggedUndo(const UndoneRow& row) : row_(row) {
    if (row.action == Action::insert) value_.assign(row.value.begin(), row.value.end());
  }

  /// Returns true if the leaf was as the undone record left it.
  [[nodiscard]] bool done() const noexcept { return done_; }

  Action decide(const Node& leaf, Node::Position at) noexcept override;
  [[nodiscard]] Value value() const noexcept override { return {value_, row_.overflow}; }
  [[nodiscard]] std::size_t max_value_bytes() const noexcept override {
    return Node::kMaxInlineBytes;
  }
  void logged(const Node& /*leaf*/, Node::Position /*at*/, Lsn /*lsn*/) noexcept override {}

 private:
  Action put_old_part_back(Bytes now) noexcept;

  const UndoneRow row_;
  std::vector<std::byte> value_;
  bool done_ = false;
};

}  // namespace swizzle

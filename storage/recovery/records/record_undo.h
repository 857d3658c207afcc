#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "storage/btree/leaf_change.h"
#include "storage/btree/records.h"

namespace swizzle {

/// Inverse of one logged change of a row, found by key.
struct UndoneRow {
  LeafChange::Action action = LeafChange::Action::leave;
  Bytes key;
  /// Value of a removed row; for an update see `update`.
  Bytes value;
  bool overflow = false;
  /// The part of the value that goes back.
  payload::LeafUpdate update;
  /// One of several rows of a record, so a rollback that a crash has interrupted may have put it
  /// back already: compensation records say of a record only that it has begun.
  bool may_be_done = false;
};

/// The value that an update found, from the one that it left. Nothing: it cannot have left that.
std::optional<std::vector<std::byte>> value_before(const payload::LeafUpdate& update, Bytes after);

/// For the kind table (record_kinds.h). The results point into the payload.
namespace undo_of {
using Rows = Result<std::vector<UndoneRow>>;
Rows leaf_insert(Bytes payload);
Rows leaf_update(Bytes payload);
Rows leaf_remove(Bytes payload);
Rows leaf_removals(Bytes payload);
/// No row: the tree as a whole is emptied (txn/tree_load.h).
Rows load_begun(Bytes payload);
/// No row: the root of a tree that the transaction creates is given back.
Rows new_root(Bytes payload);
}  // namespace undo_of

/// Applies an UndoneRow to a leaf.
class LoggedUndo final : public LeafChange {
 public:
  explicit LoggedUndo(const UndoneRow& row) : row_(row) {
    if (row.action == Action::insert) value_.assign(row.value.begin(), row.value.end());
  }

  /// True if the leaf was as the undone record left it.
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

#pragma once

#include "storage/btree/leaf_change.h"

namespace swizzle {

/// Plain map operations as leaf changes, for trees without transactions in tests and benchmarks.
class MapChange final : public LeafChange {
 public:
  MapChange(Action wanted, Bytes value) noexcept : wanted_(wanted), value_(value) {}

  Action decide(const Node& leaf, Node::Position at) noexcept override {
    const bool live = at.exact && !leaf.is_ghost(at.index);
    done_ = wanted_ == Action::insert ? !live : live;
    return done_ ? wanted_ : Action::leave;
  }
  [[nodiscard]] Value value() const noexcept override { return {value_, false}; }
  [[nodiscard]] std::size_t max_value_bytes() const noexcept override { return value_.size(); }
  void logged(const Node& /*leaf*/, Node::Position /*at*/, Lsn /*lsn*/) noexcept override {}
  [[nodiscard]] bool done() const noexcept { return done_; }

 private:
  Action wanted_;
  Bytes value_;
  bool done_ = false;
};

/// Allows the removal of all ghosts: without transactions, none is needed.
class NoGhostIsNeeded final : public GhostKeeper {
 public:
  bool may_remove(const Node& /*leaf*/, std::uint16_t /*index*/) noexcept override { return true; }
};

}  // namespace swizzle

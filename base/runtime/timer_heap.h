#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/invariant.h"
#include "base/runtime/runtime.h"

namespace swizzle {

/// Base class of the members of a TimerHeap.
struct TimerHeapNode {
  static constexpr std::size_t kAbsent = SIZE_MAX;

  TimePoint deadline{};
  std::size_t heap_index = kAbsent;
};

/// A binary heap of nodes owned by others, earliest deadline first; any node is removed in O(log
/// n). Not thread-safe.
template <class Node>
class TimerHeap {
 public:
  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] Node& first() const noexcept { return *nodes_.front(); }

  /// Makes room, so that so many nodes can be inserted without taking memory. Throws
  /// std::bad_alloc.
  void make_room_for(std::size_t nodes) {
    if (nodes > nodes_.capacity()) nodes_.reserve(2 * nodes);
  }

  void insert(Node& node, TimePoint deadline) {
    INVARIANT(node.heap_index == TimerHeapNode::kAbsent);
    node.deadline = deadline;
    nodes_.push_back(&node);
    rise(nodes_.size() - 1);
  }

  /// Does nothing if the node is not in.
  void remove(Node& node) noexcept {
    const std::size_t hole = std::exchange(node.heap_index, TimerHeapNode::kAbsent);
    if (hole == TimerHeapNode::kAbsent) return;
    Node* last = nodes_.back();
    nodes_.pop_back();
    if (last == &node) return;
    place(hole, last);
    rise(hole);
    sink(last->heap_index);
  }

 private:
  void place(std::size_t index, Node* node) noexcept {
    nodes_[index] = node;
    node->heap_index = index;
  }

  void rise(std::size_t index) noexcept {
    Node* node = nodes_[index];
    while (index > 0) {
      const std::size_t parent = (index - 1) / 2;
      if (!(node->deadline < nodes_[parent]->deadline)) break;
      place(index, nodes_[parent]);
      index = parent;
    }
    place(index, node);
  }

  void sink(std::size_t index) noexcept {
    Node* node = nodes_[index];
    for (;;) {
      std::size_t child = 2 * index + 1;
      if (child >= nodes_.size()) break;
      if (child + 1 < nodes_.size() && nodes_[child + 1]->deadline < nodes_[child]->deadline) {
        ++child;
      }
      if (!(nodes_[child]->deadline < node->deadline)) break;
      place(index, nodes_[child]);
      index = child;
    }
    place(index, node);
  }

  std::vector<Node*> nodes_;
};

}  // namespace swizzle

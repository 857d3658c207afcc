#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "base/bytes.h"

namespace swizzle::bench {

/// An in-memory B+tree with the latching of InnoDB and XtraDB: one latch on the index and one on
/// each page. An insert first tries optimistically: index latch shared, latch coupling with shared
/// page latches, the leaf exclusive. If the leaf is full, it restarts with the index latch
/// exclusive until the split is done, and latches every page that it changes. 8-byte keys, values
/// of one size, pages of 8 KiB. Counts what the Foster B-tree paper counts.
class LatchedTree {
 public:
  explicit LatchedTree(std::size_t value_bytes);
  LatchedTree(const LatchedTree&) = delete;
  LatchedTree& operator=(const LatchedTree&) = delete;
  ~LatchedTree();

  /// Returns false if the key exists. Thread-safe.
  bool insert(std::uint64_t key, Bytes value);

  struct Counters {
    std::atomic<std::uint64_t> index_exclusive{0};
    /// Exclusive latches above the leaves.
    std::atomic<std::uint64_t> branch_exclusive{0};
    std::atomic<std::uint64_t> splits{0};
  };
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

 private:
  struct Page;
  enum class Attempt : std::uint8_t { inserted, duplicate, leaf_full };
  struct Split {
    std::uint64_t separator;
    std::unique_ptr<Page> right;
  };

  Attempt try_optimistically(std::uint64_t key, Bytes value);
  bool insert_pessimistically(std::uint64_t key, Bytes value);
  Attempt put(Page& leaf, std::uint64_t key, Bytes value) const;
  Split split_leaf(Page& leaf) const;
  static Split split_branch(Page& branch);
  void add_separator(std::vector<Page*>& path, Split split);

  std::size_t value_bytes_;
  std::size_t leaf_capacity_;
  std::shared_mutex index_latch_;
  std::unique_ptr<Page> root_;
  Counters counters_;
};

}  // namespace swizzle::bench

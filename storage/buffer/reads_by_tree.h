#pragma once

#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>

#include "storage/page/page.h"

namespace swizzle {

/// Number of pages read, by tree. A single mutex suffices, because each call follows a wait for a
/// device. Thread-safe.
class ReadsByTree {
 public:
  /// Counts a read; drops the count if there is no memory for the tree's entry.
  void add(TreeId tree) noexcept {
    const std::lock_guard hold(mutex_);
    try {
      ++reads_[tree];
    } catch (const std::bad_alloc&) {
      return;
    }
  }
  [[nodiscard]] std::uint64_t of(TreeId tree) const {
    const std::lock_guard hold(mutex_);
    const auto found = reads_.find(tree);
    return found == reads_.end() ? 0 : found->second;
  }
  /// Removes a dropped tree.
  void forget(TreeId tree) noexcept {
    const std::lock_guard hold(mutex_);
    reads_.erase(tree);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<TreeId, std::uint64_t> reads_;
};

}  // namespace swizzle

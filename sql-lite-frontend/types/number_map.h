#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

/// Map from type oids to properties (a domain's base, a collation's order). Read without a lock,
/// because every use of such a value needs it. Entries are never removed, since an oid keeps its
/// meaning.
class NumberMap {
 public:
  /// Returns 0 for an unknown oid.
  [[nodiscard]] std::uint64_t find(std::uint32_t number) const noexcept {
    // Any oid may come from a client.
    if (number >= kUserTypeIds) return 0;
    // acquire: the branch was made before its pointer was stored.
    const Branch* branch = branches_[number / kBelowBranch].load(std::memory_order_acquire);
    if (branch == nullptr) return 0;
    const Leaf* leaf = (*branch)[number / kFan % kFan].load(std::memory_order_acquire);
    return leaf == nullptr ? 0 : (*leaf)[number % kFan].load(std::memory_order_acquire);
  }

  void put(std::uint32_t number, std::uint64_t base) {
    const std::scoped_lock lock{mutex_};
    Branch& branch = made(branches_[number / kBelowBranch], own_branches_);
    Leaf& leaf = made(branch[number / kFan % kFan], own_leaves_);
    // release: publishes the value to threads that read it.
    leaf[number % kFan].store(base, std::memory_order_release);
  }

 private:
  static constexpr std::size_t kFan = 1024;
  static constexpr std::size_t kBelowBranch = kFan * kFan;
  using Leaf = std::array<std::atomic<std::uint64_t>, kFan>;
  using Branch = std::array<std::atomic<Leaf*>, kFan>;

  template <class Part>
  static Part& made(std::atomic<Part*>& place, std::vector<std::unique_ptr<Part>>& own) {
    Part* part = place.load(std::memory_order_relaxed);
    if (part == nullptr) {
      part = own.emplace_back(std::make_unique<Part>()).get();
      // release: readers must see the new branch empty, not uninitialized.
      place.store(part, std::memory_order_release);
    }
    return *part;
  }

  std::array<std::atomic<Branch*>, kUserTypeIds / kBelowBranch> branches_{};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Branch>> own_branches_;
  std::vector<std::unique_ptr<Leaf>> own_leaves_;
};

}  // namespace swizzle::sql

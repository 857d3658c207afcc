#include "lock/internal/private_table.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"

namespace swizzle::lock {

void PrivateTable::drop(const Entry& entry) noexcept {
  const LockName name = entry.name;
  std::size_t hole = name.spread() & mask();
  while (slots_[hole] != &entry) {
    INVARIANT(slots_[hole] != nullptr);
    hole = (hole + 1) & mask();
  }
  if (entry.older_of_same_name != nullptr) {
    slots_[hole] = entry.older_of_same_name;
    return;
  }
  --size_;
  // Close the gap: an entry further on moves into the hole unless that would put it before the
  // place where its search starts.
  for (std::size_t i = (hole + 1) & mask(); slots_[i] != nullptr; i = (i + 1) & mask()) {
    const std::size_t start = slots_[i]->name.spread() & mask();
    if (((i - start) & mask()) >= ((i - hole) & mask())) {
      slots_[hole] = slots_[i];
      hole = i;
    }
  }
  slots_[hole] = nullptr;
}

void PrivateTable::clear() noexcept {
  if (size_ == 0) return;
  // One large transaction should not make all the small ones after it clear a large table.
  std::size_t kept = std::min(slots_.size(), kKept);
  if (size_ < kept / 16) kept = std::max(kept / 2, kSmallest);
  slots_.resize(kept);
  if (slots_.capacity() > kKept) slots_.shrink_to_fit();
  std::fill(slots_.begin(), slots_.end(), nullptr);
  size_ = 0;
}

void PrivateTable::grow() {
  std::vector<Entry*> larger(slots_.size() * 2, nullptr);
  for (Entry* entry : slots_) {
    if (entry == nullptr) continue;
    std::size_t i = entry->name.spread() & (larger.size() - 1);
    while (larger[i] != nullptr) i = (i + 1) & (larger.size() - 1);
    larger[i] = entry;
  }
  slots_ = std::move(larger);
}

}  // namespace swizzle::lock

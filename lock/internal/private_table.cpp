#include "lock/internal/private_table.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "base/memory/huge_pages.h"

namespace swizzle::lock {

void PrivateTable::drop(const Entry& entry) noexcept {
  const std::uint64_t spread = entry.name.spread();
  std::size_t hole = spread & mask();
  while (slots_[hole].entry() != &entry) {
    INVARIANT(!slots_[hole].is_empty());
    hole = (hole + 1) & mask();
  }
  if (entry.older_of_same_name != nullptr) {
    slots_[hole] = Slot(*entry.older_of_same_name, spread);
    return;
  }
  --size_;
  // Close the gap: an entry further on moves into the hole unless that would put it before the slot
  // at which its search starts.
  for (std::size_t i = (hole + 1) & mask(); !slots_[i].is_empty(); i = (i + 1) & mask()) {
    const std::size_t start = slots_[i].entry()->name.spread() & mask();
    if (((i - start) & mask()) >= ((i - hole) & mask())) {
      slots_[hole] = slots_[i];
      hole = i;
    }
  }
  slots_[hole] = Slot{};
}

void PrivateTable::clear() noexcept {
  if (size_ == 0) return;
  // One large transaction should not make all the small ones after it clear a large table.
  std::size_t kept = std::min(slots_.size(), kKept);
  if (size_ < kept / 16) kept = std::max(kept / 2, kSmallest);
  slots_.resize(kept);
  if (slots_.capacity() > kKept) slots_.shrink_to_fit();
  std::fill(slots_.begin(), slots_.end(), Slot{});
  size_ = 0;
}

void PrivateTable::grow() {
  std::vector<Slot> larger;
  larger.reserve(slots_.size() * 2);
  prefer_huge_pages(larger.data(), larger.capacity() * sizeof(Slot));
  larger.resize(slots_.size() * 2);
  for (const Slot slot : slots_) {
    if (slot.is_empty()) continue;
    std::size_t i = slot.entry()->name.spread() & (larger.size() - 1);
    while (!larger[i].is_empty()) i = (i + 1) & (larger.size() - 1);
    larger[i] = slot;
  }
  slots_ = std::move(larger);
}

}  // namespace swizzle::lock

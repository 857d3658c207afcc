#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lock/internal/entry.h"

namespace swizzle::lock {

/// An owner's own view of what it holds: the newest entry of each name. Answers repeated requests
/// without shared memory. Open addressing, at most half full.
class PrivateTable {
 public:
  PrivateTable() : slots_(kSmallest, nullptr) {}

  /// The newest entry of `name`, or null.
  [[nodiscard]] Entry* find(const LockName& name) const noexcept {
    for (std::size_t i = name.spread() & mask();; i = (i + 1) & mask()) {
      Entry* entry = slots_[i];
      if (entry == nullptr || entry->name == name) return entry;
    }
  }

  /// The only step that may fail, so it comes before the entry is published.
  void make_room() {
    if (size_ >= slots_.size() / 2) grow();
  }

  /// Makes `entry` the newest of its name. Pre: make_room() since the last put().
  void put(Entry& entry) noexcept {
    const LockName name = entry.name;
    std::size_t i = name.spread() & mask();
    while (slots_[i] != nullptr && slots_[i]->name != name) i = (i + 1) & mask();
    if (slots_[i] == nullptr) ++size_;
    slots_[i] = &entry;
  }

  /// Undoes put() of `entry`, or of any of its name: what is left of the name is
  /// `entry.older_of_same_name`. Pre: `entry` is the newest of its name.
  void drop(const Entry& entry) noexcept;

  void clear() noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept { return slots_.capacity() * sizeof(Entry*); }

 private:
  static constexpr std::size_t kSmallest = 32;
  static constexpr std::size_t kKept = 1024;

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  void grow();

  std::vector<Entry*> slots_;
  std::size_t size_ = 0;
};

}  // namespace swizzle::lock

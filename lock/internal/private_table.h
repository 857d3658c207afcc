#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lock/internal/entry.h"

namespace swizzle::lock {

/// An owner's private hash table of its locks: the newest entry of each name. Answers repeated
/// requests without shared memory. Open addressing, at most half full; the hash bits in a slot rule
/// out most other names without a cache miss.
class PrivateTable {
 public:
  PrivateTable() : slots_(kSmallest, Slot{}) {}

  /// The newest entry of `name`, or null.
  [[nodiscard]] Entry* find(const LockName& name) const noexcept {
    const std::uint64_t spread = name.spread();
    for (std::size_t i = spread & mask();; i = (i + 1) & mask()) {
      const Slot slot = slots_[i];
      if (slot.is_empty()) return nullptr;
      if (slot.may_be(spread) && slot.entry()->name == name) return slot.entry();
    }
  }

  /// Prefetches the slot that find() and put() will read.
  void prefetch(const LockName& name) const noexcept {
    __builtin_prefetch(&slots_[name.spread() & mask()], 1);
  }

  /// The only step that may fail, so it comes before the entry is published.
  void make_room() {
    if (size_ >= slots_.size() / 2) grow();
  }

  /// Makes `entry` the newest of its name. Pre: make_room() since the last put().
  void put(Entry& entry) noexcept {
    const LockName name = entry.name;
    const std::uint64_t spread = name.spread();
    std::size_t i = spread & mask();
    while (!slots_[i].is_empty() && !(slots_[i].may_be(spread) && slots_[i].entry()->name == name))
      i = (i + 1) & mask();
    if (slots_[i].is_empty()) ++size_;
    slots_[i] = Slot(entry, spread);
  }

  /// Undoes put() of `entry`, or of another entry of its name, whose newest one is then
  /// `entry.older_of_same_name`. Pre: `entry` is the newest of its name.
  void drop(const Entry& entry) noexcept;

  void clear() noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }

 private:
  /// An entry's address, with bits of its name's hash in the unused bits of the address, so that
  /// entries of other names can be skipped without reading them.
  class Slot {
   public:
    Slot() noexcept = default;
    Slot(Entry& entry, std::uint64_t spread) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(&entry) | spread >> kAddressBits << kAddressBits) {
    }
    [[nodiscard]] bool is_empty() const noexcept { return word_ == 0; }
    [[nodiscard]] bool may_be(std::uint64_t spread) const noexcept {
      return (word_ ^ spread) >> kAddressBits == 0;
    }
    [[nodiscard]] Entry* entry() const noexcept {
      return reinterpret_cast<Entry*>(word_ & ((std::uintptr_t{1} << kAddressBits) - 1));
    }

   private:
    static constexpr unsigned kAddressBits = 48;
    std::uintptr_t word_ = 0;
  };
  static_assert(sizeof(std::uintptr_t) == 8);

  static constexpr std::size_t kSmallest = 32;
  static constexpr std::size_t kKept = 1024;

  [[nodiscard]] std::size_t mask() const noexcept { return slots_.size() - 1; }
  void grow();

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace swizzle::lock

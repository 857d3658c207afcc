#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include "sql-lite-frontend/types/checked_pointers.h"

namespace swizzle::sql {

/// Memory that the definitions of all databases take as long as they are in force, or in use.
/// Thread-safe.
class DefinitionMemory {
 public:
  /// New definitions are refused beyond the limit; those that are there are counted all the same.
  void set_limit(std::size_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return used_.load(std::memory_order_relaxed);
  }

  /// Returns about what a definition takes whose record has so many bytes.
  static constexpr std::size_t bytes_of_record(std::size_t record) noexcept {
    return 2048 + 4 * record;
  }

  /// Memory of one definition.
  class Share {
   public:
    Share(std::shared_ptr<DefinitionMemory> memory, std::size_t bytes) noexcept
        : memory_(std::move(memory)), bytes_(bytes) {
      memory_->used_.fetch_add(bytes, std::memory_order_relaxed);
    }
    Share(Share&& other) noexcept
        : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (memory_) memory_->used_.fetch_sub(bytes_, std::memory_order_relaxed);
    }
    /// Throws 53200 if the limit is exceeded, unless it takes the place of as much.
    void require_within_limit(std::size_t replaced) const;

   private:
    std::shared_ptr<DefinitionMemory> memory_;
    std::size_t bytes_;
  };

 private:
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> limit_{std::numeric_limits<std::size_t>::max()};
};
using DefinitionMemoryPtr = std::shared_ptr<DefinitionMemory>;

/// Returns the object with its share counted as long as the pointer or a copy lives.
template <class Object>
CheckedShared<const Object> counted(CheckedShared<const Object> object,
                                    DefinitionMemory::Share share) {
  struct Both {
    CheckedShared<const Object> object;
    DefinitionMemory::Share share;
  };
  const Object* const pointer = object.get();
  auto both = std::make_shared<const Both>(Both{std::move(object), std::move(share)});
  return std::shared_ptr<const Object>{std::move(both), pointer};
}

}  // namespace swizzle::sql

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/bytes.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Memory for direct transfers, zeroed at the start; on huge pages where it has the size of some.
class AlignedMemory {
 public:
  /// Pre: `bytes` is a multiple of kWriteUnit.
  explicit AlignedMemory(std::size_t bytes)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(alignment_of(bytes), bytes))),
        bytes_(bytes) {
    if (memory_ == nullptr) throw std::bad_alloc{};
    if (alignment_of(bytes) == kHugePage) (void)::madvise(memory_.get(), bytes, MADV_HUGEPAGE);
    std::memset(memory_.get(), 0, bytes);
  }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] MutableBytes span() const noexcept { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  static constexpr std::size_t alignment_of(std::size_t bytes) noexcept {
    return bytes % kHugePage == 0 ? kHugePage : kWriteUnit;
  }
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_;
};

}  // namespace swizzle::wal

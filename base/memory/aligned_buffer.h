#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/bytes.h"

namespace swizzle {

/// Zeroed memory, aligned for direct I/O; on huge pages if it is large enough.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 4096;

  AlignedBuffer() = default;
  /// `size` is rounded up to the alignment.
  explicit AlignedBuffer(std::size_t size)
      : size_((size + kAlignment - 1) / kAlignment * kAlignment),
        memory_(static_cast<std::byte*>(std::aligned_alloc(alignment_of(size_), size_))) {
    if (memory_ == nullptr) throw std::bad_alloc{};
    if (alignment_of(size_) == kHugePage) ::madvise(memory_.get(), size_, MADV_HUGEPAGE);
    std::memset(memory_.get(), 0, size_);
  }

  [[nodiscard]] std::byte* data() noexcept { return memory_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] MutableBytes bytes() noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] Bytes bytes() const noexcept { return {memory_.get(), size_}; }
  [[nodiscard]] MutableBytes bytes(std::size_t offset, std::size_t count) noexcept {
    return bytes().subspan(offset, count);
  }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  static constexpr std::size_t alignment_of(std::size_t size) noexcept {
    return size != 0 && size % kHugePage == 0 ? kHugePage : kAlignment;
  }
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::size_t size_ = 0;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace swizzle

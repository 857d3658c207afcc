#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/bytes.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Memory for direct transfers, zeroed at the start.
class AlignedMemory {
 public:
  /// Pre: `bytes` is a multiple of kWriteUnit.
  explicit AlignedMemory(std::size_t bytes)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(kWriteUnit, bytes))), bytes_(bytes) {
    if (memory_ == nullptr) throw std::bad_alloc{};
    std::memset(memory_.get(), 0, bytes);
  }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] MutableBytes span() const noexcept { return {memory_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_;
};

}  // namespace swizzle::wal

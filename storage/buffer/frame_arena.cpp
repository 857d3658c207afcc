#include "storage/buffer/frame_arena.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

namespace swizzle {

Result<FrameArena> FrameArena::map(std::uint64_t bytes) {
  constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20U;
  const std::uint64_t count = bytes / Frame::kStride;
  INVARIANT(count > 0 && count < UINT32_MAX);
  const std::uint64_t mapped = (count * Frame::kStride + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return fail(sqlstate::out_of_memory,
                fmt::format("cannot map {} bytes for the buffer pool: {}", mapped,
                            std::strerror(errno)));
  // Fewer TLB misses; where huge pages are off, the pool works with small ones.
  (void)::madvise(memory, mapped, MADV_HUGEPAGE);
  return FrameArena(static_cast<std::byte*>(memory), mapped, static_cast<std::uint32_t>(count));
}

Frame* FrameArena::first_use() noexcept {
  const std::uint32_t index = used_.load(std::memory_order_relaxed);
  if (index == count_) return nullptr;
  Frame* frame = new (&at(index)) Frame;
  // Publishes the constructed frame to those who walk the arena.
  used_.store(index + 1, std::memory_order_release);
  return frame;
}

FrameArena::FrameArena(FrameArena&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      count_(std::exchange(other.count_, 0)),
      used_(other.used_.load()) {}

FrameArena::~FrameArena() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

}  // namespace swizzle

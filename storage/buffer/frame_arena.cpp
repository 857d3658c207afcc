#include "storage/buffer/frame_arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/memory/numa.h"
#include "base/runtime/thread_number.h"

namespace swizzle {
Result<FrameArena> FrameArena::map(std::uint64_t bytes, std::uint32_t partitions, Touch touch) {
  constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20U;
  const std::uint64_t count = bytes / Frame::kStride;
  INVARIANT(count > 0 && count < UINT32_MAX);
  const std::uint64_t mapped = (count * Frame::kStride + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return fail(sqlstate::out_of_memory, fmt::format("cannot map {} bytes for the buffer pool: {}",
                                                     mapped, std::strerror(errno)));
  // Fewer TLB misses; where huge pages are off, the pool works with small ones.
  (void)::madvise(memory, mapped, MADV_HUGEPAGE);
  const std::uint32_t wanted = partitions == 0 ? Numa::node_count() : partitions;
  FrameArena arena(static_cast<std::byte*>(memory), mapped, static_cast<std::uint32_t>(count),
                   std::min(wanted, static_cast<std::uint32_t>(count)));
  // At the end, since the constructor chooses the node of each part's memory.
  if (touch == Touch::at_once) RETURN_IF_ERROR(arena.touch_all());
  return arena;
}

Result<> FrameArena::touch_all() noexcept {
  if (::madvise(memory_, bytes_, MADV_POPULATE_WRITE) == 0) return {};
  return fail(sqlstate::out_of_memory,
              fmt::format("the system does not give {} bytes for the buffer pool at once: {}",
                          bytes_, std::strerror(errno)));
}

FrameArena::FrameArena(std::byte* memory, std::size_t bytes, std::uint32_t count,
                       std::uint32_t partitions)
    : memory_(memory),
      bytes_(bytes),
      count_(count),
      frames_per_partition_(count / partitions),
      partitions_(partitions) {
  constexpr std::size_t kSystemPage = 4096;
  for (std::uint32_t i = 0; i < partitions; ++i) {
    Partition& part = partitions_[i];
    part.begin = i * frames_per_partition_;
    part.count = i + 1 == partitions ? count - part.begin : frames_per_partition_;
    if (partitions != Numa::node_count()) continue;
    const std::size_t from = part.begin * Frame::kStride / kSystemPage * kSystemPage;
    const std::size_t to = (part.begin + part.count) * Frame::kStride / kSystemPage * kSystemPage;
    Numa::prefer(memory + from, to - from, i);
  }
}

std::uint32_t FrameArena::used() const noexcept {
  std::uint32_t used = 0;
  for (const Partition& part : partitions_) used += part.used.load(std::memory_order_acquire);
  return used;
}

Frame* FrameArena::nth_used(std::uint64_t nth) const noexcept {
  const std::uint32_t total = used();
  if (total == 0) return nullptr;
  auto left = static_cast<std::uint32_t>(nth % total);
  for (const Partition& part : partitions_) {
    const std::uint32_t here = part.used.load(std::memory_order_acquire);
    if (left < here) return &at(part.begin + left);
    left -= here;
  }
  return nullptr;  // unreachable: the parts only grow
}

Frame* FrameArena::first_use() noexcept {
  const std::uint32_t home = home_partition();
  for (std::uint32_t i = 0; i < partition_count(); ++i)
    if (Frame* frame = first_use_in(partitions_[(home + i) % partition_count()])) return frame;
  return nullptr;
}

Frame* FrameArena::first_use_in(Partition& part) noexcept {
  if (part.used.load(std::memory_order_relaxed) == part.count) return nullptr;
  const std::lock_guard hold(part.mutex);
  const std::uint32_t index = part.used.load(std::memory_order_relaxed);
  if (index == part.count) return nullptr;
  Frame* frame = new (&at(part.begin + index)) Frame;
  // Publishes the constructed frame to walks over the arena.
  part.used.store(index + 1, std::memory_order_release);
  return frame;
}

std::uint32_t FrameArena::home_among_many() const noexcept {
  if (partition_count() == Numa::node_count()) return Numa::node_of_caller();
  return static_cast<std::uint32_t>(thread_number() % partition_count());
}

FrameArena::FrameArena(FrameArena&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      bytes_(other.bytes_),
      count_(std::exchange(other.count_, 0)),
      frames_per_partition_(other.frames_per_partition_),
      partitions_(std::move(other.partitions_)) {}

FrameArena::~FrameArena() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

}  // namespace swizzle

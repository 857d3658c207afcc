#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "storage/buffer/frame.h"
#include "storage/latch/spin_latch.h"

namespace swizzle {

/// Number of frames after which a loop over all frames lets others run.
inline constexpr std::uint32_t kFramesBetweenYields = 4096;

/// All frames of a pool, in one mapping on huge pages. Frames are never unmapped while the pool
/// lives, so a stale address still leads to a frame, and its latch version tells that it is stale.
///
/// The frames are parted among the machine's memory nodes, each part with the memory of its node.
class FrameArena {
 public:
  /// Time at which the system maps the memory: as frames come into use, or at once, which takes a
  /// while but delays no later access.
  enum class Touch : std::uint8_t { as_used, at_once };

  /// Maps as many frames as fit in `bytes`, in `partitions` parts; 0: one for each memory node.
  static Result<FrameArena> map(std::uint64_t bytes, std::uint32_t partitions = 0,
                                Touch touch = Touch::as_used);
  FrameArena(FrameArena&& other) noexcept;
  FrameArena& operator=(FrameArena&&) = delete;
  ~FrameArena();

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// Number of frames that have been in use; only these may be looked at, see for_each_used().
  [[nodiscard]] std::uint32_t used() const noexcept;
  template <class Visit>
  void for_each_used(Visit visit) const {
    for (const Partition& part : partitions_) {
      // Acquire: the frames below are constructed.
      const std::uint32_t end = part.begin + part.used.load(std::memory_order_acquire);
      for (std::uint32_t i = part.begin; i < end; ++i) visit(at(i));
    }
  }
  /// The `nth` of the frames that have been in use, modulo their number; null if there are none.
  [[nodiscard]] Frame* nth_used(std::uint64_t nth) const noexcept;
  /// The next frame that was never used, of the caller's partition if that has one, or null. Its
  /// memory is touched only from here on. Thread-safe.
  Frame* first_use() noexcept;

  [[nodiscard]] Frame& at(std::uint32_t index) const noexcept {
    return *static_cast<Frame*>(static_cast<void*>(memory_ + std::size_t{index} * Frame::kStride));
  }
  [[nodiscard]] std::uint32_t index_of(const Frame* frame) const noexcept {
    return static_cast<std::uint32_t>(
        static_cast<std::size_t>(reinterpret_cast<const std::byte*>(frame) - memory_) /
        Frame::kStride);
  }
  /// True if `referrer` is one of the frames, and not the holder of a root.
  [[nodiscard]] bool contains(const Referrer* referrer) const noexcept {
    const auto* address = reinterpret_cast<const std::byte*>(referrer);
    return address >= memory_ && address < memory_ + bytes_;
  }

  [[nodiscard]] std::uint32_t partition_count() const noexcept {
    return static_cast<std::uint32_t>(partitions_.size());
  }
  [[nodiscard]] std::uint32_t partition_of(const Frame& frame) const noexcept {
    if (partition_count() == 1) return 0;
    return std::min(index_of(&frame) / frames_per_partition_, partition_count() - 1);
  }
  /// Partition in which the calling thread should look for frames first: its node's, or, if there
  /// are not as many partitions as nodes, the thread's number's.
  [[nodiscard]] std::uint32_t home_partition() const noexcept {
    return partition_count() == 1 ? 0 : home_among_many();
  }

 private:
  struct alignas(64) Partition {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
    std::atomic<std::uint32_t> used{0};
    SpinLatch mutex;  ///< for threads that raise `used`
  };

  FrameArena(std::byte* memory, std::size_t bytes, std::uint32_t count, std::uint32_t partitions);
  Result<> touch_all() noexcept;
  Frame* first_use_in(Partition& part) noexcept;
  [[nodiscard]] std::uint32_t home_among_many() const noexcept;

  std::byte* memory_;
  std::size_t bytes_;
  std::uint32_t count_;
  std::uint32_t frames_per_partition_;
  std::vector<Partition> partitions_;
};

}  // namespace swizzle

#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"
#include "base/invariant.h"

namespace swizzle {

struct Frame;

/// Reference from a parent to its child: a page id, or, tagged, the address of the child's frame. A
/// tagged one never reaches disk or log.
class PageRef {
 public:
  PageRef() = default;
  explicit PageRef(PageId page) noexcept : bits_(raw(page)) {}
  explicit PageRef(Frame* frame) noexcept
      : bits_(kSwizzled | reinterpret_cast<std::uint64_t>(frame)) {}

  [[nodiscard]] bool is_swizzled() const noexcept { return (bits_ & kSwizzled) != 0; }
  [[nodiscard]] bool is_none() const noexcept { return bits_ == 0; }
  [[nodiscard]] Frame* frame() const noexcept {
    return reinterpret_cast<Frame*>(bits_ & ~kSwizzled);
  }
  [[nodiscard]] PageId page() const noexcept {
    INVARIANT(!is_swizzled());
    return PageId{bits_};
  }
  friend bool operator==(PageRef, PageRef) = default;

 private:
  static constexpr std::uint64_t kSwizzled = std::uint64_t{1} << 63U;
  std::uint64_t bits_ = 0;
};
static_assert(sizeof(PageRef) == 8);

/// Read and write references as a whole: they change under concurrent readers. `at` is 8-byte
/// aligned.
inline PageRef load_ref(const PageRef* at) noexcept {
  return std::atomic_ref<PageRef>(*const_cast<PageRef*>(at)).load(std::memory_order_relaxed);
}
inline void store_ref(PageRef* at, PageRef ref) noexcept {
  std::atomic_ref<PageRef>(*at).store(ref, std::memory_order_relaxed);
}

}  // namespace swizzle

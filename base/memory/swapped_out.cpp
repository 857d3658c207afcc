#include "base/memory/swapped_out.h"

#include <sys/mman.h>

#include <cstdint>

namespace swizzle::swapped_out {
namespace {

constexpr unsigned kWindowBits = 20;
static_assert(kWindowBytes == std::size_t{1} << kWindowBits);
/// Without a hint the system gives no higher address.
constexpr unsigned kAddressBits = 47;
constexpr std::size_t kWindows = std::size_t{1} << (kAddressBits - kWindowBits);
constexpr std::size_t kBits = 64;

// A bit for each possible window. Zero pages, but for the few in which a bit was ever set.
constinit std::uint64_t words[kWindows / kBits];

std::atomic_ref<std::uint64_t> word_of(std::size_t window) noexcept {
  return std::atomic_ref{words[window / kBits]};
}

std::size_t window_of(const void* at) noexcept {
  return (reinterpret_cast<std::uintptr_t>(at) >> kWindowBits) % kWindows;
}
constexpr std::uint64_t bit_of(std::size_t window) noexcept {
  return std::uint64_t{1} << (window % kBits);
}

}  // namespace

bool is_swapped_out(const void* at) noexcept {
  const std::size_t window = window_of(at);
  return (word_of(window).load(std::memory_order_relaxed) & bit_of(window)) != 0;
}

void page_in(const void* at) noexcept {
  if (!has(at)) return;
  auto* const begin = reinterpret_cast<void*>(window_of(at) << kWindowBits);
  // Reads the window at once, and then maps it, so that none of its pages faults any more.
  static_cast<void>(madvise(begin, kWindowBytes, MADV_WILLNEED));
  static_cast<void>(madvise(begin, kWindowBytes, MADV_POPULATE_WRITE));
  note_paged_in(begin, kWindowBytes);
}

void note_swapped_out(const void* begin, std::size_t bytes) noexcept {
  const std::size_t first = window_of(begin);
  for (std::size_t window = first; window < first + bytes / kWindowBytes; ++window) {
    const std::uint64_t bit = bit_of(window);
    if ((word_of(window).fetch_or(bit, std::memory_order_relaxed) & bit) == 0)
      swapped_out_windows.fetch_add(1, std::memory_order_relaxed);
  }
}

void note_paged_in(const void* begin, std::size_t bytes) noexcept {
  const std::size_t first = window_of(begin);
  for (std::size_t window = first; window < first + bytes / kWindowBytes; ++window) {
    const std::uint64_t bit = bit_of(window);
    if ((word_of(window).fetch_and(~bit, std::memory_order_relaxed) & bit) != 0)
      swapped_out_windows.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace swizzle::swapped_out

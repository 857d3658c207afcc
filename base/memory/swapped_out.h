#pragma once

#include <atomic>
#include <cstddef>

/// Knows which parts of the mapped scratch files this process has swapped out. A caller asks before
/// it follows an address into one, and has it paged in by a thread that may wait. The unit is a
/// window of a megabyte, which holds nothing else. Pages that the system itself has taken, when
/// memory was short, are not known.
namespace swizzle::swapped_out {

inline constexpr std::size_t kWindowBytes = std::size_t{1} << 20U;

inline constinit std::atomic<std::size_t> swapped_out_windows{0};

[[nodiscard]] bool is_swapped_out(const void* at) noexcept;

[[nodiscard]] inline bool any() noexcept {
  return swapped_out_windows.load(std::memory_order_relaxed) != 0;
}
/// True if touching `at` may have to wait for a device.
[[nodiscard]] inline bool has(const void* at) noexcept {
  return any() && is_swapped_out(at);
}
/// Reads the window of `at` from the device, and takes as long. Does nothing if it is not swapped
/// out, or no longer mapped.
void page_in(const void* at) noexcept;

// For the code that maps the files. Pre: `begin` is at the beginning of a window, and `bytes` are
// windows.

void note_swapped_out(const void* begin, std::size_t bytes) noexcept;
void note_paged_in(const void* begin, std::size_t bytes) noexcept;

}  // namespace swizzle::swapped_out

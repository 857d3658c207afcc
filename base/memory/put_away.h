#pragma once

#include <atomic>
#include <cstddef>

/// Knows which parts of the mapped scratch files this process has swapped out. A caller asks before
/// it follows an address into one, and has it paged in by a thread that may wait. The unit is a
/// window of a megabyte, which holds nothing else. Pages that the system itself has taken, when
/// memory was short, are not known.
namespace swizzle::put_away {

inline constexpr std::size_t kWindowBytes = std::size_t{1} << 20U;

inline constinit std::atomic<std::size_t> windows_away{0};

[[nodiscard]] bool is_away(const void* at) noexcept;

[[nodiscard]] inline bool any() noexcept {
  return windows_away.load(std::memory_order_relaxed) != 0;
}
/// True if touching `at` may have to wait for a device.
[[nodiscard]] inline bool has(const void* at) noexcept {
  return any() && is_away(at);
}
/// Reads the window of `at` from the device, and takes as long. Does nothing if it is not swapped
/// out, or no longer mapped.
void bring_back(const void* at) noexcept;

// For the code that maps the files. Pre: `begin` is at the beginning of a window, and `bytes` are
// windows.

void note_away(const void* begin, std::size_t bytes) noexcept;
void note_there(const void* begin, std::size_t bytes) noexcept;

}  // namespace swizzle::put_away

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace swizzle {

/// A report that a signal handler writes of the thread that it interrupted: only what a handler may
/// do, which is to take no memory and no lock.
class SignalReport {
 public:
  /// Loads the unwinder, which takes memory. Before the first signal.
  static void prepare() noexcept;

  void add(std::string_view text) noexcept;
  void add_number(std::uint64_t number, unsigned base = 10) noexcept;
  /// Adds a line about the work of the thread's fiber, if there is one that says what it does.
  void add_work() noexcept;
  /// Writes what was added, then the stack: reading a broken one may end in another signal.
  void write_with_stack(int descriptor) noexcept;

 private:
  std::array<char, 4096> text_{};
  std::size_t size_ = 0;
};

}  // namespace swizzle

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace swizzle {

/// A signal handler's report about the thread that it interrupted. Does only what a handler may do:
/// takes no memory and no lock.
class SignalReport {
 public:
  /// Loads the unwinder, which takes memory. Before the first signal.
  static void prepare() noexcept;

  void add(std::string_view text) noexcept;
  void add_number(std::uint64_t number, unsigned base = 10) noexcept;
  /// Adds a line about the work of the thread's fiber, if it has a CrashSubject.
  void add_work() noexcept;
  /// Writes the added lines, then the stack: reading a broken one may end in another signal.
  void write_with_stack(int descriptor) noexcept;

 private:
  std::array<char, 4096> text_{};
  std::size_t size_ = 0;
};

}  // namespace swizzle

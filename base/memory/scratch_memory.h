#pragma once

#include "base/bytes.h"

namespace swizzle {

/// Memory backed by a file without a name, which the operating system can swap out. For data that
/// may outgrow memory and need not survive the process. FileSystem::scratch() allocates all of its
/// space on the device, so touching it never meets a full disk. Touching a swapped-out page reads
/// it; a thread that may not wait asks base/memory/swapped_out.h first.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  virtual ~ScratchMemory() = default;

  [[nodiscard]] virtual MutableBytes bytes() noexcept = 0;
  /// Starts writing it to its file. Call some time before swap_out().
  virtual void write_back() noexcept = 0;
  /// Frees the memory that is in the file by now. The content stays.
  virtual void swap_out() noexcept = 0;
  /// Reads the swapped-out parts, so that no touch has to wait. Takes as long as the device.
  virtual void page_in() noexcept = 0;
};

}  // namespace swizzle

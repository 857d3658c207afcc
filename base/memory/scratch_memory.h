#pragma once

#include "base/bytes.h"

namespace swizzle {

/// Memory with a file behind it, so that the operating system can put elsewhere what nobody needs
/// at the moment. For what may grow beyond memory and need not survive the process; the file has no
/// name. FileSystem::scratch() makes it, with all of its room taken on the device, so touching it
/// never meets a full disk. A page that was put away is read when it is touched, by the thread that
/// does so; who may not wait asks base/memory/put_away.h first.
class ScratchMemory {
 public:
  ScratchMemory() = default;
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  virtual ~ScratchMemory() = default;

  [[nodiscard]] virtual MutableBytes bytes() noexcept = 0;
  /// Starts writing it to its file. Call before put_away(), some time.
  virtual void write_back() noexcept = 0;
  /// Gives back the memory of what is in the file by now. Its content stays.
  virtual void put_away() noexcept = 0;
  /// Reads what was put away, so that no touch has to wait. Takes as long as that does.
  virtual void bring_back() noexcept = 0;
};

}  // namespace swizzle

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/io/file.h"

namespace swizzle {

/// How transfers of the operating system's files are carried. `automatic` takes the environment
/// variable SWIZZLE_IO_ENGINE (io_uring or threads) if it is set, else io_uring where the kernel
/// permits it, else threads.
enum class IoEngine : std::uint8_t { automatic, io_uring, threads };

/// Carries requests on file descriptors. `submit` is as File::submit.
class IoBackend {
 public:
  IoBackend() = default;
  IoBackend(const IoBackend&) = delete;
  IoBackend& operator=(const IoBackend&) = delete;
  /// Pre: no request is under way.
  virtual ~IoBackend() = default;

  virtual void submit(int descriptor, std::span<IoRequest* const> requests) noexcept = 0;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
};

/// Turns `automatic` into the engine that this process will use; logs once when io_uring is
/// refused. `io_uring` falls back too: containers often forbid it.
IoEngine resolve(IoEngine wanted);

/// Returns a backend for callers on any thread; its own threads start with the first request.
std::unique_ptr<IoBackend> make_shared_backend(IoEngine engine);

/// Makes each system call at once, in submit(), and blocks the caller's thread meanwhile.
IoBackend& blocking_backend() noexcept;

}  // namespace swizzle

#pragma once

#include <filesystem>
#include <memory>

#include "base/io/posix_file_system.h"
#include "storage/engine.h"

namespace swizzle::bench {

/// An engine in a temporary directory, which is removed with it.
class ScratchDatabase {
 public:
  ScratchDatabase();
  ScratchDatabase(const ScratchDatabase&) = delete;
  ScratchDatabase& operator=(const ScratchDatabase&) = delete;
  ~ScratchDatabase();
  [[nodiscard]] Engine& engine() noexcept { return *engine_; }

 private:
  // Valgrind does not see io_uring's completions.
  PosixFileSystem files_{IoEngine::threads};
  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace swizzle::bench

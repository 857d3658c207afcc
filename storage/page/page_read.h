#pragma once

#include <cstddef>

#include "base/ids.h"
#include "base/io/file.h"

namespace swizzle {

/// An asynchronous read of a page, for read-ahead and batches. The owner keeps it and `into` alive
/// until `done` has been called. `done` runs on the thread that reaps completions, so it must be
/// short and not park. Volume::outcome() returns the result.
struct PageRead {
  PageId page = PageId::none;
  /// kPageBytes, aligned to File::kDirectAlignment.
  std::byte* into = nullptr;
  void (*done)(PageRead& read) noexcept = nullptr;
  void* context = nullptr;

  IoRequest request;  // of the I/O backend
};

}  // namespace swizzle

#pragma once

#include <cstddef>

#include "base/ids.h"
#include "base/io/file.h"

namespace swizzle {

/// One asynchronous read of a page, for reading ahead and for batches. The owner keeps it and
/// `into` alive until `done` was called, which runs on the thread that reaps completions: it is
/// short and does not park. Volume::outcome() then gives the result.
struct PageRead {
  PageId page = PageId::none;
  /// kPageBytes, aligned to File::kDirectAlignment.
  std::byte* into = nullptr;
  void (*done)(PageRead& read) noexcept = nullptr;
  void* context = nullptr;

  IoRequest request;  // of the I/O backend
};

}  // namespace swizzle

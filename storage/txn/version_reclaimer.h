#pragma once

#include "base/runtime/background_task.h"

namespace swizzle {

class TransactionPool;

/// The background task that frees what an old snapshot kept and nobody needs any more. Writers free
/// a little of what their threads kept as they commit; without this a snapshot that ends when
/// nobody writes, or a thread that ends, would leave versions behind, and a snapshot that ends
/// under load would leave a long bill to one of the writers.
class VersionReclaimer {
 public:
  explicit VersionReclaimer(TransactionPool& pool) noexcept : pool_(pool) {}
  VersionReclaimer(const VersionReclaimer&) = delete;
  VersionReclaimer& operator=(const VersionReclaimer&) = delete;
  ~VersionReclaimer() { stop(); }

  void start();
  /// Parks until the task has ended. Idempotent.
  void stop() noexcept { task_.stop(); }

 private:
  void run();

  TransactionPool& pool_;
  BackgroundTask task_;
};

}  // namespace swizzle

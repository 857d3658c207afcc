#pragma once

#include "base/runtime/background_task.h"

namespace swizzle {

class TransactionPool;

/// The background task that frees versions that an old snapshot kept and that are not needed any
/// more, and moves others to files while the store is over its bound. Writers free a few versions
/// of their own threads as they commit. Without this task a snapshot that ends while there are no
/// writers, or a thread that ends, would leave versions behind, and a snapshot that ends under load
/// would leave a long bill to one of the writers.
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

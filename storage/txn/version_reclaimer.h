#pragma once

#include <atomic>
#include <memory>

#include "base/runtime/runtime.h"
#include "storage/latch/spin_mutex.h"

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
  ~VersionReclaimer();

  void start();
  /// Parks until the task has ended. Idempotent.
  void stop() noexcept;

 private:
  void run();

  TransactionPool& pool_;
  SpinMutex task_mutex_;
  Parker* task_parker_ = nullptr;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<Task> task_;
};

}  // namespace swizzle

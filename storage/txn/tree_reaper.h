#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/ids.h"
#include "base/runtime/background_task.h"
#include "base/runtime/park_mutex.h"

namespace swizzle {

struct EngineParts;

/// The background task that frees the pages of dropped trees, so that a drop, or its commit, need
/// not wait for that. It works in small steps and yields between them. The next start continues
/// work that a stop or crash has interrupted (rule T5).
class TreeReaper {
 public:
  explicit TreeReaper(EngineParts& engine) noexcept : engine_(engine) {}
  TreeReaper(const TreeReaper&) = delete;
  TreeReaper& operator=(const TreeReaper&) = delete;
  ~TreeReaper() { stop(); }

  void start();
  /// Parks until the task has ended, in the middle of a tree if need be. Idempotent.
  void stop() noexcept { task_.stop(); }
  /// Tells that a tree has been retired.
  void wake() noexcept { task_.wake(); }
  /// Parks until all trees are freed that no snapshot may read any more, or one could not be. Pre:
  /// started.
  void settle();
  /// Keeps the task from changing pages for its lifetime: for checks of whole trees.
  class Pause {
   public:
    explicit Pause(TreeReaper& of) : hold_(of.working_) {}

   private:
    std::lock_guard<ParkMutex> hold_;
  };

 private:
  void run();
  bool reap_one_round();
  bool reap(TreeId tree);

  EngineParts& engine_;
  /// Held while pages change; released between steps.
  ParkMutex working_;
  std::atomic<std::uint64_t> failures_{0};
  BackgroundTask task_;
};

}  // namespace swizzle

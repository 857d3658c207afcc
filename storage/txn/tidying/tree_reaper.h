#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/ids.h"
#include "base/runtime/background_task.h"
#include "base/runtime/park_mutex.h"

namespace swizzle {

struct EngineParts;

/// The background task that frees the pages of dropped trees, so that neither the drop nor its
/// commit waits for that. It works in small steps and yields between them. After a stop or crash
/// the next start continues the work (rule T5).
class TreeReaper {
 public:
  explicit TreeReaper(EngineParts& engine) noexcept : engine_(engine) {}
  TreeReaper(const TreeReaper&) = delete;
  TreeReaper& operator=(const TreeReaper&) = delete;
  ~TreeReaper() { stop(); }

  void start();
  /// Parks until the task has ended; it may stop in the middle of a tree. Idempotent.
  void stop() noexcept { task_.stop(); }
  /// Tells that a tree has been retired.
  void wake() noexcept { task_.wake(); }
  /// Parks until all trees that no snapshot may read any more are freed, or one could not be freed.
  /// Pre: started.
  void wait_until_reaped();
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
  /// Held while the task changes pages; released between steps.
  ParkMutex working_;
  std::atomic<std::uint64_t> failures_{0};
  BackgroundTask task_;
};

}  // namespace swizzle

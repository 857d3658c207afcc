#pragma once

#include <atomic>

#include "base/result.h"
#include "storage/txn/version_index.h"

namespace swizzle {

/// Visibility of the records that a tree was loaded with, which have no versions of their own. A
/// tree is loaded while it is blank and no other transaction may write to it, so all of its records
/// are younger than the load. A reader that may not see the load sees an empty tree, but for its
/// own writes.
///
/// Written by the loading transaction only, which is in no other transaction's snapshot before its
/// commit has returned. Readers of snapshots lock nothing, so a load may begin while one is on its
/// way: a reader that checked the birth before a read checks it again afterwards, by loads().
class TreeBirth {
 public:
  /// True if a snapshot read may look at the tree.
  [[nodiscard]] bool is_visible_to(const Viewer& viewer) const noexcept {
    const std::uint64_t since = since_.load(std::memory_order_acquire);
    if (since == 0) [[likely]]
      return true;
    if (since == kClosed) return false;
    if (since != kUncommitted) return Lsn{since} < viewer.snapshot;
    return !is_loading() && viewer.own == loader_.load(std::memory_order_relaxed) &&
           (viewer.statement == 0 || statement_.load(std::memory_order_relaxed) < viewer.statement);
  }
  /// Returns how often a load has begun or the tree was opened. Read before is_visible_to(), so
  /// that its answer is no older. Read again after a validated read of a page, it counts the load
  /// that the page came from: the count grows before there is a page.
  [[nodiscard]] std::uint32_t loads() const noexcept {
    return loads_.load(std::memory_order_acquire);
  }
  /// The tree has no right end yet: it can be neither read nor changed.
  [[nodiscard]] bool is_loading() const noexcept {
    return loading_.load(std::memory_order_acquire);
  }
  /// False while a load may be taken back, which empties the tree, and while the tree is closed.
  [[nodiscard]] bool may_be_tidied() const noexcept {
    const std::uint64_t since = since_.load(std::memory_order_acquire);
    return since != kUncommitted && since != kClosed;
  }
  /// A transaction of before the start has changed much of it and is being rolled back: readers
  /// wait for that.
  [[nodiscard]] bool is_closed() const noexcept {
    return since_.load(std::memory_order_acquire) == kClosed;
  }
  /// XX000 while it is being loaded.
  [[nodiscard]] Result<> require_loaded() const {
    if (is_loading()) [[unlikely]]
      return fail(sqlstate::internal_error, "a tree is used while it is being loaded");
    return {};
  }

  void begin(const UndoLog* loader, std::uint32_t statement) noexcept {
    loader_.store(loader, std::memory_order_relaxed);
    statement_.store(statement, std::memory_order_relaxed);
    loading_.store(true, std::memory_order_relaxed);
    // Publishes the loader; the count publishes that the tree is hidden.
    since_.store(kUncommitted, std::memory_order_release);
    loads_.fetch_add(1, std::memory_order_release);
  }
  /// Pre: no load has begun, and nobody reads the tree yet.
  void close() noexcept { since_.store(kClosed, std::memory_order_release); }
  /// The count tells a reader that found the tree closed that this is over.
  void open() noexcept {
    loads_.fetch_add(1, std::memory_order_release);
    since_.store(0, std::memory_order_release);
  }
  void loaded() noexcept { loading_.store(false, std::memory_order_release); }
  void committed(Lsn commit) noexcept { since_.store(raw(commit), std::memory_order_release); }
  /// The load is undone: the tree is empty.
  void undone() noexcept {
    loading_.store(false, std::memory_order_relaxed);
    since_.store(0, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t kUncommitted = UINT64_MAX;
  static constexpr std::uint64_t kClosed = UINT64_MAX - 1;

  /// The load's commit record; 0: the tree was not loaded, or before the engine was opened.
  std::atomic<std::uint64_t> since_{0};
  std::atomic<bool> loading_{false};
  std::atomic<std::uint32_t> loads_{0};
  std::atomic<const UndoLog*> loader_{nullptr};
  std::atomic<std::uint32_t> statement_{0};
};

}  // namespace swizzle

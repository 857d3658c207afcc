#pragma once

#include <atomic>

#include "base/result.h"
#include "storage/txn/versions/version_index.h"

namespace swizzle {

/// Visibility of the records that a tree was loaded with, which have no versions of their own. A
/// tree is loaded while it is blank and no other transaction may write to it, so all of its records
/// are younger than the load. A reader that may not see the load sees an empty tree, apart from its
/// own writes.
///
/// Written only by the loading transaction, which no other transaction's snapshot sees before its
/// commit has returned. Readers of snapshots lock nothing, so a load may begin during a read: a
/// reader that checked the birth before a read checks it again afterwards, by loads().
class TreeBirth {
 public:
  /// Returns true if a snapshot read may look at the tree.
  [[nodiscard]] bool is_visible_to(const Viewer& viewer) const noexcept {
    const std::uint64_t since = since_.load(std::memory_order_acquire);
    if (since == 0) [[likely]]
      return true;
    if (since == kClosed) return false;
    if (since != kUncommitted) return Lsn{since} < viewer.snapshot;
    return !is_loading() && viewer.own == loader_.load(std::memory_order_relaxed) &&
           (viewer.statement == 0 || statement_.load(std::memory_order_relaxed) < viewer.statement);
  }
  /// Returns how often a load has begun or the tree was opened. Read it before is_visible_to(), so
  /// that its answer is no older. A second call after a validated read of a page counts the load
  /// that the page came from, since the count grows before there is a page.
  [[nodiscard]] std::uint32_t loads() const noexcept {
    return loads_.load(std::memory_order_acquire);
  }
  /// Returns true while the tree has no right end yet: it can be neither read nor changed.
  [[nodiscard]] bool is_loading() const noexcept {
    return loading_.load(std::memory_order_acquire);
  }
  /// Returns false while a load may be undone, which empties the tree, and while the tree is
  /// closed.
  [[nodiscard]] bool may_be_tidied() const noexcept {
    const std::uint64_t since = since_.load(std::memory_order_acquire);
    return since != kUncommitted && since != kClosed;
  }
  /// Returns true while the tree is closed: a transaction from before the start has changed much of
  /// it and is being rolled back, and readers wait for that.
  [[nodiscard]] bool is_closed() const noexcept {
    return since_.load(std::memory_order_acquire) == kClosed;
  }
  /// Returns XX000 while the tree is being loaded.
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
  /// The count tells a reader that found the tree closed that it is open again.
  void open() noexcept {
    loads_.fetch_add(1, std::memory_order_release);
    since_.store(0, std::memory_order_release);
  }
  void loaded() noexcept { loading_.store(false, std::memory_order_release); }
  void committed(Lsn commit) noexcept { since_.store(raw(commit), std::memory_order_release); }
  /// Notes that the load is undone: the tree is empty.
  void undone() noexcept {
    loading_.store(false, std::memory_order_relaxed);
    since_.store(0, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t kUncommitted = UINT64_MAX;
  static constexpr std::uint64_t kClosed = UINT64_MAX - 1;

  /// The load's commit record; 0: the tree was not loaded, or was loaded before the engine was
  /// opened.
  std::atomic<std::uint64_t> since_{0};
  std::atomic<bool> loading_{false};
  std::atomic<std::uint32_t> loads_{0};
  std::atomic<const UndoLog*> loader_{nullptr};
  std::atomic<std::uint32_t> statement_{0};
};

}  // namespace swizzle

#pragma once

// Shared by the tests of this folder.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/invariant.h"
#include "base/runtime/runtime.h"
#include "lock/internal/pause_point.h"
#include "lock/lock_owner.h"

namespace swizzle::lock {

using namespace std::chrono_literals;

inline constexpr TreeId kTree{7};
/// Returns the lock of a made-up key. Numbers are spread over the hash, because consecutive hashes
/// would have buckets of their own.
inline LockId key(std::uint64_t number) {
  return {kTree, (number * 0x9E3779B97F4A7C15ULL) << 3 | 1};
}

inline const std::vector<LockVariant> kVariants{LockVariant::raw, LockVariant::latched};

/// Returns options with few buckets, so that unrelated locks share lists: key() uses one bucket in
/// eight.
inline LockOptions small_table(LockVariant variant = LockVariant::raw) {
  LockOptions options;
  options.variant = variant;
  options.buckets = 32;
  return options;
}

/// Wait for grants that must come: fails after a minute instead of hanging.
inline constexpr LockWait kPatient{.lock_timeout = 60s};

inline std::string state_of(const Result<Acquired>& result) {
  if (!result) return std::string{result.error().state().code()};
  return *result == Acquired::granted ? "granted" : "skipped";
}

/// Waits up to ten seconds until `condition` holds. Returns false if it does not.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

inline std::size_t waiting_now(const LockManager& manager) {
  std::size_t count = 0;
  for (const LockRow& row : manager.snapshot()) {
    if (row.state == LockRow::State::waiting) ++count;
  }
  return count;
}

/// Runs a body on another thread; join() or the destructor waits for it. Bodies assert by
/// INVARIANT, since Catch2's assertions work on one thread only.
class InThread {
 public:
  template <class Body>
  explicit InThread(Body body) : task_(Runtime::current().spawn("test", std::move(body))) {}
  void join() { task_->join(); }

 private:
  std::unique_ptr<Task> task_;
};

#ifdef SWIZZLE_PAUSE_POINTS
/// Sets the function called at every pause point, for a scope.
class PauseHookScope {
 public:
  explicit PauseHookScope(PauseHook hook) { pause_hook.store(hook, std::memory_order_release); }
  PauseHookScope(const PauseHookScope&) = delete;
  PauseHookScope& operator=(const PauseHookScope&) = delete;
  ~PauseHookScope() { pause_hook.store(nullptr, std::memory_order_release); }
};
#endif

/// Record of granted locks, kept by the test itself: updated after a grant and before a release, so
/// any conflict that it finds is real. Throws, which ends a simulation or the process.
class Oracle {
 public:
  using Place = std::tuple<std::uint32_t, std::uint64_t>;

  void granted(int owner, LockId id, KeyMode mode, Lsn watermark) {
    const std::scoped_lock guard{mutex_};
    for (const Held& held : keys_) {
      if (held.owner != owner && held.id == id && !compatible(held.mode, mode)) {
        fail("two owners hold incompatible locks on a key");
      }
    }
    for (const HeldTable& held : tables_) {
      const bool writes = combine(mode.key, mode.gap) == Access::exclusive;
      const TableMode intent = writes ? TableMode::intent_exclusive : TableMode::intent_shared;
      if (held.owner != owner && held.tree == id.tree && !compatible(held.mode, intent)) {
        fail("a key lock beside a table lock that excludes it");
      }
    }
    if (mode.key != Access::none && watermark < committed_[{raw(id.tree), id.hash}]) {
      fail("P10: read what a commit released, without its LSN");
    }
    keys_.push_back({owner, id, mode});
  }

  void granted_table(int owner, TreeId tree, TableMode mode, Lsn watermark) {
    const std::scoped_lock guard{mutex_};
    for (const HeldTable& held : tables_) {
      if (held.owner != owner && held.tree == tree && !compatible(held.mode, mode)) {
        fail("two owners hold incompatible locks on a table");
      }
    }
    if (!is_intent(mode)) {
      for (const auto& [place, lsn] : committed_) {
        if (std::get<0>(place) == raw(tree) && watermark < lsn) {
          fail("P10: a table lock reads what a commit released, without its LSN");
        }
      }
    }
    tables_.push_back({owner, tree, mode});
  }

  void releasing_since(int owner, std::size_t count) {
    const std::scoped_lock guard{mutex_};
    std::size_t seen = 0;
    std::erase_if(keys_, [&](const Held& held) { return held.owner == owner && seen++ >= count; });
  }

  void releasing(int owner, Lsn commit_lsn) {
    const std::scoped_lock guard{mutex_};
    for (const Held& held : keys_) {
      if (held.owner == owner && held.mode.key == Access::exclusive && commit_lsn != Lsn::none) {
        committed_[{raw(held.id.tree), held.id.hash}] = commit_lsn;
      }
    }
    std::erase_if(keys_, [&](const Held& held) { return held.owner == owner; });
    std::erase_if(tables_, [&](const HeldTable& held) { return held.owner == owner; });
  }

  [[nodiscard]] std::size_t keys_of(int owner) {
    const std::scoped_lock guard{mutex_};
    return static_cast<std::size_t>(std::ranges::count(keys_, owner, &Held::owner));
  }

 private:
  struct Held {
    int owner;
    LockId id;
    KeyMode mode;
  };
  struct HeldTable {
    int owner;
    TreeId tree;
    TableMode mode;
  };

  [[noreturn]] static void fail(const char* what) { throw std::logic_error{what}; }

  std::mutex mutex_;
  std::vector<Held> keys_;
  std::vector<HeldTable> tables_;
  std::map<Place, Lsn> committed_;
};

}  // namespace swizzle::lock

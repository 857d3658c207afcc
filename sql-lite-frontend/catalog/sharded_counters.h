#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace swizzle::sql {

/// Number of shards of a counter; the last is for all threads beyond the others.
inline constexpr std::size_t kCounterShards = 16;
/// The calling thread's shard. Below kCounterShards - 1 it is this thread's alone.
std::size_t counter_shard() noexcept;

/// Counts without a cache line that two threads write: each thread has its own, as long as there
/// are few enough. Thread-safe. Takes no memory before the first count. `What` is an enumeration of
/// at most eight, from 0.
template <class What>
class ShardedCounters {
 public:
  ShardedCounters() = default;
  ShardedCounters(const ShardedCounters&) = delete;
  ShardedCounters& operator=(const ShardedCounters&) = delete;
  ~ShardedCounters() { delete shards_.load(std::memory_order_relaxed); }

  void add(What what, std::uint64_t count = 1) noexcept {
    if (count != 0) add_all(Amount{what, count});
  }
  struct Amount {
    What what;
    std::uint64_t count;
  };
  /// Several at once, which costs less than one after the other.
  template <class... Amounts>
  void add_all(const Amounts&... amounts) noexcept {
    // acquire: what make_shards() published.
    Shards* shards = shards_.load(std::memory_order_acquire);
    if (shards == nullptr) [[unlikely]]
      shards = make_shards();
    const std::size_t shard = counter_shard();
    auto& counters = (*shards)[shard].counters;
    if (shard + 1 < kCounterShards) [[likely]] {
      // The shard belongs to this thread, so that load and store suffice.
      const auto add_alone = [&counters](const Amount& amount) {
        Counter& counter = counters[static_cast<std::size_t>(amount.what)];
        counter.store(counter.load(std::memory_order_relaxed) + amount.count,
                      std::memory_order_relaxed);
      };
      (add_alone(amounts), ...);
    } else {
      (counters[static_cast<std::size_t>(amounts.what)].fetch_add(amounts.count,
                                                                  std::memory_order_relaxed),
       ...);
    }
  }
  /// Restarts since_reset() from zero.
  void reset() noexcept {
    Shards* shards = shards_.load(std::memory_order_acquire);  // as above
    if (shards == nullptr) return;
    for (std::size_t what = 0; what < kKinds; ++what) {
      shards->back().counters[what].store(total(static_cast<What>(what)),
                                          std::memory_order_relaxed);
    }
  }
  [[nodiscard]] std::uint64_t since_reset(What what) const noexcept {
    const Shards* shards = shards_.load(std::memory_order_acquire);  // as above
    if (shards == nullptr) return 0;
    const std::uint64_t before =
        shards->back().counters[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
    return total(what) - before;
  }
  /// Since the start. Exact at rest.
  [[nodiscard]] std::uint64_t total(What what) const noexcept {
    // acquire: what make_shards() published.
    const Shards* shards = shards_.load(std::memory_order_acquire);
    if (shards == nullptr) return 0;
    std::uint64_t sum = 0;
    for (std::size_t shard = 0; shard < kCounterShards; ++shard) {
      sum +=
          (*shards)[shard].counters[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  static constexpr std::size_t kKinds = 8;
  using Counter = std::atomic<std::uint64_t>;
  struct alignas(64) Shard {
    std::array<Counter, kKinds> counters{};
  };
  static_assert(sizeof(Shard) == 64);
  /// The last one has what had been counted when reset() was called.
  using Shards = std::array<Shard, kCounterShards + 1>;

  Shards* make_shards() noexcept {
    auto fresh = std::make_unique<Shards>();
    Shards* known = nullptr;
    // release: publishes the zeroed counters; acquire: observes those of the thread that won.
    if (shards_.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel)) {
      return fresh.release();
    }
    return known;
  }

  std::atomic<Shards*> shards_{nullptr};
};

}  // namespace swizzle::sql

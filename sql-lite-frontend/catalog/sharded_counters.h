#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace swizzle::sql {

/// Number of shards of a counter. All threads without a shard of their own share the last.
inline constexpr std::size_t kCounterShards = 16;
/// Returns the calling thread's shard. Shards below kCounterShards - 1 have one writer.
std::size_t counter_shard() noexcept;

/// Counters without shared cache lines: each thread writes its own shard, as long as there are
/// enough. Thread-safe. Allocates at the first count. `What` is an enumeration of at most eight
/// values from 0.
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
  /// Adds to several counters with one look-up of the shard.
  template <class... Amounts>
  void add_all(const Amounts&... amounts) noexcept {
    // acquire: what make_shards() published.
    Shards* shards = shards_.load(std::memory_order_acquire);
    if (shards == nullptr) [[unlikely]]
      shards = make_shards();
    const std::size_t shard = counter_shard();
    auto& counters = (*shards)[shard].counters;
    if (shard + 1 < kCounterShards) [[likely]] {
      // This thread is the shard's only writer, so load and store suffice.
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
  /// Returns the sum since the start-up. Exact while no thread counts.
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
  /// The element after the shards has the counts as of reset().
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

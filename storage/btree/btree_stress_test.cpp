#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/random.h"
#include "storage/testing/tree_harness.h"

namespace swizzle {
namespace {

using testing::TreeHarness;

/// Threads work on keys of their own, interleaved in every leaf, so each knows the expected results
/// while splits, adoptions, merges and evictions go on. Half of the steps are near the previous
/// one, so that hints are used.
template <class Pool>
class Worker {
 public:
  Worker(TreeHarness<Pool>& harness, unsigned number, unsigned count, std::uint64_t seed)
      : harness_(harness), number_(number), count_(count), random_(seed) {}

  void run(int steps) {
    std::size_t index = 0;
    for (int step = 0; step < steps; ++step) {
      index = random_() % 2 == 0 ? random_() % kKeys : (index + random_() % 3) % kKeys;
      LeafHint* const hint = random_() % 4 == 0 ? nullptr : &hint_;
      const std::string key = key_of(index);
      std::string& known = known_[index];
      switch (random_() % 4) {
        case 0: {
          const std::string value(1 + random_() % 100, static_cast<char>('a' + random_() % 26));
          INVARIANT(harness_.insert(key, value, hint) == known.empty());
          if (known.empty()) known = value;
          break;
        }
        case 1: {
          const std::string value(1 + random_() % 100, static_cast<char>('A' + random_() % 26));
          INVARIANT(harness_.update(key, value, hint) == !known.empty());
          if (!known.empty()) known = value;
          break;
        }
        case 2:
          INVARIANT(harness_.remove(key, hint) == !known.empty());
          known.clear();
          if (random_() % 8 == 0) INVARIANT(harness_.tree->tidy(as_bytes(key)).has_value());
          break;
        default:
          // Also start read-aheads without waiting for them, as a scan does.
          if (step % 16 == 0)
            INVARIANT(harness_.tree->read_ahead(as_bytes(key), 6, Interest::once).has_value());
          if (step % 5 == 0) ask_for_keys_after(index);
          INVARIANT(step % 3 == 0 ? passing_by(key) == known
                                  : harness_.get(key, hint).value_or("") == known);
      }
    }
    for (std::size_t i = 0; i < kKeys; ++i)
      INVARIANT(harness_.get(key_of(i)).value_or("") == known_[i]);
  }

 private:
  static constexpr std::size_t kKeys = 800;
  [[nodiscard]] std::string key_of(std::size_t index) const {
    return "row " + std::to_string(1'000'000 + index * count_ + number_);
  }

  void ask_for_keys_after(std::size_t index) {
    std::array<std::string, 20> names;
    std::array<Bytes, 20> keys;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      names[i] = key_of((index + 7 * i) % kKeys);
      keys[i] = as_bytes(names[i]);
    }
    std::array<LeafHint, 8> leaves;
    INVARIANT(harness_.tree->prefetch(keys, leaves) <= leaves.size());
    for (LeafHint& leaf : leaves) {
      const std::size_t at = random_() % keys.size();
      INVARIANT(harness_.get(names[at], &leaf).value_or("") == known_[(index + 7 * at) % kKeys]);
    }
  }

  std::string passing_by(const std::string& key) {
    std::string found;
    const auto visit = [&](const Node& leaf, Node::Position at) {
      found.clear();
      if (at.exact && !leaf.is_ghost(at.index)) found = std::string(as_text(leaf.value(at.index)));
    };
    INVARIANT(harness_.tree->read(as_bytes(key), visit, Interest::once).has_value());
    return found;
  }

  TreeHarness<Pool>& harness_;
  unsigned number_;
  unsigned count_;
  std::mt19937_64 random_;
  std::array<std::string, kKeys> known_;
  LeafHint hint_;
};

// Under ThreadSanitizer readers take latches and spin, so many threads on few processors wait for
// each other's time slices: use fewer.
#ifdef __SANITIZE_THREAD__
constexpr int kShareOfSteps = 12;
constexpr unsigned kMany = 3;
#else
constexpr int kShareOfSteps = 1;
constexpr unsigned kMany = 8;
#endif

template <class Pool>
void check_pool(const TreeHarness<Pool>& harness) {
  const std::vector<std::string> damage = harness.pool->audit();
  CAPTURE(damage);
  CHECK(damage.empty());
}

}  // namespace

TEMPLATE_TEST_CASE("P20 P21 P22 threads find what they wrote while pages come and go",
                   "[storage][btree][stress]", SwizzlingPool, TraditionalPool, MainMemoryPool) {
  constexpr bool kInMemory = std::is_same_v<TestType, MainMemoryPool>;
  const unsigned threads = GENERATE(2U, kMany);
  const std::uint64_t seed = Catch::rngSeed();
  INFO("seed " << seed);
  TreeHarness<TestType> harness(kInMemory ? 4000U : 40U);
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i)
    running.emplace_back([&harness, i, threads, seed] {
      Worker<TestType>(harness, i, threads, seed + i)
          .run(static_cast<int>(24'000 / threads) / kShareOfSteps);
    });
  for (std::thread& thread : running) thread.join();
  CHECK(harness.tree->verify().value() == std::vector<std::string>{});
  if constexpr (std::is_same_v<TestType, SwizzlingPool>) check_pool(harness);
}

TEMPLATE_TEST_CASE("P20 P21 P22 threads find what they wrote under every replacement policy",
                   "[storage][btree][stress]", SwizzlingPool, TraditionalPool) {
  const ReplacementOptions replacement =
      GENERATE(ReplacementOptions{.policy = Replacement::random},
               ReplacementOptions{.policy = Replacement::gclock, .gclock_limit = 2},
               ReplacementOptions{.policy = Replacement::car},
               ReplacementOptions{.policy = Replacement::lru},
               ReplacementOptions{.policy = Replacement::cooling_fifo});
  const unsigned threads = GENERATE(1U, kMany);
  const std::uint64_t seed = Catch::rngSeed();
  INFO("seed " << seed << ", policy " << static_cast<int>(replacement.policy));
  TreeHarness<TestType> harness(threads == 1 ? 16 : 40, replacement, 2);
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; ++i)
    running.emplace_back([&harness, i, threads, seed] {
      Worker<TestType>(harness, i, threads, seed + i)
          .run(static_cast<int>(60'000 / threads) / kShareOfSteps);
    });
  for (std::thread& thread : running) thread.join();
  CHECK(harness.tree->verify().value() == std::vector<std::string>{});
  if constexpr (std::is_same_v<TestType, SwizzlingPool>) check_pool(harness);
}

TEST_CASE("P29 a read that fails gives everybody the error, and the next try reads anew",
          "[storage][buffer]") {
  TreeHarness<SwizzlingPool> harness(20);
  for (int i = 0; i < 3000; ++i) harness.insert(std::to_string(i), std::string(100, 'v'));
  int failures = 0;
  for (int i = 0; i < 3000; i += 7) {
    harness.store.fail_next_reads(1);
    auto read = harness.tree->read(as_bytes(std::to_string(i)), [](const Node&, Node::Position) {});
    harness.store.fail_next_reads(0);
    if (!read) {
      ++failures;
      CHECK(read.error().state() == sqlstate::io_error);
    }
    REQUIRE(harness.get(std::to_string(i)) == std::string(100, 'v'));
  }
  CHECK(failures > 100);
  check_pool(harness);
}

TEST_CASE("P28 a search in random bytes stays inside the page", "[storage][btree]") {
  std::mt19937_64 random(Catch::rngSeed());
  // A global variable of its own, so that AddressSanitizer detects accesses beyond it.
  alignas(64) static std::array<std::byte, kPageBytes> page;
  alignas(64) static std::array<std::byte, kPageBytes> copied;
  std::byte* const memory = page.data();
  for (int round = 0; round < 20'000; ++round) {
    for (std::size_t i = 0; i < kPageBytes; i += 8) store(memory + i, random());
    // Half the time the header is plausible.
    Node& node = Node::of(memory);
    if (round % 2 == 0) {
      const Node::Fences fences{{}, KeyBound::infinite(), KeyBound::infinite()};
      node.format(PageId{1}, TreeId{1}, static_cast<std::uint8_t>(round % 4 == 0), fences);
      const auto count = static_cast<std::uint16_t>(random() % 2000);
      std::memcpy(memory + 48, &count, sizeof count);
    }
    std::array<std::byte, 12> key;
    for (std::byte& byte : key) byte = static_cast<std::byte>(random());
    const Node::Position at = node.lower_bound(key);
    CHECK(at.index <= Node::kMaxSlots);
    std::size_t touched = 0;
    const std::uint16_t slots = node.count();
    for (std::uint16_t i = 0; i < slots; i = static_cast<std::uint16_t>(i + 97)) {
      std::array<std::byte, Node::kMaxKeyBytes> copy;
      touched += node.copy_key(i, copy.data());
      for (const std::byte byte : node.value(i)) touched += std::to_integer<std::size_t>(byte);
      touched += load_ref(node.child_ref(i)).is_swizzled() ? 1U : 0U;
    }
    node.copy_part(static_cast<std::uint16_t>(slots / 3), static_cast<std::uint16_t>(slots / 2),
                   copied.data());
    const KeyBound high = node.chain_high_fence();
    CHECK(touched + high.key.size() + node.prefix().size() < SIZE_MAX);
  }
}

}  // namespace swizzle

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <semaphore>
#include <thread>

#include "base/simulation/seeded_runs.h"
#include "storage/testing/tree_harness.h"

namespace swizzle {
namespace {

using testing::TreeHarness;

/// Keys that share prefixes, so that prefixes grow and shrink.
std::string random_key(std::mt19937_64& random, std::uint32_t space) {
  const auto number = static_cast<std::uint32_t>(random() % space);
  std::string key = number % 3 == 0 ? "customer/" : (number % 3 == 1 ? "cust" : "");
  key += std::to_string(number);
  if (number % 7 == 0) key += std::string(number % 300, 'x');
  if (key.empty()) key = "0";
  return key;
}

std::string random_value(std::mt19937_64& random) {
  return std::string(random() % 10 == 0 ? random() % 900 : random() % 60,
                     static_cast<char>('a' + random() % 26));
}

template <class Pool>
void expect_equal(TreeHarness<Pool>& harness, const std::map<std::string, std::string>& model) {
  auto violations = harness.tree->verify();
  REQUIRE(violations.has_value());
  REQUIRE(*violations == std::vector<std::string>{});
  if constexpr (std::is_same_v<Pool, SwizzlingPool>)
    REQUIRE(harness.pool->audit() == std::vector<std::string>{});

  // Forward by high fences, as cursors do.
  auto expected = model.begin();
  LeafCopy leaf;
  std::string from(1, '\0');
  while (true) {
    REQUIRE(harness.tree->copy_leaf(as_bytes(from), leaf).has_value());
    const Node& node = leaf.node();
    for (std::uint16_t i = 0; i < node.count(); ++i) {
      if (node.is_ghost(i)) continue;
      std::array<std::byte, Node::kMaxKeyBytes> key;
      const std::string_view text = as_text({key.data(), node.copy_key(i, key.data())});
      if (text < from) continue;
      REQUIRE(expected != model.end());
      REQUIRE(text == expected->first);
      REQUIRE(as_text(node.value(i)) == expected->second);
      ++expected;
    }
    if (node.high_fence().is_infinite()) break;
    from = as_text(node.high_fence().key);
  }
  REQUIRE(expected == model.end());

  // Backward by low fences.
  auto back = model.rbegin();
  std::optional<std::string> below;
  do {
    const KeyBound bound = below ? KeyBound::at(as_bytes(*below)) : KeyBound::infinite();
    REQUIRE(harness.tree->copy_leaf_below(bound, leaf).has_value());
    const Node& node = leaf.node();
    for (std::uint16_t i = node.count(); i-- > 0;) {
      if (node.is_ghost(i)) continue;
      std::array<std::byte, Node::kMaxKeyBytes> key;
      const std::string_view text = as_text({key.data(), node.copy_key(i, key.data())});
      REQUIRE(back != model.rend());
      REQUIRE(text == back->first);
      ++back;
    }
    below = std::string(as_text(node.low_fence()));
  } while (!below->empty());
  REQUIRE(back == model.rend());
}

struct ModelRun {
  std::uint64_t seed;
  std::uint32_t frames;
  std::uint32_t key_space;
  int steps;
  ReplacementOptions replacement = {};
  std::uint32_t partitions = 1;
};

/// Scans as a large scan does: usage counters stay as they are, and leaves are read ahead.
template <class Pool>
std::optional<std::string> pass_by(TreeHarness<Pool>& harness, const std::string& key) {
  const std::uint32_t ahead = static_cast<std::uint32_t>(key.size() % 4);
  REQUIRE(harness.tree->read_ahead(as_bytes(key), ahead + 1, Interest::once).has_value());
  REQUIRE(harness.tree->read_ahead_below(KeyBound::at(as_bytes(key)), ahead, Interest::keep)
              .has_value());
  std::optional<std::string> found;
  const auto visit = [&](const Node& leaf, Node::Position at) {
    found.reset();
    if (at.exact && !leaf.is_ghost(at.index)) found = std::string(as_text(leaf.value(at.index)));
  };
  REQUIRE(harness.tree->read(as_bytes(key), visit, Interest::once).has_value());
  return found;
}

template <class Pool>
void run_model(const ModelRun& run) {
  const auto [seed, frames, key_space, steps, replacement, partitions] = run;
  INFO("seed " << seed << ", " << frames << " frames, key space " << key_space << ", policy "
               << static_cast<int>(replacement.policy) << ", " << partitions << " partitions");
  std::mt19937_64 random(seed);
  TreeHarness<Pool> harness(frames, replacement, partitions);
  std::map<std::string, std::string> model;
  for (int step = 0; step < steps; ++step) {
    const std::string key = random_key(random, key_space);
    const std::string value = random_value(random);
    // Alternate phases of growth and of shrinking, so that both merges and splits happen.
    const bool shrinking = step % 4000 >= 2500;
    switch (random() % 9) {
      case 8: {
        const auto found = model.find(key);
        const auto got = pass_by(harness, key);
        REQUIRE(got.has_value() == (found != model.end()));
        if (got) REQUIRE(*got == found->second);
        break;
      }
      case 0:
      case 1:
      case 2:
        if (!shrinking) {
          REQUIRE(harness.insert(key, value) == model.emplace(key, value).second);
          break;
        }
        [[fallthrough]];
      case 3:
        REQUIRE(harness.remove(key) == (model.erase(key) == 1));
        break;
      case 4:
      case 5: {
        const auto found = model.find(key);
        REQUIRE(harness.update(key, value) == (found != model.end()));
        if (found != model.end()) found->second = value;
        break;
      }
      case 6:
        if (shrinking) REQUIRE(harness.tree->tidy(as_bytes(key)).has_value());
        [[fallthrough]];
      default: {
        const auto found = model.find(key);
        const auto got = harness.get(key);
        REQUIRE(got.has_value() == (found != model.end()));
        if (got) REQUIRE(*got == found->second);
      }
    }
    if (step % 2000 == 1999) expect_equal(harness, model);
  }
  expect_equal(harness, model);
  auto pages = harness.tree->pages();
  REQUIRE(pages.has_value());
  CHECK(pages->size() == harness.store.allocated());
}

}  // namespace

TEMPLATE_TEST_CASE("P21 P23 the tree equals a map through splits, merges and evictions",
                   "[storage][btree]", SwizzlingPool, TraditionalPool, MainMemoryPool) {
  constexpr bool kInMemory = std::is_same_v<TestType, MainMemoryPool>;
  const std::uint64_t seed = GENERATE(1U, 2U, 3U);
  run_model<TestType>({seed, kInMemory ? 4000U : 16U, 600, 6000});
  run_model<TestType>({seed + 100, kInMemory ? 4000U : 24U, 5000, 12000});
}

TEMPLATE_TEST_CASE("P20 P21 P22 the tree equals a map under every replacement policy",
                   "[storage][btree][buffer]", SwizzlingPool, TraditionalPool) {
  const ReplacementOptions replacement =
      GENERATE(ReplacementOptions{.policy = Replacement::random},
               ReplacementOptions{.policy = Replacement::gclock, .gclock_limit = 1},
               ReplacementOptions{.policy = Replacement::gclock, .gclock_limit = 8},
               ReplacementOptions{.policy = Replacement::car},
               ReplacementOptions{.policy = Replacement::lru},
               ReplacementOptions{.policy = Replacement::cooling_fifo},
               ReplacementOptions{.policy = Replacement::cooling_fifo, .cooling_percent = 50});
  run_model<TestType>(
      {.seed = 7, .frames = 16, .key_space = 600, .steps = 4000, .replacement = replacement});
  run_model<TestType>(
      {.seed = 8, .frames = 24, .key_space = 5000, .steps = 6000, .replacement = replacement});
}

TEMPLATE_TEST_CASE("the tree equals a map in a pool of several partitions",
                   "[storage][btree][buffer]", SwizzlingPool, TraditionalPool) {
  const std::uint32_t partitions = GENERATE(2U, 3U, 7U);
  run_model<TestType>(
      {.seed = 5, .frames = 24, .key_space = 3000, .steps = 6000, .partitions = partitions});
}

TEMPLATE_TEST_CASE("ascending and descending inserts fill their pages", "[storage][btree]",
                   SwizzlingPool, TraditionalPool, MainMemoryPool) {
  const bool ascending = GENERATE(true, false);
  TreeHarness<TestType> harness(2000);
  constexpr int kKeys = 20000;
  for (int i = 0; i < kKeys; ++i) {
    const auto number = static_cast<std::uint64_t>(ascending ? i : kKeys - i);
    std::array<std::byte, 8> key;
    store_big_endian(key.data(), number);
    REQUIRE(harness.insert(as_text(key), std::string(100, 'v')));
  }
  REQUIRE(harness.tree->verify()->empty());
  // 112 bytes a record with its slot, so 71 fit into a page.
  const double records_per_page = kKeys / static_cast<double>(harness.tree->pages()->size());
  CHECK(records_per_page > 0.8 * 71);
}

TEMPLATE_TEST_CASE("inserts that ascend in several places fill their pages", "[storage][btree]",
                   SwizzlingPool, TraditionalPool, MainMemoryPool) {
  TreeHarness<TestType> harness(2000);
  constexpr unsigned kPlaces = 10;
  constexpr unsigned kBatches = 200;
  constexpr unsigned kInBatch = 10;
  for (unsigned batch = 0; batch < kBatches; ++batch)
    for (unsigned place = 0; place < kPlaces; ++place)
      for (unsigned i = 0; i < kInBatch; ++i) {
        std::array<std::byte, 6> key{static_cast<std::byte>(place)};
        store_big_endian(key.data() + 1, std::uint32_t{batch});
        key[5] = static_cast<std::byte>(i);
        REQUIRE(harness.insert(as_text(key), std::string(100, 'v')));
      }
  REQUIRE(harness.tree->verify()->empty());
  const double records_per_page =
      kPlaces * kBatches * kInBatch / static_cast<double>(harness.tree->pages()->size());
  CHECK(records_per_page > 0.8 * 71);
}

namespace {

/// Position at which keys of one kind are inserted. Keys are long, and so are their fences.
struct Place {
  std::string prefix;
  std::int64_t next = 0;
  int step = 0;  ///< 0: anywhere

  static Place any(std::mt19937_64& random) {
    // Some of the same prefix, so that there is a place between others.
    return {.prefix = std::string(1, static_cast<char>('a' + random() % 3)) +
                      std::string(random() % 3 * 490, 'x'),
            .next = static_cast<std::int64_t>(1'000'000 + random() % 9'000'000),
            .step = static_cast<int>(random() % 3) - 1};
  }
  std::string key(std::mt19937_64& random) {
    next = step == 0 ? static_cast<std::int64_t>(1'000'000 + random() % 9'000'000) : next + step;
    return prefix + std::to_string(next);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("both halves of a split hold their records beside long fences",
                   "[storage][btree]", SwizzlingPool, MainMemoryPool) {
  for_seeds(12, [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    TreeHarness<TestType> harness(6000);
    std::map<std::string, std::string> model;
    std::vector<Place> places;
    for (std::uint64_t i = 2 + random() % 6; i != 0; --i) places.push_back(Place::any(random));
    while (model.size() < 3000) {
      Place& place = places[random() % places.size()];
      for (std::uint64_t run = 1 + random() % 40; run != 0; --run) {
        const std::string key = place.key(random);
        const std::size_t longest = random() % 20 == 0 ? Node::kMaxInlineBytes - key.size() : 12;
        const std::string value(random() % (longest + 1), 'v');
        REQUIRE(harness.insert(key, value) == model.emplace(key, value).second);
      }
    }
    expect_equal(harness, model);
  });
}

TEMPLATE_TEST_CASE("an underfull node takes records from a full neighbour", "[storage][btree]",
                   SwizzlingPool, TraditionalPool, MainMemoryPool) {
  TreeHarness<TestType> harness(2000);
  std::map<std::string, std::string> model;
  constexpr int kKeys = 30'000;
  const auto key_of = [](int number) {
    std::string text = std::to_string(number);
    return "row/" + std::string(6 - text.size(), '0') + text;
  };
  for (int i = 0; i < kKeys; ++i) {
    const std::string value(100, 'v');
    REQUIRE(harness.insert(key_of(i), value));
    model.emplace(key_of(i), value);
  }
  // Full leaves next to nearly empty ones: neither fits into the other.
  for (int i = 0; i < kKeys; ++i) {
    if ((i / 70) % 2 == 0 || i % 10 == 0) continue;
    REQUIRE(harness.remove(key_of(i)));
    model.erase(key_of(i));
    if (i % 7 == 0) REQUIRE(harness.tree->tidy(as_bytes(key_of(i))).has_value());
  }
  for (const auto& [key, value] : std::map(model))
    REQUIRE(harness.tree->tidy(as_bytes(key)).has_value());
  CHECK(harness.tree->counters().rebalances.load() > 10);
  expect_equal(harness, model);
  CHECK(harness.tree->pages()->size() == harness.store.allocated());
}

namespace {

/// Checks each de-adoption as redo will replay it, from the left node alone.
class Deadoptions final : public TreeLog {
 public:
  Result<LogSpace> reserve(std::size_t bytes, std::size_t records,
                           wal::ReservePurpose purpose) override {
    return log_.reserve(bytes, records, purpose);
  }
  Lsn append(LogSpace& space, const Change& change,
             std::span<const Bytes> payload) noexcept override {
    if (change.kind == RecordKind::child_deadopted) {
      std::vector<std::byte> bytes;
      for (const Bytes part : payload) bytes.insert(bytes.end(), part.begin(), part.end());
      const auto gone = payload::decode_deadoption(bytes).value();
      const Node& left = Node::of(change.page2->page());
      const Node::Fences hung{left.low_fence(), left.high_fence(), gone.chain_high};
      const std::size_t prefix = Node::common_prefix(hung.low, hung.chain_high);
      ++count;
      if (left.range_bytes(0, left.count(), prefix) + Node::fence_bytes_needed(hung) >
          kPageBytes - Node::kHeaderBytes)
        ++impossible;
    }
    return log_.append(space, change, payload);
  }
  std::uint64_t count = 0;
  std::uint64_t impossible = 0;

 private:
  NoTreeLog log_;
};

}  // namespace

TEST_CASE("B8 a child leaves its parent only where redo could hang it on its neighbour",
          "[storage][btree]") {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U, 4U);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  testing::MemoryStore store;
  NoGhostIsNeeded keeper;
  const auto pool = testing::make_pool<MainMemoryPool>(4000, store, {}, 1);
  Deadoptions log;
  const auto tree =
      std::move(*BTree<MainMemoryPool>::create(*pool, log, keeper, TreeId{7}, nullptr));
  const auto apply = [&](LeafChange::Action action, const std::string& key) {
    const std::string value(random() % 120, 'v');
    MapChange change(action, as_bytes(value));
    REQUIRE(tree->change(as_bytes(key), nullptr, change));
  };
  // Fences within a group are long, and records of one group alone are short, so a change of a
  // node's fences shows at once.
  std::vector<std::string> keys;
  for (int i = 0; i < 2000; ++i) {
    const auto group = static_cast<char>('a' + random() % 20);
    keys.push_back(std::string(1, group) +
                   std::string(300U + 30U * static_cast<unsigned>(group - 'a'), 'x') +
                   std::to_string(random() % 200));
  }
  for (int round = 0; round < 6; ++round) {
    for (const std::string& key : keys) apply(LeafChange::Action::insert, key);
    std::ranges::shuffle(keys, random);
    for (std::size_t i = 0; i < keys.size() - 40; ++i) {
      apply(LeafChange::Action::remove, keys[i]);
      REQUIRE(tree->tidy(as_bytes(keys[i])));
    }
  }
  CHECK(tree->verify()->empty());
  CHECK(log.count > 100);
  CHECK(log.impossible == 0);
}

TEMPLATE_TEST_CASE("a leaf on which writers meet is split between them", "[storage][btree]",
                   SwizzlingPool, TraditionalPool, MainMemoryPool) {
  TreeHarness<TestType> harness(200);
  std::map<std::string, std::string> model;
  for (int i = 100; i < 160; ++i) {
    REQUIRE(harness.insert(std::to_string(i), std::string(100, 'v')));
    model[std::to_string(i)] = std::string(100, 'v');
  }
  REQUIRE(harness.tree->counters().splits.load() == 0);
  // Set the contention counters as if that many conflicts had happened.
  for (std::uint32_t i = 0; i < harness.pool->arena().used(); ++i)
    harness.pool->arena().at(i).contention.store(1'000);
  REQUIRE(harness.update("130", "meet"));
  model["130"] = "meet";
  CHECK(harness.tree->counters().contention_splits.load() == 1);
  LeafCopy leaf;
  REQUIRE(harness.tree->copy_leaf(as_bytes("130"), leaf));
  CHECK(as_text(leaf.node().low_fence()) == "13");
  // Half full nodes are left alone.
  for (std::uint32_t i = 0; i < harness.pool->arena().used(); ++i)
    harness.pool->arena().at(i).contention.store(1'000);
  REQUIRE(harness.update("130", "again"));
  model["130"] = "again";
  CHECK(harness.tree->counters().contention_splits.load() == 1);
  expect_equal(harness, model);
}

TEMPLATE_TEST_CASE("a long foster chain is adopted even against a parent that is not free",
                   "[storage][btree]", SwizzlingPool, TraditionalPool, MainMemoryPool) {
  TreeHarness<TestType> harness(2000);
  std::map<std::string, std::string> model;
  const auto insert = [&](int number) {
    const std::string key = std::to_string(number);
    REQUIRE(harness.insert(key, std::string(100, 'v')));
    model.emplace(key, std::string(100, 'v'));
  };
  int next = 100'000;
  while (harness.tree->counters().adoptions.load() < 2) insert(next++);
  const auto& counters = harness.tree->counters();
  Frame* parent = nullptr;
  for (std::uint32_t i = 0; i < harness.pool->arena().used(); ++i) {
    Frame& frame = harness.pool->arena().at(i);
    if (Node::of(frame.page()).level() == 1) parent = &frame;
  }
  REQUIRE(parent != nullptr);
  const std::uint64_t adopted = counters.adoptions.load();
  {
    // A reader of the parent lets descents pass, but no separator in. It runs on its own thread,
    // because a latch holder must not wait, as inserts do.
    std::binary_semaphore taken{0};
    std::binary_semaphore done{0};
    std::jthread in_the_way([&] {
      const SharedGuard hold(parent->latch);
      taken.release();
      done.acquire();
    });
    struct LetGo {
      std::binary_semaphore& semaphore;
      ~LetGo() { semaphore.release(); }
    } const let_go{done};
    taken.acquire();
    const std::uint64_t splits = counters.splits.load();
    while (counters.splits.load() < splits + 3) insert(next++);
    CHECK(counters.branch_waits.load() == 0);
    // From the fourth hop on, adoption is attempted repeatedly.
    while (counters.splits.load() < splits + 5) insert(next++);
    CHECK(counters.branch_waits.load() > 100);
  }
  CHECK(counters.adoptions.load() == adopted);
  REQUIRE(harness.get(std::to_string(next - 1)).has_value());
  CHECK(counters.adoptions.load() >= adopted + 4);
  expect_equal(harness, model);
}

TEMPLATE_TEST_CASE("a tree that has lost its records is as low as a new one", "[storage][btree]",
                   SwizzlingPool, TraditionalPool, MainMemoryPool) {
  const bool from_the_left = GENERATE(true, false);
  const bool by_the_task = GENERATE(true, false);
  CAPTURE(from_the_left, by_the_task);
  TreeHarness<TestType> harness(4000);
  constexpr int kKeys = 8'000;
  const auto key_of = [](int i) { return std::to_string(100'000 + i) + std::string(200, 'k'); };
  const auto pages_of_tree = [&] {
    auto pages = harness.tree->pages();
    REQUIRE(pages.has_value());
    REQUIRE(pages->size() == harness.store.allocated());
    return pages->size();
  };
  LeafCopy copy;
  const auto tidy = [&](const std::string& key) {
    if (by_the_task)
      REQUIRE(harness.tree->tidy_leaf(as_bytes(key), TidyEffort::thorough, copy).has_value());
    else
      REQUIRE(harness.tree->tidy(as_bytes(key)).has_value());
  };
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kKeys; ++i) REQUIRE(harness.insert(key_of(i), "value"));
    REQUIRE(pages_of_tree() > 200);
    for (int i = 0; i < kKeys - 3; ++i) {
      const std::string key = key_of(from_the_left ? i : kKeys - 1 - i);
      REQUIRE(harness.remove(key));
      if (i % 4 == 3) tidy(key);
    }
    CHECK(pages_of_tree() == 1);
    CHECK(harness.tree->counters().root_shrinks.load() ==
          harness.tree->counters().root_growths.load());
    REQUIRE(harness.tree->verify()->empty());
    for (int i = kKeys - 3; i < kKeys; ++i) {
      const std::string key = key_of(from_the_left ? i : kKeys - 1 - i);
      REQUIRE(harness.get(key) == "value");
      REQUIRE(harness.remove(key));
    }
    if constexpr (std::is_same_v<TestType, SwizzlingPool>)
      REQUIRE(harness.pool->audit() == std::vector<std::string>{});
  }
}

TEMPLATE_TEST_CASE("B7 a root that takes in a branch is the parent of its children",
                   "[storage][btree]", SwizzlingPool, TraditionalPool, MainMemoryPool) {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U);
  const bool by_the_task = GENERATE(true, false);
  CAPTURE(seed, by_the_task);
  std::mt19937_64 random(seed);
  TreeHarness<TestType> harness(4000);
  // Neighbours differ at their ends alone, so separators are long and a branch has few children: a
  // tree of a few hundred leaves has branches below its root.
  constexpr int kKeys = 1200;
  std::vector<std::string> keys;
  std::map<std::string, std::string> model;
  for (int i = 0; i < kKeys; ++i) {
    keys.push_back(std::to_string(100 + i / 40) + std::string(300, 'k') +
                   std::to_string(10'000 + i));
    const std::string value(1500, 'v');
    REQUIRE(harness.insert(keys.back(), value));
    model.emplace(keys.back(), value);
  }
  const TreeCounters& counters = harness.tree->counters();
  REQUIRE(counters.root_growths.load() >= 2);
  std::ranges::shuffle(keys, random);
  LeafCopy copy;
  int branches_taken_in = 0;
  for (const std::string& key : keys) {
    REQUIRE(harness.remove(key));
    model.erase(key);
    const std::uint64_t before = counters.root_shrinks.load();
    if (by_the_task)
      REQUIRE(harness.tree->tidy_leaf(as_bytes(key), TidyEffort::thorough, copy).has_value());
    else
      REQUIRE(harness.tree->tidy(as_bytes(key)).has_value());
    if (counters.root_shrinks.load() == before) continue;
    if constexpr (std::is_same_v<TestType, SwizzlingPool>)
      REQUIRE(harness.pool->audit() == std::vector<std::string>{});
    branches_taken_in += harness.tree->pages()->size() > 1 ? 1 : 0;
    expect_equal(harness, model);
  }
  CHECK(branches_taken_in > 0);
  CHECK(harness.tree->pages()->size() == harness.store.allocated());
}

}  // namespace swizzle

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "storage/testing/tree_harness.h"

namespace swizzle {
namespace {

using testing::TreeHarness;

constexpr int kRecords = 6000;

std::string key_of(int number) {
  return std::to_string(1'000'000 + number);
}

/// A tree of some hundred leaves whose pages are all clean, over a pool for a few of them.
template <class Pool>
struct LargeTree : TreeHarness<Pool> {
  explicit LargeTree(std::uint32_t frames) : TreeHarness<Pool>(frames) {
    for (int i = 0; i < kRecords; ++i) INVARIANT(this->insert(key_of(i), std::string(100, 'v')));
    this->store.clean();
  }
  [[nodiscard]] std::uint64_t reads() const { return this->pool->counters().reads.load(); }
  [[nodiscard]] std::uint64_t reads_ahead() const {
    return this->pool->counters().reads_ahead.load();
  }

  /// Reads all leaves by their fences; returns their number.
  int scan(Interest interest) {
    LeafCopy leaf;
    std::string from(1, '\0');
    for (int leaves = 1;; ++leaves) {
      auto read = this->tree->read(
          as_bytes(from),
          [&](const Node& node, Node::Position) {
            std::memcpy(leaf.page.data(), &node, kPageBytes);
          },
          interest);
      INVARIANT(read.has_value());
      if (leaf.node().high_fence().is_infinite()) return leaves;
      from = as_text(leaf.node().high_fence().key);
    }
  }
  /// Returns the number of a record, `records` or more, from which on some leaves are absent.
  int absent_from(int records) {
    const auto is_resident = [this](const std::string& key) {
      bool found = false;
      this->pool->arena().for_each_used([&](Frame& frame) {
        if (frame.state() == FrameState::free) return;
        const Node& node = Node::of(frame.page());
        found |= node.tree() == this->tree->id() && node.is_leaf() &&
                 compare(node.low_fence(), as_bytes(key)) <= 0 &&
                 node.high_fence().is_above(as_bytes(key));
      });
      return found;
    };
    int run = 0;
    for (int i = 0; i < kRecords; i += 10) {
      run = is_resident(key_of(i)) ? 0 : run + 10;
      if (run >= records) return i - run + 10;
    }
    FAIL("the pool has leaves everywhere");
    return 0;
  }
  void check() {
    CHECK(this->tree->verify().value() == std::vector<std::string>{});
    if constexpr (std::is_same_v<Pool, SwizzlingPool>)
      CHECK(this->pool->audit() == std::vector<std::string>{});
  }
};

}  // namespace

TEMPLATE_TEST_CASE("what is read ahead is there when it is wanted", "[storage][buffer]",
                   SwizzlingPool, TraditionalPool) {
  LargeTree<TestType> tree(64);
  const int first = tree.absent_from(600);
  const auto ahead = tree.tree->read_ahead(as_bytes(key_of(first)), 5, Interest::keep);
  REQUIRE(ahead.has_value());
  CHECK(ahead->leaves == 5);
  CHECK(ahead->absent == 5);
  CHECK(tree.reads_ahead() == 5);
  const std::uint64_t before = tree.reads();
  for (int i = first; key_of(i) < as_text(*ahead->next); ++i)
    REQUIRE(tree.get(key_of(i)) == std::string(100, 'v'));
  CHECK(tree.reads() == before);
  // Now all of them are resident.
  CHECK(tree.tree->read_ahead(as_bytes(key_of(first)), 5, Interest::keep)->absent == 0);
  tree.check();
}

TEMPLATE_TEST_CASE("reading ahead passes every leaf once, in both directions", "[storage][buffer]",
                   SwizzlingPool, TraditionalPool, MainMemoryPool) {
  LargeTree<TestType> tree(std::is_same_v<TestType, MainMemoryPool> ? 1000U : 64U);
  const int leaves = tree.scan(Interest::once);
  REQUIRE(leaves > 80);
  std::uint32_t forward = 0;
  std::optional<std::vector<std::byte>> next(std::in_place, 1);
  while (next) {
    auto ahead = tree.tree->read_ahead(*next, 7, Interest::once);
    REQUIRE(ahead.has_value());
    forward += ahead->leaves;
    next = std::move(ahead->next);
  }
  CHECK(forward == static_cast<std::uint32_t>(leaves));
  std::uint32_t backward = 0;
  KeyBound bound = KeyBound::infinite();
  do {
    auto ahead = tree.tree->read_ahead_below(bound, 7, Interest::once);
    REQUIRE(ahead.has_value());
    backward += ahead->leaves;
    next = std::move(ahead->next);
    if (next) bound = KeyBound::at(*next);
  } while (next);
  CHECK(backward == static_cast<std::uint32_t>(leaves));
  tree.check();
}

TEST_CASE("a scan that passes by leaves the hot pages where they are", "[storage][buffer]") {
  constexpr int kHot = 1000;  // some 16 leaves, an eighth of the pool
  const auto reads_of_hot = [](LargeTree<SwizzlingPool>& tree) {
    const std::uint64_t before = tree.reads();
    for (int i = 0; i < kHot; ++i) REQUIRE(tree.get(key_of(i)).has_value());
    return tree.reads() - before;
  };
  const auto after_scan = [&](Interest interest) {
    LargeTree<SwizzlingPool> tree(64);
    for (int i = 0; i < 4; ++i) reads_of_hot(tree);
    REQUIRE(tree.scan(interest) > 80);
    const std::uint64_t reads = reads_of_hot(tree);
    tree.check();
    return reads;
  };
  CHECK(after_scan(Interest::once) == 0);
  // Control: without the hint the scan evicts them.
  CHECK(after_scan(Interest::keep) > 8);
}

TEMPLATE_TEST_CASE("who wants a page that is being read ahead waits for that read",
                   "[storage][buffer]", SwizzlingPool, TraditionalPool) {
  LargeTree<TestType> tree(64);
  const int first = tree.absent_from(600);
  tree.store.hold_reads();
  REQUIRE(tree.tree->read_ahead(as_bytes(key_of(first)), 4, Interest::once)->absent == 4);
  CHECK(tree.pool->occupancy().being_read == 4);
  const std::uint64_t before = tree.reads();
  std::atomic<bool> found{false};
  std::thread reader([&] { found = tree.get(key_of(first)).has_value(); });
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  CHECK(!found);
  CHECK(tree.store.release_reads() == 4);
  reader.join();
  CHECK(found);
  CHECK(tree.reads() - before == 4);
  CHECK(tree.pool->occupancy().being_read == 0);
  tree.check();
}

TEMPLATE_TEST_CASE(
    "P29 two who miss on the same page both get its error, and the frame is free again",
    "[storage][buffer]", SwizzlingPool, TraditionalPool) {
  LargeTree<TestType> tree(64);
  const int first = tree.absent_from(600);
  const PoolOccupancy before = tree.pool->occupancy();
  const std::uint64_t reads = tree.reads();
  tree.store.close_gate();
  tree.store.fail_next_reads(1);
  std::array<std::optional<SqlState>, 2> errors;
  std::vector<std::thread> sessions;
  for (std::optional<SqlState>& error : errors)
    sessions.emplace_back([&tree, &error, first] {
      auto read = tree.tree->read(as_bytes(key_of(first)), [](const Node&, Node::Position) {});
      if (!read) error = read.error().state();
    });
  // One thread reads; give the other one time to find that out.
  while (tree.store.reads_at_gate() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds{30});
  CHECK(tree.store.reads_at_gate() == 1);
  tree.store.open_gate();
  for (std::thread& session : sessions) session.join();
  CHECK(errors[0] == sqlstate::io_error);
  CHECK(errors[1] == sqlstate::io_error);
  const PoolOccupancy after = tree.pool->occupancy();
  CHECK(after.being_read == 0);
  CHECK(after.free >= before.free);
  CHECK(tree.reads() == reads);
  REQUIRE(tree.get(key_of(first)) == std::string(100, 'v'));
  CHECK(tree.reads() == reads + 1);
  tree.check();
}

TEST_CASE("a damaged page is an error that names page, tree and rule; other trees go on",
          "[storage][buffer]") {
  LargeTree<SwizzlingPool> tree(64);
  auto other = std::move(
      *BTree<SwizzlingPool>::create(*tree.pool, tree.log, tree.keeper, TreeId{8}, nullptr));
  MapChange change(LeafChange::Action::insert, as_bytes("value"));
  REQUIRE(other->change(as_bytes("key"), nullptr, change).has_value());
  const int first = tree.absent_from(600);
  // Ask the tree for the page, then evict it again.
  PageId page{};
  REQUIRE(tree.tree
              ->read(
                  as_bytes(key_of(first)),
                  [&](const Node& leaf, Node::Position) { page = leaf.id(); }, Interest::once)
              .has_value());
  tree.store.damage(page);
  const auto is_resident = [&] {
    bool found = false;
    tree.pool->arena().for_each_used([&](Frame& frame) { found |= frame.page_id() == page; });
    return found;
  };
  for (int i = 0; is_resident(); i = (i + 20) % kRecords)
    if (std::abs(i - first) > 300) REQUIRE(tree.get(key_of(i)).has_value());
  auto read = tree.tree->read(as_bytes(key_of(first)), [](const Node&, Node::Position) {});
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().state() == sqlstate::data_corrupted);
  CHECK_THAT(read.error().message(),
             Catch::StartsWith("tree 7: page " + std::to_string(raw(page)) +
                               " fails its checksum (rule S6), on the way to key \\x"));
  bool found = false;
  REQUIRE(other->read(as_bytes("key"), [&](const Node&, Node::Position at) { found = at.exact; })
              .has_value());
  CHECK(found);
}

TEST_CASE("P29 a read ahead that fails is nobody's error: the next who wants the page reads it",
          "[storage][buffer]") {
  LargeTree<SwizzlingPool> tree(64);
  const int first = tree.absent_from(600);
  const PoolOccupancy before = tree.pool->occupancy();
  tree.store.fail_next_reads(4);
  REQUIRE(tree.tree->read_ahead(as_bytes(key_of(first)), 4, Interest::keep)->absent == 4);
  CHECK(tree.reads_ahead() == 0);
  CHECK(tree.pool->occupancy().being_read == 0);
  CHECK(tree.pool->occupancy().free >= before.free);
  for (int i = first; i < first + 300; ++i) REQUIRE(tree.get(key_of(i)) == std::string(100, 'v'));
  tree.check();
}

TEST_CASE("reading ahead takes no more frames than its share, and gives the claims back",
          "[storage][buffer]") {
  LargeTree<SwizzlingPool> tree(64);
  const int first = tree.absent_from(600);
  tree.store.hold_reads();
  const auto ahead = tree.tree->read_ahead(as_bytes(key_of(first)), 80, Interest::keep);
  REQUIRE(ahead.has_value());
  CHECK(tree.pool->occupancy().being_read <= 8);
  // Pages whose reads were not started can be read by others.
  REQUIRE(tree.get(key_of(kRecords / 2)).has_value());
  CHECK(tree.store.release_reads() <= 8);
  tree.check();
}

TEST_CASE("a tree can be dropped while leaves of it are read ahead", "[storage][buffer]") {
  LargeTree<SwizzlingPool> tree(64);
  const int first = tree.absent_from(600);
  const auto pages = tree.tree->pages();
  REQUIRE(pages.has_value());
  tree.store.hold_reads();
  REQUIRE(tree.tree->read_ahead(as_bytes(key_of(first)), 4, Interest::keep)->absent == 4);
  std::thread device([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    CHECK(tree.store.release_reads() == 4);
  });
  REQUIRE(tree.tree->clear());
  tree.tree->abandon();
  device.join();
  tree.tree.reset();
  const PoolOccupancy after = tree.pool->occupancy();
  // Some are still in the queue of the clock hand, and become swizzled again when it reaches them.
  tree.pool->arena().for_each_used(
      [](const Frame& frame) { CHECK(frame.state() == FrameState::free); });
  CHECK(after.unswizzled == 0);
}

TEMPLATE_TEST_CASE("every frame is free, swizzled, unswizzled or being read", "[storage][buffer]",
                   SwizzlingPool, TraditionalPool) {
  LargeTree<TestType> tree(100);
  tree.scan(Interest::keep);
  std::uint64_t swizzled = 0;
  std::uint64_t unswizzled = 0;
  tree.pool->arena().for_each_used([&](Frame& frame) {
    swizzled += frame.state() == FrameState::swizzled ? 1U : 0U;
    unswizzled += frame.state() == FrameState::unswizzled ? 1U : 0U;
  });
  const PoolOccupancy occupancy = tree.pool->occupancy();
  CHECK(occupancy.swizzled() == swizzled);
  CHECK(occupancy.unswizzled == unswizzled);
  CHECK(occupancy.free + swizzled + unswizzled == occupancy.frames);
  CHECK(occupancy.being_read == 0);
}

TEST_CASE("a pool has its memory as it is used, or at once", "[storage][buffer]") {
  constexpr std::size_t kFrames = 500;
  const auto resident = [](const FrameArena& arena) {
    std::array<unsigned char, kFrames * Frame::kStride / 4096> pages{};
    REQUIRE(::mincore(&arena.at(0), pages.size() * 4096, pages.data()) == 0);
    return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; });
  };
  const auto as_used = FrameArena::map(kFrames * Frame::kStride, 1);
  REQUIRE(as_used.has_value());
  CHECK(resident(*as_used) == 0);
  const auto at_once = FrameArena::map(kFrames * Frame::kStride, 1, FrameArena::Touch::at_once);
  REQUIRE(at_once.has_value());
  CHECK(resident(*at_once) == kFrames * Frame::kStride / 4096);
}

TEST_CASE("a pool of several partitions uses every frame of each", "[storage][buffer]") {
  const std::uint32_t partitions = GENERATE(1U, 2U, 3U, 8U);
  auto arena = FrameArena::map(50 * Frame::kStride, partitions);
  REQUIRE(arena.has_value());
  CHECK(arena->partition_count() == partitions);
  std::set<Frame*> frames;
  std::vector<std::uint32_t> per_partition(partitions);
  while (Frame* frame = arena->first_use()) {
    frames.insert(frame);
    ++per_partition[arena->partition_of(*frame)];
    CHECK(arena->used() == frames.size());
  }
  CHECK(frames.size() == 50);
  for (const std::uint32_t count : per_partition) CHECK(count >= 50 / partitions);
  std::set<Frame*> walked;
  arena->for_each_used([&](Frame& frame) { walked.insert(&frame); });
  CHECK(walked == frames);
  std::set<Frame*> by_number;
  for (std::uint64_t i = 0; i < 50; ++i) by_number.insert(arena->nth_used(i + 1000));
  CHECK(by_number == frames);

  // Threads have home partitions, and take from others when their own is empty.
  PartitionedQueue queue(*arena);
  for (Frame* frame : frames) queue.push(*arena, *frame);
  std::set<Frame*> taken;
  std::thread([&] {
    const std::uint32_t home = arena->home_partition();
    for (std::uint32_t i = 0; i < 50; ++i) {
      Frame* frame = queue.pop(*arena);
      if (i < per_partition[home]) CHECK(arena->partition_of(*frame) == home);
      taken.insert(frame);
    }
  }).join();
  CHECK(taken == frames);
  CHECK(queue.pop(*arena) == nullptr);
}

}  // namespace swizzle

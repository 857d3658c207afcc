#include "storage/btree/leaf_stage.h"

#include <catch2/catch.hpp>
#include <map>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "storage/testing/tree_harness.h"

namespace swizzle {
namespace {

using testing::TreeHarness;
using Content = std::map<std::string, std::string>;

/// Sorted records whose common prefixes grow and shrink abruptly, with lengths up to the limits.
Content random_content(Random& random, std::uint64_t count) {
  Content content;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string key(random.one_in(3) ? 200 + random.below(600) : random.below(4),
                    static_cast<char>('a' + random.below(2)));
    key += std::to_string(random.below(100'000));
    if (random.one_in(200)) key.resize(Node::kMaxKeyBytes, 'z');
    const std::uint64_t room = Node::kMaxInlineBytes - key.size();
    content.emplace(key, std::string(random.one_in(30) ? room : random.below(60), 'v'));
  }
  return content;
}

template <class Pool>
void load(TreeHarness<Pool>& harness, const Content& content) {
  const auto append = [&](const LeafContent& leaf) { return harness.tree->append_leaf(leaf); };
  LeafStage stage;
  for (const auto& [key, value] : content) {
    REQUIRE(stage.may_follow(as_bytes(key)));
    REQUIRE(stage.add({as_bytes(key), as_bytes(value), false}, append).value());
    REQUIRE_FALSE(stage.may_follow(as_bytes(key)));
    REQUIRE_FALSE(stage.add({as_bytes(key), {}, false}, append).value());
  }
  REQUIRE(stage.finish(append));
}

template <class Pool>
void require_content(TreeHarness<Pool>& harness, const Content& content) {
  REQUIRE(harness.tree->verify().value() == std::vector<std::string>{});
  if constexpr (std::is_same_v<Pool, SwizzlingPool>)
    REQUIRE(harness.pool->audit() == std::vector<std::string>{});
  for (const auto& [key, value] : content) REQUIRE(harness.get(key) == value);
  REQUIRE(harness.tree->pages().value().size() == harness.store.allocated());
}

}  // namespace

TEST_CASE("a stage's leaves fit their pages and meet at their fences", "[storage][btree]") {
  for_seeds(40, [](std::uint64_t seed) {
    Random random{seed};
    const Content content = random_content(random, random.between(0, 2000));
    std::string expected_low;
    bool at_end = false;
    auto next = content.begin();
    alignas(8) std::array<std::byte, kPageBytes> page;
    const auto check = [&](const LeafContent& leaf) -> Result<> {
      REQUIRE(as_text(leaf.low) == expected_low);
      REQUIRE_FALSE(at_end);
      Node& node = Node::of(page.data());
      node.format(PageId{1}, TreeId{1}, 0, {leaf.low, leaf.high, leaf.high});
      for (const LeafContent::Record& record : leaf.records) {
        REQUIRE(as_text(record.key) == next->first);
        REQUIRE(as_text(record.value) == next->second);
        ++next;
      }
      node.fill_leaf(leaf.records);
      REQUIRE(node.verify() == "");
      at_end = leaf.high.is_infinite();
      expected_low = std::string(as_text(leaf.high.key));
      return {};
    };
    LeafStage stage;
    for (const auto& [key, value] : content)
      REQUIRE(stage.add({as_bytes(key), as_bytes(value), false}, check).value());
    REQUIRE(stage.finish(check));
    REQUIRE(next == content.end());
    REQUIRE(at_end != content.empty());
    REQUIRE(stage.is_empty());
  });
}

TEST_CASE("leaves of large records are not left a quarter empty", "[storage][btree]") {
  for (const std::size_t bytes : {std::size_t{900}, std::size_t{1300}, std::size_t{1861},
                                  std::size_t{1915}, std::size_t{1990}, std::size_t{2030}}) {
    LeafStage stage;
    std::size_t leaves = 0;
    const auto count = [&](const LeafContent&) -> Result<> {
      ++leaves;
      return {};
    };
    constexpr std::size_t kRecords = 1000;
    for (std::size_t i = 0; i < kRecords; ++i) {
      const std::string key = std::to_string(10'000 + i);
      REQUIRE(stage.add({as_bytes(key), as_bytes(std::string(bytes, 'v')), false}, count).value());
    }
    REQUIRE(stage.finish(count));
    CAPTURE(bytes, leaves);
    CHECK(leaves <= kRecords / (kPageBytes / (bytes + 40)) + 1);
  }
}

TEMPLATE_TEST_CASE("a loaded tree is a tree like others, and is cleared without a trace",
                   "[storage][btree]", SwizzlingPool, TraditionalPool, MainMemoryPool) {
  constexpr bool kInMemory = std::is_same_v<TestType, MainMemoryPool>;
  const std::uint64_t seed = GENERATE(1U, 2U, 3U, 4U);
  Random random{seed};
  TreeHarness<TestType> harness(kInMemory ? 12'000U : 24U);
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{8000}}) {
    REQUIRE(harness.tree->is_blank().value());
    Content content = random_content(random, size);
    load(harness, content);
    REQUIRE(harness.tree->is_blank().value() == content.empty());
    require_content(harness, content);
    for (int i = 0; i < 1500; ++i) {
      const std::string key = std::to_string(random.below(100'000));
      if (random.one_in(2)) {
        REQUIRE(harness.insert(key, "new") == content.emplace(key, "new").second);
      } else if (!content.empty()) {
        REQUIRE(harness.remove(content.begin()->first));
        content.erase(content.begin());
      }
    }
    require_content(harness, content);
    if (auto cleared = harness.tree->clear(); !cleared) FAIL(cleared.error().message());
    REQUIRE(harness.tree->is_blank().value());
    REQUIRE(harness.store.allocated() == 1);
    REQUIRE(harness.tree->verify()->empty());
  }
}

TEMPLATE_TEST_CASE("loads fill their pages, and an interrupted one is cleared", "[storage][btree]",
                   SwizzlingPool, TraditionalPool, MainMemoryPool) {
  TreeHarness<TestType> harness(2000);
  const auto append = [&](const LeafContent& leaf) { return harness.tree->append_leaf(leaf); };
  constexpr int kRecords = 50'000;
  LeafStage stage;
  for (int i = 0; i < kRecords; ++i) {
    std::array<std::byte, 8> key;
    store_big_endian(key.data(), std::uint64_t{1} << 40U | static_cast<unsigned>(i));
    const std::string value(100, 'v');
    REQUIRE(stage.add({key, as_bytes(value), false}, append).value());
  }
  const bool finishes = GENERATE(true, false);
  if (finishes) {
    REQUIRE(stage.finish(append));
    REQUIRE(harness.tree->verify()->empty());
    // 111 bytes a record with its slot, one of them not in the prefix.
    const double per_page = kRecords / static_cast<double>(harness.tree->pages()->size());
    CHECK(per_page > 0.92 * 8064 / 111);
  }
  REQUIRE(harness.tree->clear());
  REQUIRE(harness.store.allocated() == 1);
  REQUIRE(harness.tree->verify()->empty());
}

}  // namespace swizzle

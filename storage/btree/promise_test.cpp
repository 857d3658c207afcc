// Pages with a correct checksum and number that contradict their parent: a read reports them by
// number.
#include <algorithm>
#include <catch2/catch.hpp>

#include "storage/testing/tree_harness.h"

namespace swizzle {
namespace {

using Catch::Contains;

constexpr int kPromisedRecords = 6000;

std::string promised_key(int number) {
  return std::to_string(1'000'000 + number);
}

/// A tree of some hundred leaves below one branch, over a pool for a few of them.
template <class Pool>
struct CleanTree : testing::TreeHarness<Pool> {
  CleanTree() : testing::TreeHarness<Pool>(16) {
    for (int i = 0; i < kPromisedRecords; i += 2) add(i);
    this->store.clean();
  }
  void add(int number) { INVARIANT(this->insert(promised_key(number), std::string(100, 'v'))); }
  Result<> read(int number) {
    return this->tree->read(as_bytes(promised_key(number)), [](const Node&, Node::Position) {});
  }
  PageId leaf_of(int number) {
    LeafCopy leaf;
    INVARIANT(this->tree->copy_leaf(as_bytes(promised_key(number)), leaf));
    return leaf.node().id();
  }
  /// Reads distant leaves until `page` has been evicted.
  void push_out(PageId page, int far_from) {
    push_out_by({page}, [&](int number) { return std::abs(number - far_from) > 600; });
  }
  /// The same for several pages, with records distant from all of them.
  template <class IsFar>
  void push_out_by(const std::vector<PageId>& pages, IsFar is_far) {
    const auto are_resident = [&] {
      bool found = false;
      this->pool->arena().for_each_used([&](const Frame& frame) {
        found |= std::ranges::find(pages, frame.page_id()) != pages.end();
      });
      return found;
    };
    this->store.clean();
    for (int i = 0; are_resident(); i = (i + 40) % kPromisedRecords)
      if (is_far(i)) REQUIRE(read(i));
  }
  void require_broken(int number, PageId page) {
    const auto got = read(number);
    REQUIRE_FALSE(got);
    CHECK(got.error().state() == sqlstate::data_corrupted);
    CHECK_THAT(got.error().message(),
               Contains("tree 7: page " + std::to_string(raw(page)) + " is"));
    CHECK_THAT(got.error().message(), Contains("rule B6"));
  }
};

}  // namespace

TEMPLATE_TEST_CASE("B6 a page whose last write was lost is not believed", "[storage][btree]",
                   SwizzlingPool, TraditionalPool) {
  CleanTree<TestType> tree;
  const PageId page = tree.leaf_of(3000);
  const auto old_image = tree.store.image_of(page);
  const std::uint64_t splits = tree.tree->counters().splits.load();
  for (int i = 2801; tree.tree->counters().splits.load() < splits + 4; i += 2) tree.add(i);
  // Adopted by now, so that the parent has the leaf's separators.
  for (int i = 2800; i < 3200; i += 2) REQUIRE(tree.read(i));
  tree.push_out(page, 3000);
  REQUIRE(tree.store.image_of(page) != old_image);
  const PageId now_at = page;
  tree.store.put_image(page, old_image);
  // Reads of that page fail; others succeed.
  int refused = 0;
  for (int i = 2600; i < 3400; i += 2)
    if (!tree.read(i)) {
      tree.require_broken(i, now_at);
      ++refused;
    }
  CHECK(refused > 0);
  CHECK(tree.read(100).has_value());
}

TEMPLATE_TEST_CASE("B6 a page that was written over another is not believed", "[storage][btree]",
                   SwizzlingPool, TraditionalPool) {
  CleanTree<TestType> tree;
  const PageId page = tree.leaf_of(3000);
  auto other = tree.store.image_of(tree.leaf_of(100));
  tree.push_out(page, 3000);
  Node::of(other.data()).format(page, TreeId{7}, 0, Node::of(other.data()).fences());
  SECTION("of the same tree") {}
  SECTION("of another tree") {
    Node::of(other.data())
        .format(page, TreeId{8}, 0, {{}, KeyBound::infinite(), KeyBound::infinite()});
  }
  SECTION("of another level") {
    const auto mine = tree.store.image_of(page);
    Node::of(other.data()).format(page, TreeId{7}, 1, Node::of(mine.data()).fences());
  }
  tree.store.put_image(page, other);
  tree.require_broken(3000, page);
  CHECK(tree.read(100).has_value());
}

TEMPLATE_TEST_CASE("B6 a reference that leads elsewhere is not followed", "[storage][btree]",
                   SwizzlingPool, TraditionalPool) {
  CleanTree<TestType> tree;
  const PageId page = tree.leaf_of(3000);
  const PageId other = tree.leaf_of(100);
  tree.push_out(page, 3000);
  tree.push_out(other, 100);
  int damaged = 0;
  tree.pool->arena().for_each_used([&](Frame& frame) {
    Node& node = Node::of(frame.page());
    if (frame.page_id() != tree.tree->root_page() || node.is_leaf()) return;
    for (std::uint16_t i = 0; i < node.count(); ++i)
      if (load_ref(node.child_ref(i)) == PageRef{page}) {
        store_ref(node.child_ref(i), PageRef{other});
        ++damaged;
      }
  });
  REQUIRE(damaged == 1);
  tree.require_broken(3000, other);
}

// A page that was refused to a reader stays in the pool.
TEMPLATE_TEST_CASE("B6 a page that was refused is not merged with its neighbour",
                   "[storage][btree]", SwizzlingPool, TraditionalPool) {
  CleanTree<TestType> tree;
  const PageId page = tree.leaf_of(3000);
  const bool is_right = GENERATE(true, false);
  LeafCopy copy;
  REQUIRE(tree.tree->copy_leaf(as_bytes(promised_key(3000)), copy));
  const auto first_of_leaf =
      static_cast<int>(std::stol(std::string(as_text(copy.node().low_fence()))) - 1'000'000);
  const std::string behind{as_text(copy.node().high_fence().key)};
  // The neighbour that is to be emptied: it merges with the page from the left or the right.
  const int begin = is_right ? first_of_leaf - 2 : static_cast<int>(std::stol(behind) - 1'000'000);
  REQUIRE(tree.tree->copy_leaf(as_bytes(promised_key(begin)), copy));
  const PageId neighbour = copy.node().id();
  REQUIRE(neighbour != page);
  std::vector<std::string> keys;
  for (std::uint16_t i = 0; i < copy.node().count(); ++i) {
    std::array<std::byte, Node::kMaxKeyBytes> key;
    keys.emplace_back(as_text({key.data(), copy.node().copy_key(i, key.data())}));
  }
  // Put another leaf's intact image in the page's place.
  auto other = tree.store.image_of(tree.leaf_of(100));
  tree.push_out(page, 3000);
  Node::of(other.data()).format(page, TreeId{7}, 0, Node::of(other.data()).fences());
  tree.store.put_image(page, other);
  tree.require_broken(3000, page);
  for (const std::string& key : keys) {
    REQUIRE(tree.remove(key));
    // A later read brings the page into the pool again.
    tree.require_broken(3000, page);
    REQUIRE(tree.tree->tidy(as_bytes(key)));
  }
  tree.require_broken(3000, page);
}

// A resident page was checked when it was read; readers do not check it again.
TEMPLATE_TEST_CASE("B5 B6 verify finds every damaged place, in memory and on disk",
                   "[storage][btree]", SwizzlingPool, TraditionalPool) {
  CleanTree<TestType> tree;
  REQUIRE(tree.tree->verify().value() == std::vector<std::string>{});
  const bool is_of_another_tree = GENERATE(false, true);
  std::vector<PageId> damaged;
  for (const int number : {1000, 3000, 5000}) damaged.push_back(tree.leaf_of(number));
  tree.push_out_by(damaged, [](int number) { return (number + 1200) % 2000 > 500; });
  for (const PageId page : damaged) {
    const auto image = tree.store.image_of(page);
    auto other = image;
    if (is_of_another_tree)
      Node::of(other.data()).format(page, TreeId{8}, 0, Node::of(image.data()).fences());
    else
      Node::of(other.data())
          .format(page, TreeId{7}, 0, {{}, KeyBound::infinite(), KeyBound::infinite()});
    tree.store.put_image(page, other);
  }
  const std::vector<std::string> found = tree.tree->verify().value();
  REQUIRE(found.size() == damaged.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK_THAT(found[i], Contains("page " + std::to_string(raw(damaged[i])) + " is not what"));
  CHECK_FALSE(tree.tree->pages().has_value());
}

TEMPLATE_TEST_CASE("B6 verify compares what is resident, too", "[storage][btree]", SwizzlingPool,
                   TraditionalPool) {
  CleanTree<TestType> tree;
  LeafCopy leaf;
  // The first page that it reaches: the pool is too small for others to stay until then.
  REQUIRE(tree.tree->copy_leaf(as_bytes(promised_key(0)), leaf));
  int damaged = 0;
  tree.pool->arena().for_each_used([&](Frame& frame) {
    if (frame.page_id() != leaf.node().id()) return;
    Node& node = Node::of(frame.page());
    node.format(node.id(), TreeId{7}, 0,
                {leaf.node().low_fence(), KeyBound::infinite(), KeyBound::infinite()});
    ++damaged;
  });
  REQUIRE(damaged == 1);
  const std::vector<std::string> found = tree.tree->verify().value();
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Contains("page " + std::to_string(raw(leaf.node().id())) + " is not what"));
}

}  // namespace swizzle

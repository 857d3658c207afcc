#include "storage/btree/node.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"

namespace swizzle {
namespace {

struct alignas(8) Page {
  std::array<std::byte, kPageBytes> bytes{};
  Node& node() { return Node::of(bytes.data()); }
};

const KeyBound kOpen = KeyBound::infinite();

std::string big_endian(std::uint64_t number) {
  std::string key(8, '\0');
  store_big_endian(reinterpret_cast<std::byte*>(key.data()), number);
  return key;
}

/// Returns the number of slots that a search cannot distinguish from their left neighbours without
/// their records.
int equal_neighbours(const Page& page) {
  const Node& node = Node::of(page.bytes.data());
  const std::size_t slot_bytes = node.is_leaf() ? Node::kLeafSlotBytes : Node::kBranchSlotBytes;
  int equal = 0;
  for (std::size_t i = node.is_leaf() ? 1 : 2; i < node.count(); ++i) {
    const auto head = [&](std::size_t slot) {
      return swizzle::load<std::uint32_t>(page.bytes.data() + Node::kHeaderBytes +
                                          slot * slot_bytes);
    };
    equal += head(i) == head(i - 1) ? 1 : 0;
  }
  return equal;
}

TEST_CASE("a leaf without a high fence tells long common beginnings apart", "[node]") {
  const std::string common =
      GENERATE("", "a", "seven..", "eight...", "elevenbytes", "twelve bytes");
  Page page;
  page.node().format(PageId{1}, TreeId{3}, 0, {{}, kOpen, kOpen});
  for (std::uint16_t i = 0; i < 40; ++i) {
    const std::string key = common + fmt::format("{:03}", i);
    page.node().insert_leaf(i, as_bytes(key), as_bytes("value"), {});
  }
  CHECK(page.node().verify().empty());
  CHECK(equal_neighbours(page) == 0);
  CHECK(page.node().shared().size() == std::min(common.size() + 1, Node::kMaxShared));
  for (std::uint16_t i = 0; i < 40; ++i) {
    const std::string key = common + fmt::format("{:03}", i);
    const Node::Position at = page.node().lower_bound(as_bytes(key));
    CHECK(at.exact);
    CHECK(at.index == i);
    CHECK(page.node().lower_bound(as_bytes(key + "x")).index == i + 1);
  }
  CHECK(page.node().lower_bound({}).index == 0);
  CHECK(page.node().lower_bound(as_bytes("\xff")).index == 40);
}

TEST_CASE("a root branch tells its separators apart although its first key is empty", "[node]") {
  Page page;
  page.node().format(PageId{1}, TreeId{3}, 1, {{}, kOpen, kOpen});
  page.node().insert_branch(0, {}, PageRef{PageId{100}});
  for (std::uint16_t i = 1; i < 100; ++i)
    page.node().insert_branch(i, as_bytes(big_endian(i * 1000U)), PageRef{PageId{100U + i}});
  CHECK(page.node().verify().empty());
  CHECK(equal_neighbours(page) == 0);
  for (std::uint64_t number = 0; number < 100'000; number += 77)
    CHECK(page.node().child_index(as_bytes(big_endian(number))) == number / 1000);
  CHECK(page.node().child_index({}) == 0);
  CHECK(page.node().child_index(as_bytes("\xff")) == 99);
}

TEST_CASE("a branch's low fence is no match for keys that begin with zeros", "[node]") {
  using namespace std::string_literals;
  const std::string low = "aaaaaazz";
  const std::array separators{"bb\0\0\0\0a"s, "bb\0\0\0\0m"s, "bbzz"s};
  Page page;
  page.node().format(PageId{1}, TreeId{3}, 1, {as_bytes(low), kOpen, kOpen});
  page.node().insert_branch(0, as_bytes(low), PageRef{PageId{100}});
  for (std::uint16_t i = 0; i < 3; ++i)
    page.node().insert_branch(static_cast<std::uint16_t>(i + 1), as_bytes(separators[i]),
                              PageRef{PageId{101U + i}});
  REQUIRE(as_text(page.node().shared()) == "bb");
  CHECK(page.node().child_index(as_bytes("b"s)) == 0);
  CHECK(page.node().child_index(as_bytes("bb\0\0\0\0"s)) == 0);
  CHECK(page.node().child_index(as_bytes("bb\0\0\0\0a"s)) == 1);
  CHECK(page.node().child_index(as_bytes("bb\0\0\0\0c"s)) == 1);
  CHECK(page.node().child_index(as_bytes("bb\0\0\0\0zz"s)) == 2);
  CHECK(page.node().child_index(as_bytes("bbzzz"s)) == 3);
}

TEST_CASE("a branch's low fence is no match for a key of its length that is all the others share",
          "[node]") {
  Page page;
  page.node().format(PageId{1}, TreeId{3}, 1, {as_bytes("8"), kOpen, kOpen});
  page.node().insert_branch(0, as_bytes("8"), PageRef{PageId{100}});
  std::uint16_t next = 1;
  for (const char* separator : {"9", "949", "96", "97"})
    page.node().insert_branch(next++, as_bytes(separator), PageRef{PageId{101}});
  REQUIRE(as_text(page.node().shared()) == "9");
  CHECK(page.node().child_index(as_bytes("8")) == 0);
  CHECK(page.node().child_index(as_bytes("9")) == 1);
  CHECK(page.node().child_index(as_bytes("949")) == 2);
}

TEST_CASE("a node whose chain ends sheds what its fences then share", "[node]") {
  Page page;
  const std::string low = big_endian(1'000'000);
  const std::string high = big_endian(1'000'050);
  page.node().format(PageId{1}, TreeId{3}, 0, {as_bytes(low), KeyBound::at(as_bytes(high)), kOpen});
  page.node().set_foster(PageRef{PageId{2}});
  for (std::uint16_t i = 0; i < 50; ++i)
    page.node().insert_leaf(i, as_bytes(big_endian(1'000'000U + i)), as_bytes("value"),
                            {.ghost = i == 7 ? Node::Ghost::yes : Node::Ghost::no});
  page.node().set_lsn(Lsn{9});
  page.node().set_logical_lsn(Lsn{8});
  REQUIRE(page.node().prefix().empty());
  const std::size_t free_before = page.node().free_bytes();

  page.node().drop_foster();

  CHECK(page.node().verify().empty());
  CHECK(page.node().prefix().size() == 7);
  CHECK(page.node().free_bytes() >= free_before + 50 * 7);
  CHECK_FALSE(page.node().has_foster());
  CHECK(page.node().chain_high_fence() == KeyBound::at(as_bytes(high)));
  CHECK(page.node().lsn() == Lsn{9});
  CHECK(page.node().logical_lsn() == Lsn{8});
  CHECK(page.node().is_ghost(7));
  CHECK(page.node().ghost_count() == 1);
  for (std::uint16_t i = 0; i < 50; ++i)
    CHECK(page.node().lower_bound(as_bytes(big_endian(1'000'000U + i))).index == i);
}

// Inserts and removes keys of few letters with long common prefixes, and compares with a map;
// between fences of the same kind, and in a chain that ends, so that the prefix grows.
TEST_CASE("searches agree with a map whatever the keys share", "[node][model]") {
  for_seeds(1000, [](std::uint64_t seed) {
    Random random{seed};
    const std::string common(random.below(14), 'm');
    const char first_letter = random.one_in(3) ? '\0' : 'k';
    const std::uint64_t letters = 2 + random.below(4);
    const std::uint64_t longest = 2 + random.below(4);
    const std::uint8_t level = seed % 2 == 0 ? 1 : 0;
    const auto random_key = [&] {
      std::string key = random.below(8) == 0 ? std::string(random.below(4), 'n') : common;
      for (std::uint64_t n = random.below(longest + 1); n > 0; --n)
        key += static_cast<char>(first_letter + static_cast<int>(random.below(letters)));
      return key;
    };
    std::string low;
    std::string high;
    while (!random.one_in(4) && low >= high) {
      low = random_key();
      high = random_key();
    }
    if (low >= high) low = high = {};
    const KeyBound ends = high.empty() ? kOpen : KeyBound::at(as_bytes(high));
    std::map<std::string, int> model;
    Page page;
    page.node().format(PageId{1}, TreeId{3}, level,
                       {as_bytes(low), ends, random.one_in(2) ? kOpen : ends});
    const bool is_in_chain = !high.empty() && page.node().chain_high_fence() != ends;
    if (is_in_chain) page.node().set_foster(PageRef{PageId{8}});
    if (level > 0) {
      page.node().insert_branch(0, as_bytes(low), PageRef{PageId{7}});
      model[low] = 7;
    }
    for (int step = 0; step < 400; ++step) {
      Node& node = page.node();
      if (node.has_foster() && random.one_in(100)) node.drop_foster();
      const std::string key = random_key();
      if (key < low || (!high.empty() && key >= high)) continue;
      const auto found = model.lower_bound(key);
      const Node::Position at{static_cast<std::uint16_t>(std::distance(model.begin(), found)),
                              found != model.end() && found->first == key};
      INFO("seed " << seed << " step " << step << " key " << key);
      if (level == 0) {
        REQUIRE(node.lower_bound(as_bytes(key)).index == at.index);
        REQUIRE(node.lower_bound(as_bytes(key)).exact == at.exact);
      } else {
        REQUIRE(node.child_index(as_bytes(key)) == at.index - (at.exact ? 0 : 1));
      }
      if (!at.exact && random.below(3) > 0 && node.has_room(key.size(), 40)) {
        if (level == 0)
          node.insert_leaf(at.index, as_bytes(key), as_bytes("v"), {});
        else
          node.insert_branch(at.index, as_bytes(key), PageRef{PageId{9}});
        model[key] = step;
      } else if (at.exact && at.index >= level && random.below(2) == 0) {
        node.erase(at.index);
        model.erase(key);
      }
      REQUIRE(node.verify().empty());
    }
  });
}

}  // namespace
}  // namespace swizzle

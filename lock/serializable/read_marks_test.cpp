#include "lock/serializable/read_marks.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <thread>
#include <tuple>

#include "base/random.h"
#include "lock/lock_test_support.h"

namespace swizzle::lock {
namespace {

constexpr TreeId kOtherTree{8};

ReadMarks::Limits few() {
  return {.buckets = 4, .of_tree = 10, .of_owner = 30};
}

std::set<const MarkOwner*> owners(const ReadMarks& marks, LockId id, ReadPart part) {
  std::set<const MarkOwner*> found;
  marks.visit(id, part, [&](MarkOwner& owner) { found.insert(&owner); });
  return found;
}

}  // namespace

TEST_CASE("a mark is found by its part alone", "[lock][marks]") {
  ReadMarks marks(few());
  MarkOwner one;
  MarkOwner two;
  CHECK(marks.empty());
  marks.add(one, {kTree, 1}, ReadPart::key);
  marks.add(two, {kTree, 1}, ReadPart::gap);
  CHECK_FALSE(marks.empty());
  CHECK(owners(marks, {kTree, 1}, ReadPart::key) == std::set<const MarkOwner*>{&one});
  CHECK(owners(marks, {kTree, 1}, ReadPart::gap) == std::set<const MarkOwner*>{&two});
  CHECK(owners(marks, {kTree, 5}, ReadPart::key_and_gap).empty());
  CHECK(owners(marks, {kOtherTree, 1}, ReadPart::key_and_gap).empty());
  marks.add(one, {kTree, 1}, ReadPart::gap);
  CHECK(owners(marks, {kTree, 1}, ReadPart::gap) == std::set<const MarkOwner*>{&one, &two});
  CHECK(marks.count() == 2);
  marks.remove_all(one);
  CHECK(owners(marks, {kTree, 1}, ReadPart::key_and_gap) == std::set<const MarkOwner*>{&two});
  marks.remove_all(two);
  CHECK(marks.empty());
}

TEST_CASE("marks are listed with their owners' labels", "[lock][marks]") {
  ReadMarks marks(few());
  MarkOwner one{7};
  MarkOwner two{9};
  marks.add(one, {kTree, 1}, ReadPart::key);
  marks.add(one, {kTree, 2}, ReadPart::gap);
  marks.coarsen(two);
  marks.add_all(two);
  std::multiset<std::tuple<OwnerLabel, ReadMarkRow::Of, TreeId>> listed;
  for (const ReadMarkRow& row : marks.rows()) listed.emplace(row.label, row.of, row.tree);
  using enum ReadMarkRow::Of;
  CHECK(listed ==
        decltype(listed){{7, key, kTree}, {7, key, kTree}, {9, everything, TreeId::directory}});
  marks.coarsen(one);
  CHECK(marks.rows().front().of == tree);
  for (std::uint64_t i = 0; i < 9; ++i) marks.add(one, {kOtherTree, i}, ReadPart::key);
  CHECK(marks.rows().size() == 11);
  marks.remove_all(one);
  marks.remove_all(two);
  CHECK(marks.rows().empty());
}

TEST_CASE("an owner of many marks marks its trees instead", "[lock][marks]") {
  ReadMarks marks(few());
  MarkOwner owner;
  for (std::uint64_t key = 0; key < 30; ++key) marks.add(owner, {kTree, key}, ReadPart::key);
  CHECK(marks.count() == 1);
  CHECK(owners(marks, {kTree, 999}, ReadPart::gap).contains(&owner));
  CHECK(owners(marks, {kOtherTree, 1}, ReadPart::key).empty());
  // A mark on the tree keeps no ghost and no fence.
  CHECK_FALSE(marks.is_marked({kTree, 1}, ReadPart::key_and_gap));

  marks.add(owner, {kOtherTree, 1}, ReadPart::gap);
  marks.coarsen(owner);
  CHECK(marks.count() == 2);
  CHECK(owners(marks, {kOtherTree, 3}, ReadPart::key).contains(&owner));
  marks.remove_all(owner);
  CHECK(marks.empty());
}

TEST_CASE("an owner that has read everything is found by every change", "[lock][marks]") {
  ReadMarks marks(few());
  MarkOwner owner;
  marks.add_all(owner);
  CHECK_FALSE(marks.empty());
  CHECK(owners(marks, {kOtherTree, 77}, ReadPart::gap).contains(&owner));
  marks.add(owner, {kTree, 1}, ReadPart::key);
  CHECK(marks.count() == 1);
  marks.remove_all(owner);
  CHECK(marks.empty());
}

TEST_CASE("a split gap is marked on both sides for all of its owners", "[lock][marks]") {
  ReadMarks marks(few());
  std::vector<std::unique_ptr<MarkOwner>> readers;
  for (int i = 0; i < 100; ++i) {
    readers.push_back(std::make_unique<MarkOwner>());
    marks.add(*readers.back(), {kTree, 1}, i % 2 == 0 ? ReadPart::gap : ReadPart::key);
  }
  marks.split_gap({kTree, 1}, {kTree, 2});
  CHECK(owners(marks, {kTree, 2}, ReadPart::gap).size() == 50);
  CHECK(owners(marks, {kTree, 2}, ReadPart::key).empty());
  CHECK(owners(marks, {kTree, 1}, ReadPart::gap).size() == 50);
  for (const auto& reader : readers) marks.remove_all(*reader);
  CHECK(marks.empty());
}

TEST_CASE("a walk through the marks of one key lets others in between", "[lock][marks]") {
  constexpr int kReaders = 5'000;
  ReadMarks marks(few());
  std::vector<std::unique_ptr<MarkOwner>> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.push_back(std::make_unique<MarkOwner>());
    marks.add(*readers.back(), {kTree, 1}, ReadPart::key_and_gap);
  }
  // Number of the walk that has visited some readers and not yet all of them, otherwise 0. It is
  // written under the bucket's latch.
  std::atomic<int> under_way{0};
  std::atomic<int> between{0};
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) {
      MarkOwner late;
      const int before = under_way;
      // Another key of the same bucket.
      marks.add(late, {kTree, 5}, ReadPart::key);
      if (before != 0 && under_way == before) between.fetch_add(1);
      marks.remove_all(late);
    }
  });
  // A latch goes to whoever comes first, so that one walk may meet nobody who waits at its gaps.
  std::set<const MarkOwner*> found;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{30};
  for (int walk = 1; between == 0 && std::chrono::steady_clock::now() < until; ++walk) {
    found.clear();
    marks.visit({kTree, 1}, ReadPart::key, [&](MarkOwner& owner) {
      found.insert(&owner);
      under_way = found.size() == kReaders ? 0 : walk;
      // Each visit takes as long as it takes to note a conflict of two that have many.
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds{20};
      while (std::chrono::steady_clock::now() < end) continue;
    });
    CHECK(found.size() == kReaders);
  }
  is_over = true;
  other.join();
  CHECK(between > 0);
  marks.split_gap({kTree, 1}, {kTree, 2});
  CHECK(owners(marks, {kTree, 2}, ReadPart::gap).size() == kReaders);
  for (const auto& reader : readers) marks.remove_all(*reader);
  CHECK(marks.empty());
}

TEST_CASE("marks come and go while a key of many is walked through", "[lock][marks]") {
  constexpr int kStaying = 500;
  constexpr int kSplits = 50;
  ReadMarks marks({.buckets = 1024});
  std::vector<std::unique_ptr<MarkOwner>> readers;
  for (int i = 0; i < kStaying; ++i) {
    readers.push_back(std::make_unique<MarkOwner>());
    marks.add(*readers.back(), {kTree, 1}, ReadPart::gap);
  }
  std::atomic<bool> is_over{false};
  std::vector<std::thread> others;
  for (std::uint64_t thread = 0; thread < 2; ++thread)
    others.emplace_back([&, thread] {
      Random random{thread};
      std::vector<std::unique_ptr<MarkOwner>> own;
      std::uint64_t key = 1'000 * (thread + 1);
      int splits = 0;
      while (!is_over) {
        own.push_back(std::make_unique<MarkOwner>());
        marks.add(*own.back(), {kTree, 1}, ReadPart::gap);
        if (splits < kSplits && random.one_in(64)) {
          marks.split_gap({kTree, 1}, {kTree, ++key});
          ++splits;
        }
        while (own.size() > 100 || (!own.empty() && random.one_in(2))) {
          const std::size_t gone = random.below(own.size());
          marks.remove_all(*own[gone]);
          own.erase(own.begin() + static_cast<std::ptrdiff_t>(gone));
        }
      }
      for (const auto& owner : own) marks.remove_all(*owner);
    });
  for (int round = 0; round < 300; ++round) {
    const auto found = owners(marks, {kTree, 1}, ReadPart::gap);
    for (const auto& reader : readers) REQUIRE(found.contains(reader.get()));
  }
  is_over = true;
  for (std::thread& other : others) other.join();
  for (const auto& reader : readers) marks.remove_all(*reader);
  CHECK(marks.empty());
}

// The gaps of ten keys, split at random beside owners that come and go: every place that an owner
// has read is marked for it.
TEST_CASE("marks cover what was read, whatever is inserted", "[lock][marks]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random{seed};
    ReadMarks marks({.buckets = 4, .of_tree = 6, .of_owner = 8});
    std::set<std::uint64_t> keys{0};
    constexpr std::uint64_t kPlaces = 64;
    struct Reader {
      MarkOwner marks;
      std::set<std::uint64_t> places;
    };
    std::vector<std::unique_ptr<Reader>> readers;
    const auto gap_of = [&](std::uint64_t place) {
      return LockId{kTree, *std::prev(keys.upper_bound(place))};
    };
    for (int step = 0; step < 60; ++step) {
      if (readers.empty() || random.one_in(5)) readers.push_back(std::make_unique<Reader>());
      Reader& reader = *readers[random.below(readers.size())];
      const std::uint64_t place = random.below(kPlaces);
      if (random.one_in(2)) {
        const LockId gap = gap_of(place);
        marks.add(reader.marks, gap, ReadPart::gap);
        const auto end = keys.upper_bound(place);
        for (std::uint64_t at = gap.hash; at < (end == keys.end() ? kPlaces : *end); ++at)
          reader.places.insert(at);
      } else if (!keys.contains(place)) {
        const LockId gap = gap_of(place);
        marks.split_gap(gap, {kTree, place});
        keys.insert(place);
      }
      if (random.one_in(8)) {
        const std::size_t gone = random.below(readers.size());
        marks.remove_all(readers[gone]->marks);
        readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(gone));
      }
    }
    for (const auto& reader : readers) {
      for (const std::uint64_t place : reader->places)
        if (!keys.contains(place))
          REQUIRE(owners(marks, gap_of(place), ReadPart::gap).contains(&reader->marks));
      marks.remove_all(reader->marks);
    }
    REQUIRE(marks.empty());
  }
}

}  // namespace swizzle::lock

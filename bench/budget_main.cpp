// swizzle-budget <operation> <count>: runs one operation `count` times after a fixed set-up, for
// scripts/instruction-budgets, which counts instructions under callgrind for two counts and divides
// the difference: what the set-up costs falls out.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/invariant.h"
#include "bench/stores/tree_store.h"
#include "bench/workload.h"

namespace swizzle::bench {
namespace {

constexpr std::uint64_t kRecords = 20'000;
constexpr RecordShape kShape = kEightAndOneTwenty;
using Store = TreeStore<SwizzlingPool>;

/// Every other key of a scattered space: the rest is for inserts.
std::uint64_t key_number(std::uint64_t index) {
  static const KeySpace keys{kRecords * 2, KeyOrder::scattered};
  return keys(index);
}

std::unique_ptr<Store> loaded(PageStore& pages) {
  auto store = Store::create(pages, std::uint64_t{64} << 20U);
  INVARIANT(store.has_value());
  const Permutation order{kRecords, 1};
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    const std::uint64_t number = key_number(order(i) * 2);
    (*store)->insert(Key{kShape, number}.bytes(), Value{kShape, number}.bytes());
  }
  return std::move(*store);
}

/// What an operation is given. The keys are made before, so that they do not count.
struct Bench {
  Store& store;
  std::vector<Key> present;
  std::vector<Key> absent;
  Value value{kShape, 7};
};

using Operation = bool (*)(Bench&, std::uint64_t index);

const std::map<std::string, Operation>& operations() {
  static const std::map<std::string, Operation> kOperations{
      {"lookup",
       [](Bench& bench, std::uint64_t index) {
         std::array<std::byte, kMaxRecordBytes> into;
         return bench.store.get(bench.present[index].bytes(), into) == kShape.value_bytes;
       }},
      {"insert",
       [](Bench& bench, std::uint64_t index) {
         return bench.store.insert(bench.absent[index].bytes(), bench.value.bytes());
       }},
      {"update",
       [](Bench& bench, std::uint64_t index) {
         return bench.store.update(bench.present[index].bytes(), bench.value.bytes());
       }},
  };
  return kOperations;
}

Bench prepared(Store& store) {
  Bench bench{store, {}, {}};
  const Permutation order{kRecords, 2};
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    bench.present.emplace_back(kShape, key_number(order(i) * 2));
    bench.absent.emplace_back(kShape, key_number(order(i) * 2 + 1));
  }
  // Foster children that the load left behind are adopted now, not while we count.
  std::array<std::byte, kMaxRecordBytes> into;
  for (const Key& key : bench.present) store.get(key.bytes(), into);
  return bench;
}

int run(int count, char** words) {
  if (count == 2 && std::string_view{words[1]} == "list") {
    for (const auto& [name, operation] : operations()) fmt::print("{}\n", name);
    return 0;
  }
  const auto chosen = operations().find(count == 3 ? words[1] : "");
  std::uint64_t times = 0;
  if (chosen != operations().end()) {
    std::from_chars(words[2], words[2] + std::strlen(words[2]), times);
  }
  if (times == 0 || times > kRecords) {
    fmt::print(stderr, "swizzle-budget list | <operation> <count up to {}>\n", kRecords);
    return 2;
  }
  NoDisk pages;
  const auto store = loaded(pages);
  Bench bench = prepared(*store);
  for (std::uint64_t i = 0; i < times; ++i) {
    const bool done = chosen->second(bench, i);
    INVARIANT(done);
  }
  return 0;
}

}  // namespace
}  // namespace swizzle::bench

int main(int count, char** words) {
  return swizzle::bench::run(count, words);
}

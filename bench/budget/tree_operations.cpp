// Operations: lookup, insert and update on a tree, without transactions.
#include <array>
#include <vector>

#include "base/invariant.h"
#include "bench/budget/operation.h"
#include "bench/stores/tree_store.h"
#include "bench/workload.h"

namespace swizzle::bench {
namespace {

constexpr std::uint64_t kRecords = BudgetOperation::kMost;
constexpr RecordShape kShape = kEightAndOneTwenty;
using Store = TreeStore<SwizzlingPool>;

/// Returns every other key of a scattered key space; the others are for inserts.
std::uint64_t key_number(std::uint64_t index) {
  static const KeySpace keys{kRecords * 2, KeyOrder::scattered};
  return keys(index);
}

class TreeOperation : public BudgetOperation {
 public:
  TreeOperation() {
    auto store = Store::create(pages_, std::uint64_t{64} << 20U);
    INVARIANT(store.has_value());
    store_ = std::move(*store);
    const Permutation order{kRecords, 1};
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      const std::uint64_t number = key_number(order(i) * 2);
      store_->insert(Key{kShape, number}.bytes(), Value{kShape, number}.bytes());
    }
    // Make the keys in advance, so that this is not counted.
    const Permutation other_order{kRecords, 2};
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      present_.emplace_back(kShape, key_number(other_order(i) * 2));
      absent_.emplace_back(kShape, key_number(other_order(i) * 2 + 1));
    }
    // Adopt the load's foster children now, not during the count.
    std::array<std::byte, kMaxRecordBytes> into;
    for (const Key& key : present_) store_->get(key.bytes(), into);
  }

 protected:
  NoDisk pages_;
  std::unique_ptr<Store> store_;
  std::vector<Key> present_;
  std::vector<Key> absent_;
  Value value_{kShape, 7};
};

class Lookup final : public TreeOperation {
 public:
  bool run(std::uint64_t index) override {
    std::array<std::byte, kMaxRecordBytes> into;
    return store_->get(present_[index].bytes(), into) == kShape.value_bytes;
  }
};

class Insert final : public TreeOperation {
 public:
  bool run(std::uint64_t index) override {
    return store_->insert(absent_[index].bytes(), value_.bytes());
  }
};

class Update final : public TreeOperation {
 public:
  bool run(std::uint64_t index) override {
    return store_->update(present_[index].bytes(), value_.bytes());
  }
};

}  // namespace

void add_tree_operations(BudgetOperations& operations) {
  operations["lookup"] = [] { return std::make_unique<Lookup>(); };
  operations["insert"] = [] { return std::make_unique<Insert>(); };
  operations["update"] = [] { return std::make_unique<Update>(); };
}

}  // namespace swizzle::bench

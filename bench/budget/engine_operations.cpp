// Operation: a transaction that changes one record, from begin to commit. It does not wait for the
// disk, because the session executes nothing during that wait.
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "base/invariant.h"
#include "bench/budget/operation.h"
#include "bench/budget/scratch_database.h"

namespace swizzle::bench {

ScratchDatabase::ScratchDatabase()
    : directory_(std::filesystem::temp_directory_path() /
                 ("swizzle-budget-" + std::to_string(::getpid()))) {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} << 20U;
  options.log_segment_bytes = std::uint64_t{8} << 20U;
  options.log_buffer_bytes = std::uint64_t{8} << 20U;
  const auto created = Engine::create(files_, directory_, options);
  INVARIANT(created.has_value());
  auto engine = Engine::open(files_, directory_, options);
  INVARIANT(engine.has_value());
  engine_ = std::move(*engine);
}

ScratchDatabase::~ScratchDatabase() {
  const auto closed = engine_->close();
  INVARIANT(closed.has_value());
  engine_.reset();
  std::filesystem::remove_all(directory_);
}

namespace {

class Commit final : public BudgetOperation {
 public:
  Commit() {
    const auto transaction = database_.engine().begin();
    const auto id = database_.engine().create_tree(*transaction);
    INVARIANT(id.has_value());
    auto tree = database_.engine().tree(*id);
    INVARIANT(tree.has_value());
    tree_.emplace(*tree);
    for (std::uint64_t i = 0; i < kMost; ++i) {
      const auto inserted = tree_->insert(*transaction, key(i), kValue);
      INVARIANT(inserted.has_value() && *inserted);
    }
    const auto committed = transaction->commit();
    INVARIANT(committed.has_value());
  }

  bool run(std::uint64_t index) override {
    const auto transaction = database_.engine().begin();
    transaction->begin_statement();
    const auto updated = tree_->update(*transaction, key(index * 7919 % kMost), kValue);
    return updated.has_value() && *updated &&
           transaction->commit(Transaction::Durability::asynchronous).has_value();
  }

 private:
  static constexpr std::array<std::byte, 100> kValue{};

  Bytes key(std::uint64_t number) {
    const std::uint64_t big_endian = __builtin_bswap64(number);
    std::memcpy(key_.data(), &big_endian, key_.size());
    return key_;
  }

  ScratchDatabase database_;
  std::optional<Tree> tree_;
  std::array<std::byte, 8> key_{};
};

}  // namespace

void add_engine_operations(BudgetOperations& operations) {
  operations["commit"] = [] { return std::make_unique<Commit>(); };
}

}  // namespace swizzle::bench

#include "sql-lite-frontend/execution/write/entry_batch.h"

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kFetchedAhead = 10;
/// Estimated cost in nanoseconds. On a reactor, the clock ends a fiber's turn.
constexpr std::size_t kPerRemoval = 250;
constexpr std::size_t kPerInsert = 1000;

}  // namespace

void EntryBatch::add(std::string_view key, std::string_view what) {
  constexpr std::size_t kEach = 32;  // besides the key, about
  sorter_.add(key, what);
  bytes_ += key.size() + kEach;
}

void EntryBatch::remove_next(Transaction& transaction) {
  std::span<const Removal> left{removals_};
  while (!left.empty()) {
    std::size_t done = value_of(remove_first(tree_, transaction, left));
    if (done == 0) {
      value_of(tree_.remove(transaction, left.front().key));
      done = 1;
    }
    ++leaf_requests_;
    left = left.subspan(done);
    yield_point(done * kPerRemoval);
  }
  removals_.clear();
}

void EntryBatch::insert_next(Transaction& transaction) {
  // Prefetch distance: long enough for the memory latency, short enough that the line is still
  // cached.
  constexpr std::size_t kStep = 10;
  const auto fetch = [&](std::size_t at, Fetch step) {
    if (at < inserts_.size()) prefetch_change(tree_, transaction, inserts_[at], step);
  };
  leaf_requests_ += inserts_.size();
  for (std::size_t i = 0; i < inserts_.size(); ++i) {
    fetch(i + 2 * kStep, Fetch::places);
    fetch(i + kStep, Fetch::contents);
    yield_point(kPerInsert);
    if (value_of(tree_.insert(transaction, inserts_[i], {}))) continue;
    throw SqlError{SqlState{"XX002"}, "an index has an entry already that is to be inserted"};
  }
  inserts_.clear();
}

void EntryBatch::make_next(Transaction& transaction) {
  remove_next(transaction);
  insert_next(transaction);
}

void EntryBatch::apply(Transaction& transaction) {
  if (bytes_ == 0) return;
  // Remains of a statement that failed.
  removals_.clear();
  inserts_.clear();
  sorter_.finish();
  constexpr std::size_t kAtOnce = 512;
  Bytes last;
  while (const auto entry = sorter_.next()) {
    // Addresses that next() will follow: in key order they lie anywhere.
    static_cast<void>(sorter_.ahead(kFetchedAhead));
    const Bytes key = as_bytes(entry->key);
    const bool is_other = compare(key, last) != 0;
    if (is_other && removals_.size() + inserts_.size() >= kAtOnce) make_next(transaction);
    last = key;
    // Most keys occur once; comparing a key that cannot be equal would cost a cache miss.
    if (entry->value.front() == kInsert.front()) {
      if (is_other || inserts_.empty() || compare(inserts_.back(), key) != 0)
        inserts_.push_back(key);
    } else if (is_other || removals_.empty() || compare(removals_.back().key, key) != 0) {
      removals_.push_back({key, std::nullopt});
    }
  }
  make_next(transaction);
  sorter_.restart();
  bytes_ = 0;
}

}  // namespace swizzle::sql

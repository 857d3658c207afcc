#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/execution/rows/entry_sorter.h"

namespace swizzle::sql {

/// Keys of rows that an index scan has found, collected in batches and returned in the table's key
/// order, so that rows of one leaf are looked up together. In the index's order, look-ups would
/// jump from leaf to leaf.
///
/// Batches start small, because the caller may want few rows, and grow, because a larger batch
/// finds more rows per leaf.
class KeyBatch {
 public:
  /// Removes the keys and starts with a small batch again.
  void restart();
  [[nodiscard]] bool is_full() const noexcept { return count_ >= most_; }
  void add(std::string_view key);
  /// Sorts the batch. Returns false if it is empty.
  bool finish();
  /// Returns the next key, or nothing at the batch's end, when keys of the next batch may be added.
  /// Pre: finish(). Valid until the next call.
  std::optional<std::string_view> next();

 private:
  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kGrowth = 4;
  static constexpr std::size_t kMost = 64 * kFirst * kGrowth * kGrowth;
  /// Memory limit of a batch. Arena chunks are an eighth of it; nothing is spilled.
  static constexpr std::size_t kMemory = std::size_t{512} << 10U;

  std::unique_ptr<EntrySorter> sorter_;
  std::size_t count_ = 0;
  std::size_t most_ = kFirst;
};

}  // namespace swizzle::sql

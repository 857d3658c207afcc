#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/execution/rows/entry_sorter.h"

namespace swizzle::sql {

/// Keys of rows that an index has found, handed out in the table's order. Rows that share a leaf
/// are then looked up one after the other, whereas the index's order jumps from leaf to leaf.
///
/// The first batches are small, since the caller may want few rows, and later ones larger, since
/// the more keys there are, the more of them share a leaf.
class KeyBatch {
 public:
  /// Forgets the keys and begins with a small batch again.
  void restart();
  [[nodiscard]] bool is_full() const noexcept { return count_ >= most_; }
  void add(std::string_view key);
  /// False where there are no keys.
  bool finish();
  /// Nothing at the end: the next batch may be added. Pre: finish(). Valid until the next call.
  std::optional<std::string_view> next();

 private:
  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kGrowth = 4;
  static constexpr std::size_t kMost = 64 * kFirst * kGrowth * kGrowth;
  /// Chunks of memory are an eighth of it; nothing goes to files.
  static constexpr std::size_t kMemory = std::size_t{512} << 10U;

  std::unique_ptr<EntrySorter> sorter_;
  std::size_t count_ = 0;
  std::size_t most_ = kFirst;
};

}  // namespace swizzle::sql

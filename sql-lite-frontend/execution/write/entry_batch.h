#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/execution/rows/entry_sorter.h"
#include "storage/bulk_changes.h"

namespace swizzle::sql {

/// Index changes of a statement that writes many rows: collected, and applied in key order, so that
/// the changes of one leaf are adjacent.
///
/// Only for indexes that are not unique: the statement does not read their entries before its end,
/// and their changes cannot fail because of other rows.
class EntryBatch {
 public:
  explicit EntryBatch(const Tree& tree) noexcept : tree_(tree), sorter_(WorkSpace{}) {}

  void insert(std::string_view key) { add(key, kInsert); }
  void remove(std::string_view key) { add(key, kRemove); }
  [[nodiscard]] bool is_full() const noexcept { return bytes_ > kMostBytes; }
  /// Applies the changes. Of changes to the same key, removals come first.
  void apply(Transaction& transaction);
  /// Returns the number of leaves requested for changes since the last call.
  [[nodiscard]] std::uint64_t take_leaf_requests() noexcept {
    return std::exchange(leaf_requests_, 0);
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
  /// Stored in place of an entry's value, which these indexes do not have.
  static constexpr std::string_view kInsert = "+";
  static constexpr std::string_view kRemove = "-";

  void add(std::string_view key, std::string_view what);
  void make_next(Transaction& transaction);
  void remove_next(Transaction& transaction);
  void insert_next(Transaction& transaction);

  Tree tree_;
  EntrySorter sorter_;
  std::size_t bytes_ = 0;
  std::uint64_t leaf_requests_ = 0;
  /// The next changes in key order. All changes of one key are in the same batch.
  std::vector<Removal> removals_;
  std::vector<Bytes> inserts_;
};

}  // namespace swizzle::sql

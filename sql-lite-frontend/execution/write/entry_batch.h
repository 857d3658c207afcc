#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/execution/rows/entry_sorter.h"
#include "storage/bulk_changes.h"

namespace swizzle::sql {

/// Changes of one index that a statement of many rows has made so far: collected, and then made in
/// key order, so that those of one leaf come together.
///
/// Only for indexes whose entries are not looked up before the statement ends, and whose changes
/// cannot fail because of other rows: those that are not unique.
class EntryBatch {
 public:
  explicit EntryBatch(const Tree& tree) noexcept : tree_(tree), sorter_(WorkSpace{}) {}

  void insert(std::string_view key) { add(key, kInsert); }
  void remove(std::string_view key) { add(key, kRemove); }
  [[nodiscard]] bool is_full() const noexcept { return bytes_ > kMostBytes; }
  /// Makes the changes; of those to one key, removing comes first.
  void apply(Transaction& transaction);
  /// Returns the number of leaves that the changes have asked for since the last call.
  [[nodiscard]] std::uint64_t take_leaf_requests() noexcept {
    return std::exchange(leaf_requests_, 0);
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20U;
  /// Stands where an entry has its value: entries of these indexes have none.
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
  /// The next changes, by their keys: of one key, both are among them or neither.
  std::vector<Removal> removals_;
  std::vector<Bytes> inserts_;
};

}  // namespace swizzle::sql

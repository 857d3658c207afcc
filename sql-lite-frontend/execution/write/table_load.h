#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/execution/rows/entry_sorter.h"
#include "sql-lite-frontend/query/bound/execution.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Bulk load of an empty table: builds its tree bottom-up from rows in key order, and its indexes
/// from entries that are collected and sorted at the end. Unique indexes are not included, because
/// a duplicate must be reported with its row.
class TableLoad {
 public:
  /// Returns null unless the transaction has created or truncated the table, and the table is
  /// empty.
  static std::unique_ptr<TableLoad> start(Execution& execution, const Table& table);

  /// Returns false without effect if the key is not greater than the previous one.
  bool add(std::string_view key, std::string_view row);
  /// Returns false if the index is not loaded, so that the caller must insert the entry.
  bool add_entry(std::size_t index, std::string_view key, std::string_view value);
  /// Ends the load: completes the trees.
  void finish();

 private:
  struct IndexLoad {
    std::unique_ptr<TreeLoad> tree;
    EntrySorter entries;
  };
  explicit TableLoad(std::unique_ptr<TreeLoad> rows) noexcept : rows_(std::move(rows)) {}

  std::unique_ptr<TreeLoad> rows_;
  std::vector<std::unique_ptr<IndexLoad>> indexes_;  ///< null: not loaded
};

/// Encoded rows of a statement that are written or removed together.
class HeldRows {
 public:
  static constexpr std::size_t kMostRows = 1000;
  static constexpr std::size_t kMostBytes = 65536;

  void add(std::string_view key, std::string_view row);
  [[nodiscard]] bool is_full() const noexcept {
    return rows_.size() >= kMostRows || bytes_.size() >= kMostBytes;
  }
  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] std::string_view key(std::size_t index) const noexcept;
  [[nodiscard]] std::string_view row(std::size_t index) const noexcept;
  void clear() noexcept;

 private:
  struct Place {
    std::size_t key;
    std::size_t row;
    std::size_t end;
  };
  std::string bytes_;
  std::vector<Place> rows_;
};

}  // namespace swizzle::sql

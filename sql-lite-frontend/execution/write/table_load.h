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

/// Fills a table without rows bottom-up: its tree from rows in key order, its indexes from entries
/// that are kept and sorted until the end. Unique indexes are not among them, since a duplicate is
/// to be reported with its row.
class TableLoad {
 public:
  /// Null unless the transaction has made or truncated the table itself, and it is empty.
  static std::unique_ptr<TableLoad> start(Execution& execution, const Table& table);

  /// False, and nothing is done: the key is not above the one before.
  bool add(std::string_view key, std::string_view row);
  /// False: the index of that number is not loaded, so its entries are to be inserted.
  bool add_entry(std::size_t index, std::string_view key, std::string_view value);
  /// The trees are trees like others from now on.
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

/// Some rows of a statement, encoded, that are written or removed together.
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

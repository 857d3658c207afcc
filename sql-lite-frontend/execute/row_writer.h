#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/bind/query.h"
#include "sql-lite-frontend/execute/execution.h"

namespace swizzle::sql {

/// Writes single rows of one table: the row, its index entries, and the errors that keep both
/// consistent. Slots of `write` must hold the row where index expressions need it.
class RowWriter {
 public:
  explicit RowWriter(const WriteStatement& write);

  /// Fails with 23502 when a column that may not be NULL is.
  void check_not_null(Execution& execution, std::span<const Value> row) const;

  /// The key under which the row is, or would be, stored. Gives out a row id where there is no
  /// primary key.
  std::string key_for(Execution& execution, std::span<const Value> row) const;

  /// Begins to write rows into the table's tree as a load where that can be done: the tree was
  /// created by this transaction and is empty. Rows that come in key order then cost a fraction of
  /// an insert; the first that does not ends the load. The tree shows nobody anything before
  /// end_load().
  void begin_load(Execution& execution);
  void end_load();
  /// What a statement that failed has left.
  void abandon_load() noexcept { load_.reset(); }

  /// Nothing, or the index on which the row is a duplicate (of a row that is there and locked);
  /// then nothing has been written, if `undo_on_conflict`.
  enum class OnConflict : std::uint8_t { fail, report };
  const Index* insert(Execution& execution, std::span<const Value> row, OnConflict on_conflict);

  /// The key of the row that was inserted or updated last.
  [[nodiscard]] const std::string& last_key() const noexcept { return last_key_; }

  /// Pre: the row under `key` is locked for update and is `old_row`.
  void update(Execution& execution, Bytes key, std::span<const Value> old_row,
              std::span<const Value> new_row);
  void remove(Execution& execution, Bytes key, std::span<const Value> old_row);

  /// The stored row that has the same values in a unique index; its key, or nullopt.
  std::optional<std::string> find_duplicate(Execution& execution, const Index& index,
                                            std::span<const Value> row);

  /// "(lower(b), a)=(x, 1)": the row's key in the index, for error details.
  std::string index_key_detail(Execution& execution, const Index& index,
                               std::span<const Value> row) const;
  [[noreturn]] void fail_duplicate(Execution& execution, const Index& index,
                                   std::span<const Value> row) const;

  /// One row's entry in the table's index of that number; for building indexes.
  struct Entry {
    std::string key;
    std::string value;
    bool present = false;  ///< partial indexes leave rows out
    bool checked = false;  ///< unique, and no column is NULL
  };
  Entry entry_of(Execution& execution, std::size_t index, std::span<const Value> row,
                 std::string_view row_key) const;

 private:
  void put_in_slots(Execution& execution, std::span<const Value> row) const;
  void encode(std::span<const Value> row);
  bool insert_row(Transaction& transaction, std::string_view key);

  const WriteStatement& write_;
  const Table& table_;
  Tree tree_;
  std::string row_buffer_;
  std::unique_ptr<TreeLoad> load_;
  std::string last_key_;
};

/// "(1, null, text)": the row as error details show it.
std::string failing_row(Execution& execution, const Table& table, std::span<const Value> row);
/// "(a, b)=(1, 2)"
std::string key_detail(Execution& execution, const Table& table,
                       std::span<const std::int16_t> columns, std::span<const Value> row);

}  // namespace swizzle::sql

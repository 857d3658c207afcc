#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql-lite-frontend/execution/publish/row_publisher.h"
#include "sql-lite-frontend/execution/write/entry_batch.h"
#include "sql-lite-frontend/execution/write/exclusion.h"
#include "sql-lite-frontend/execution/write/table_load.h"
#include "sql-lite-frontend/query/bind/query.h"
#include "sql-lite-frontend/query/bound/execution.h"

namespace swizzle::sql {

/// Writes single rows of one table: the row, its index entries, and the errors that keep both
/// consistent. Slots of `write` must hold the row where index expressions need it. row_entries.cpp
/// makes the index entries.
class RowWriter {
 public:
  explicit RowWriter(const WriteStatement& write);

  /// Begins a statement, whose kinds of changes are given as bits (published::k…). Subscribers of
  /// the table are told of changes from now on.
  void begin_publishing(Execution& execution, std::uint8_t events) {
    publisher_.begin(execution, events);
  }
  /// True if removed() needs all columns of a row.
  [[nodiscard]] bool publishes_rows() const noexcept { return publisher_.wants_rows(); }

  /// Fails with 23502 when a column that may not be NULL is.
  void check_not_null(Execution& execution, std::span<const Value> row) const;

  /// The key under which the row is, or would be, stored. Gives out a row id where there is no
  /// primary key.
  std::string key_for(Execution& execution, std::span<const Value> row) const;

  /// Allows changes of indexes that are not unique to be collected from now on, up to
  /// end_changes(), which makes them. In between entries must not be looked up. A change that fails
  /// then fails the statement.
  void begin_changes() noexcept;

  /// Begins to insert rows as a load where the table is empty and this transaction has made or
  /// truncated it: a load of any other would keep all others from writing to it. Rows that come in
  /// key order then cost a fraction of an insert; the first that does not ends the load. The rows
  /// are not visible in the trees before end_changes().
  void begin_load(Execution& execution);
  /// Nothing is loaded or collected any more.
  void end_changes(Execution& execution);
  /// Forgets the changes that a failed statement has left.
  void abandon_changes() noexcept;

  /// Nothing, or the index on which the row is a duplicate (of a row that is there and locked);
  /// then nothing has been written.
  enum class OnConflict : std::uint8_t { fail, report };
  const Index* insert(Execution& execution, std::span<const Value> row, OnConflict on_conflict);

  /// The key of the row that was inserted or updated last.
  [[nodiscard]] const std::string& last_key() const noexcept { return last_key_; }

  /// Pre: the row under `key` is locked (FOR UPDATE where a key changes) and is `old_row`.
  void update(Execution& execution, Bytes key, std::span<const Value> old_row,
              std::span<const Value> new_row);
  void remove(Execution& execution, Bytes key, std::span<const Value> old_row);
  /// The same for a row that need not be locked, as long as its stored form is still the one that
  /// `old_row` was read from. False: nothing is done; lock it and look.
  struct StoredRow {
    Bytes key;
    Bytes row;
  };
  bool remove_unchanged(Execution& execution, const StoredRow& stored,
                        std::span<const Value> old_row);
  /// The first of `rows`, from that of number `from` on, that can be removed together, but not
  /// their entries: how many they are. Pre: their keys ascend.
  std::size_t remove_first(Execution& execution, const HeldRows& rows, std::size_t from);
  /// Removes the row's entries. Slots hold the row where index expressions need it.
  void removed(Execution& execution, std::string_view key, std::span<const Value> old_row);
  /// False if a row can be removed without reading its columns: it has no index entries.
  [[nodiscard]] bool has_entries() const noexcept;
  /// Number of a row's first columns that determine its entries.
  [[nodiscard]] std::size_t columns_of_entries() const noexcept;

  /// The stored row that has the same values in a unique index; its key, or nullopt.
  std::optional<std::string> find_duplicate(Execution& execution, const Index& index,
                                            std::span<const Value> row);

  /// "(lower(b), a)=(x, 1)": the row's key in the index, for error details. Nothing if the user may
  /// not read the columns, or, with expressions among them, the table.
  std::string index_key_detail(Execution& execution, const Index& index,
                               std::span<const Value> row) const;
  /// Throws the error of a duplicate; for an exclusion's index with the conflicting row.
  [[noreturn]] void fail_duplicate(Execution& execution, const Index& index,
                                   std::span<const Value> row) const;

  /// Exclusion constraints that are looked at when the statement has written its rows: forgotten
  /// when it begins, and looked at when it ends.
  void begin_exclusions(bool are_checked) noexcept;
  [[nodiscard]] bool has_unchecked_exclusions() const noexcept { return exclusions_.has_notes(); }
  void check_exclusions(Execution& execution) { exclusions_.finish(execution); }

  /// One row's entry in the table's index of that number; for building indexes.
  struct Entry {
    std::string key;
    std::string value;
    bool present = false;          ///< partial indexes leave rows out
    bool checked = false;          ///< unique, and no column is NULL
    std::size_t locked_bytes = 0;  ///< of the key, where DeferrableKeys looks at it later
  };
  Entry entry_of(Execution& execution, std::size_t index, std::span<const Value> row,
                 std::string_view row_key) const;
  /// Keys of an inverted index for a row: ascending, in the row arena.
  using EntryKeys = CountedVector<std::string_view>;
  EntryKeys element_entries_of(Execution& execution, std::size_t index, std::span<const Value> row,
                               std::string_view row_key) const;

 private:
  /// The row's values in an exclusion's index; none where it is not in it, or one is NULL.
  std::vector<Value> excluded_values(Execution& execution, std::size_t index,
                                     std::span<const Value> row) const;
  /// Checks a row that is about to get its entry in the index. False: there is a conflicting one. A
  /// deferrable conflict is noted.
  bool may_stand(Execution& execution, std::size_t index, std::span<const Value> row);
  /// Locks the key of a deferrable constraint until the transaction ends; insert and removal of the
  /// key both take the lock.
  void lock_deferrable(Execution& execution, std::size_t index, const Entry& entry) const;
  void make_key(Execution& execution, std::span<const Value> row, std::string& key) const;
  void put_in_slots(Execution& execution, std::span<const Value> row) const;
  void encode(std::span<const Value> row);
  bool insert_row(Transaction& transaction, std::string_view key);
  void remove_entries(Execution& execution, std::span<const Value> old_row);
  /// Returns the batch that collects changes of that index; null: they are made at once.
  EntryBatch* batch_of(std::size_t index);
  void note_change(Transaction& transaction, Counted kind);
  /// An entry of that index is about to be written or removed.
  void note_entry(std::size_t index) const noexcept {
    table_.indexes[index].counters->add(Counted::leaves);
  }
  void apply_batch(std::size_t index, Transaction& transaction);
  void finish_load();
  [[nodiscard]] bool assigns(std::size_t position) const;
  [[nodiscard]] bool may_move_entry(std::size_t index) const;
  void move_entry(Execution& execution, std::size_t index, std::span<const Value> old_row,
                  std::span<const Value> new_row, std::string_view old_key,
                  std::string_view new_key);
  /// Partial indexes leave rows out. Puts the row into slots where expressions need it.
  bool is_in_index(Execution& execution, std::size_t index, std::span<const Value> row) const;
  /// Pre: is_in_index().
  Value value_in_index(Execution& execution, std::size_t index, std::size_t column,
                       std::span<const Value> row) const;
  void insert_element(Execution& execution, std::size_t index, std::string_view key);
  void remove_element(Execution& execution, std::size_t index, std::string_view key);
  void insert_elements(Execution& execution, std::size_t index, std::span<const Value> row,
                       std::string_view row_key);
  void move_elements(Execution& execution, std::size_t index, std::span<const Value> old_row,
                     std::span<const Value> new_row, std::string_view old_key,
                     std::string_view new_key);
  void remove_elements(Execution& execution, std::size_t index, std::span<const Value> old_row,
                       std::string_view row_key);

  const WriteStatement& write_;
  const Table& table_;
  RowPublisher publisher_;
  Exclusions exclusions_;
  bool checks_exclusions_ = true;
  std::optional<Tree> tree_;  ///< none of a view, whose triggers write instead
  /// True if an update of this statement may change the row's key; else the key is not computed
  /// again.
  bool may_move_row_ = false;
  std::vector<bool> may_move_entry_;  ///< by index
  std::string key_buffer_;
  std::string old_key_buffer_;
  std::string row_buffer_;
  std::unique_ptr<TableLoad> load_;
  bool collects_ = false;
  std::size_t changes_ = 0;                           ///< of rows, since begin_changes()
  std::vector<std::unique_ptr<EntryBatch>> batches_;  ///< per index; null: there was nothing yet
  std::string last_key_;
  std::vector<Removal> removals_;
};

/// Throws XX002: an index lacks an entry that it must have.
[[noreturn]] void fail_missing_entry(const Index& index);
/// 54000 for more bytes than a key can have.
void require_key_fits(std::size_t bytes, const Index& index);
/// The numbers of those that are there.
std::vector<std::int16_t> all_columns(const Table& table);
/// Returns the form of a value that details of errors show.
std::string shortened_value(std::string value);
/// "Failing row contains (1, null, text).": with the columns alone that the session may read or has
/// given; empty where there are none.
std::string failing_row(Execution& execution, const WriteStatement& write,
                        std::span<const Value> row);
/// "(a, b)=(1, 2)"
std::string key_detail(FunctionContext& functions, const Table& table,
                       std::span<const std::int16_t> columns, std::span<const Value> row);

}  // namespace swizzle::sql

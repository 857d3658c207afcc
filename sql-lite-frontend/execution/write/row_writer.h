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

/// Writes single rows of one table with their index entries, and throws constraint errors. If
/// indexes have expressions, slots of `write` must hold the row. row_entries.cpp builds the index
/// entries.
class RowWriter {
 public:
  explicit RowWriter(const WriteStatement& write);

  /// Begins a statement; `events` are its kinds of changes as bits (published::k…). Row changes are
  /// logged for logical replication from now on.
  void begin_publishing(Execution& execution, std::uint8_t events) {
    publisher_.begin(execution, events);
  }
  /// True if removed() needs all columns of a row.
  [[nodiscard]] bool publishes_rows() const noexcept { return publisher_.wants_rows(); }

  /// Throws 23502 if a NOT NULL column is NULL.
  void check_not_null(Execution& execution, std::span<const Value> row) const;
  [[noreturn]] void fail_null(Execution& execution, const Column& column,
                              std::span<const Value> row) const;

  /// Returns the row's key in the table. Allocates a row id if there is no primary key.
  std::string key_for(Execution& execution, std::span<const Value> row) const;

  /// Allows changes of non-unique indexes to be collected until end_changes() applies them. In
  /// between, entries must not be looked up. A failed change fails the statement.
  void begin_changes() noexcept;

  /// Inserts rows by bulk load if the table is empty and this transaction has created or truncated
  /// it; a load of another table would block all other writers. Rows in key order then cost a
  /// fraction of an insert; the first row out of order ends the load. The rows become visible in
  /// the trees only at end_changes().
  void begin_load(Execution& execution);
  /// Applies collected changes and ends a load.
  void end_changes(Execution& execution);
  /// Discards the changes of a failed statement.
  void abandon_changes() noexcept;

  /// insert() returns null, or with `report` the index on which the row is a duplicate of an
  /// existing, now locked row; nothing has been written in that case.
  enum class OnConflict : std::uint8_t { fail, report };
  const Index* insert(Execution& execution, std::span<const Value> row, OnConflict on_conflict);

  /// Key of the row that insert() has just inserted.
  [[nodiscard]] const std::string& inserted_key() const noexcept { return key_buffer_; }
  /// Key of the row that was inserted or updated last.
  [[nodiscard]] const std::string& last_key() const noexcept { return last_key_; }

  /// Pre: the row under `key` is locked (FOR UPDATE where a key changes) and is `old_row`.
  void update(Execution& execution, Bytes key, std::span<const Value> old_row,
              std::span<const Value> new_row);
  void remove(Execution& execution, Bytes key, std::span<const Value> old_row);
  /// The same for a row that need not be locked, if its stored form is still the one from which
  /// `old_row` was decoded. False: nothing was done; the caller must lock the row and read it
  /// again.
  struct StoredRow {
    Bytes key;
    Bytes row;
  };
  bool remove_unchanged(Execution& execution, const StoredRow& stored,
                        std::span<const Value> old_row);
  /// Removes leading rows of `rows`, starting at number `from`, that can be removed together, but
  /// not their index entries; returns their count. Pre: their keys ascend.
  std::size_t remove_first(Execution& execution, const HeldRows& rows, std::size_t from);
  /// Removes the index entries of a removed row. Slots hold the row if index expressions need it.
  void removed(Execution& execution, std::string_view key, std::span<const Value> old_row);
  /// True if the table has indexes. Without one, a row can be removed without decoding its columns.
  [[nodiscard]] bool has_entries() const noexcept;
  /// Number of leading columns of a row that determine its index entries.
  [[nodiscard]] std::size_t columns_of_entries() const noexcept;

  /// Returns the key of a stored row with the same values in a unique index, or nullopt.
  std::optional<std::string> find_duplicate(Execution& execution, const Index& index,
                                            std::span<const Value> row);

  /// Returns "(lower(b), a)=(x, 1)", the row's key in the index, for error details. Nothing if the
  /// user may not read the columns, or, if there are expressions among them, the table.
  std::string index_key_detail(Execution& execution, const Index& index,
                               std::span<const Value> row) const;
  /// Throws the error of a duplicate; for an exclusion constraint, the detail shows the conflicting
  /// row.
  [[noreturn]] void fail_duplicate(Execution& execution, const Index& index,
                                   std::span<const Value> row) const;

  /// Begins a statement's checks of deferrable exclusion constraints: discards rows recorded
  /// earlier.
  void begin_exclusions(bool are_checked) noexcept;
  [[nodiscard]] bool has_unchecked_exclusions() const noexcept { return exclusions_.has_notes(); }
  void check_exclusions(Execution& execution) { exclusions_.finish(execution); }

  /// A row's entry in one index.
  struct Entry {
    std::string key;
    std::string value;
    bool present = false;          ///< partial indexes leave rows out
    bool checked = false;          ///< unique, and no column is NULL
    std::size_t locked_bytes = 0;  ///< length of the part of the key that DeferrableKeys locks
  };
  Entry entry_of(Execution& execution, std::size_t index, std::span<const Value> row,
                 std::string_view row_key) const;
  /// Keys of a row's entries in an inverted index, ascending, in the row arena.
  using EntryKeys = CountedVector<std::string_view>;
  EntryKeys element_entries_of(Execution& execution, std::size_t index, std::span<const Value> row,
                               std::string_view row_key) const;
  /// Returns the entry, or the keys of the entries, that a stored row may have. None in an index
  /// that is not valid if they cannot be computed: then the row never got one.
  Entry stored_entry_of(Execution& execution, std::size_t index, std::span<const Value> row,
                        std::string_view row_key) const;
  EntryKeys stored_elements_of(Execution& execution, std::size_t index, std::span<const Value> row,
                               std::string_view row_key) const;

 private:
  /// Returns the row's values in an exclusion constraint's index; none if the row is not in the
  /// index, or a value is NULL.
  std::vector<Value> excluded_values(Execution& execution, std::size_t index,
                                     std::span<const Value> row) const;
  /// Checks a row against an exclusion constraint before it is added to the index. False if it
  /// conflicts. Conflicts of a deferrable constraint are recorded instead.
  bool may_stand(Execution& execution, std::size_t index, std::span<const Value> row);
  /// Locks the key of a deferrable constraint until the end of the transaction, for insert and
  /// removal alike.
  void lock_deferrable(Execution& execution, std::size_t index, const Entry& entry) const;
  void make_key(Execution& execution, std::span<const Value> row, std::string& key) const;
  void put_in_slots(Execution& execution, std::span<const Value> row) const;
  void encode(std::span<const Value> row);
  bool insert_row(Transaction& transaction, std::string_view key);
  void remove_entries(Execution& execution, std::span<const Value> old_row);
  /// Returns the tree of an index, in which the transaction changes entries.
  [[nodiscard]] Tree entries_of(const Transaction& transaction, std::size_t index) const noexcept;
  /// Removes a row's entry, which an index that is not valid may lack.
  void remove_entry(Execution& execution, std::size_t index, const Entry& entry);
  /// Returns the batch that collects changes of the index; null if they are applied at once.
  EntryBatch* batch_of(const Transaction& transaction, std::size_t index);
  void note_change(Transaction& transaction, Counted kind);
  /// Called before an entry of the index is written or removed.
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
  /// True unless a partial index leaves the row out. Copies the row to slots if the predicate needs
  /// it.
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
  std::optional<Tree> tree_;  ///< none for a view, whose triggers write instead
  /// True if an update of this statement may change the row's key; otherwise the key is not
  /// recomputed.
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

/// Throws XX002: an index lacks an entry of a stored row.
[[noreturn]] void fail_missing_entry(const Index& index);
/// Throws 54000 if the size exceeds the maximum of a key.
void require_key_fits(std::size_t bytes, const Index& index);
/// Returns the numbers of all columns that are not dropped.
std::vector<std::int16_t> all_columns(const Table& table);
/// Returns a value as details of errors show it, shortened.
std::string shortened_value(std::string value);
/// Returns "Failing row contains (1, null, text).", with only the columns that the session may read
/// or has assigned; empty if there are none.
std::string failing_row(Execution& execution, const WriteStatement& write,
                        std::span<const Value> row);
/// "(a, b)=(1, 2)"
std::string key_detail(FunctionContext& functions, const Table& table,
                       std::span<const std::int16_t> columns, std::span<const Value> row);

}  // namespace swizzle::sql

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "sql-lite-frontend/catalog/objects.h"
#include "sql-lite-frontend/catalog/table_counters.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/user_types.h"
#include "storage/engine.h"

namespace swizzle::sql {

struct ComputedRelation;

/// State of a table that changes without being part of its definition. Shared by all versions of
/// the table.
struct TableRuntime {
  /// Next hidden row id; 0 until the first insert after start-up has found the largest one.
  std::atomic<std::int64_t> next_row_id{0};
  TableCounters counters;
  /// Values of the counters at the last ANALYZE.
  std::atomic<std::uint64_t> analyzed_changes{0};
  std::atomic<std::int64_t> analyzed_delta{0};
  /// Runs of a command since start-up: time of the last one as a timestamp, or 0, and their number.
  struct Analyses {
    std::atomic<std::int64_t> last{0};
    std::atomic<std::uint64_t> count{0};
  };
  Analyses analyzed_by_users;
  Analyses analyzed_by_server;
  /// VACUUM's runs.
  Analyses vacuumed_by_users;
  /// Dead rows that the last VACUUM had to leave.
  std::atomic<std::uint64_t> dead_rows{0};

  /// Rows inserted minus rows deleted since start-up. Inexact: rolled back changes are counted as
  /// well.
  [[nodiscard]] std::int64_t row_delta() const noexcept {
    return static_cast<std::int64_t>(counters.total(Counted::inserted)) -
           static_cast<std::int64_t>(counters.total(Counted::removed));
  }
  /// Returns the counters of an index, which live as long as this object.
  TableCounters& index_counters(Oid index);
  /// Notes that snapshots below `since` must not read the index, which was built beside writers:
  /// rows that only they see may lack entries. There are none after a restart.
  void note_complete(Oid index, Lsn since);
  [[nodiscard]] Lsn complete_since(Oid index);

 private:
  std::mutex mutex_;
  std::map<Oid, TableCounters> index_counters_;
  std::map<Oid, Lsn> complete_since_;
};

/// An index with what is needed to use it.
struct IndexAccess {
  const Index* index = nullptr;
  std::optional<Tree> tree;  ///< absent for the index that orders the rows: it is the table
  std::vector<KeyColumn> columns;
  TableCounters* counters = nullptr;  ///< lives with the table's runtime
  /// Classes of an inverted index, which take apart the values of its columns.
  std::vector<ElementClass> classes = {};
  Lsn complete_since = Lsn::none;  ///< snapshots below it must not read the index

  /// True if it has an entry per element of a row's values, and no order of its columns.
  [[nodiscard]] bool is_inverted() const noexcept { return !classes.empty(); }
  /// True if writers remove entries of the index.
  [[nodiscard]] bool loses_entries() const noexcept { return tree && index->loses_entries(); }
  /// True if writers add entries to it, too.
  [[nodiscard]] bool takes_entries() const noexcept { return tree && index->takes_entries(); }
};

/// One version of a relation's definition, opened. Immutable; plans keep it alive.
///
/// Rows: key = the columns of row_order(), or 8 bytes of hidden row id; value = all columns.
/// Index entries: key = the index's columns, then (unless unique without NULLs) the row's key;
/// value = the row's key for unique ones, empty otherwise. Of inverted ones as row_key_stream.h
/// says.
struct Table {
  Relation relation;
  /// Raised by every change; a writer compares it after it has locked the relation.
  std::uint64_t version = 0;
  std::vector<TypeId> column_types;
  RowLayout layout;
  /// Positions (from 0) of the columns of row_order(); empty: hidden row id.
  std::vector<std::size_t> key_positions;
  std::vector<KeyColumn> key_columns;
  std::optional<Tree> tree;
  std::vector<IndexAccess> indexes;
  std::shared_ptr<TableRuntime> runtime;
  const ComputedRelation* computed = nullptr;
  /// The tree as an index of the hidden row ids, by which ctid finds rows. Its column's number is
  /// the one behind the table's columns.
  std::unique_ptr<const Index> row_id_index;
  NotedType row_type_name;
  std::optional<IndexAccess> row_ids;

  [[nodiscard]] bool has_row_ids() const noexcept { return key_positions.empty(); }
  /// True if queries can read the hidden row ids, as ctid.
  [[nodiscard]] bool shows_row_ids() const noexcept { return row_ids.has_value(); }
  /// Position from 0, or nullopt. Dropped columns are not found.
  [[nodiscard]] std::optional<std::size_t> column_position(std::string_view name) const noexcept;
  /// Null when there is none.
  [[nodiscard]] const Index* index_by_oid(Oid oid) const noexcept;
  [[nodiscard]] const Constraint* constraint_named(std::string_view name) const noexcept;
  [[nodiscard]] const Index* primary_key() const noexcept;
  /// Returns the index by which the rows are ordered: null if they have hidden row ids.
  [[nodiscard]] const Index* row_order() const noexcept;
  /// Number of rows, as far as known; 1000 for a table that was never analyzed.
  [[nodiscard]] double expected_rows() const noexcept;
};
using TablePtr = CheckedShared<const Table>;

/// Opens the trees of `relation`. `runtime` may be null: a fresh one is made.
TablePtr open_table(Engine& engine, Relation relation, std::uint64_t version,
                    std::shared_ptr<TableRuntime> runtime);

/// Pages of a relation's tree that were read from the data file since pg_stat_reset(), and those
/// that were asked for and were in memory.
struct RelationPages {
  std::uint64_t read = 0;
  std::uint64_t hit = 0;
};
RelationPages pages_of(Engine& engine, const Table& table);
/// The index that orders the rows has none: it is the table.
RelationPages pages_of(Engine& engine, const IndexAccess& index);
/// Restarts the counters from zero; they belong to a relation with that tree.
void reset_counters(Engine& engine, TableCounters& counters, TreeId tree);

/// 'SELECT nextval': the position of a sequence, shared by all sessions.
struct SequenceState {
  std::int64_t last_value = 1;
  bool is_called = false;
};

}  // namespace swizzle::sql

#include "sql-lite-frontend/definitions/indexes/verify_entries.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "sql-lite-frontend/definitions/indexes/index_source.h"
#include "sql-lite-frontend/execution/rows/entry_sorter.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/held_view.h"

namespace swizzle::sql {
namespace {

/// Counts of differences between an index and the rows.
struct Differences {
  std::uint64_t surplus = 0;  ///< entries that are no row's
  std::uint64_t missing = 0;  ///< entries of rows that the index does not have
};

class EntryComparison {
 public:
  EntryComparison(StatementContext& session, const TablePtr& table, std::size_t index)
      : session_(session),
        table_(*table),
        number_(index),
        writing_(session, table),
        execution_(writing_.scratch->execution),
        writer_(*writing_.write) {}

  Differences run() {
    EntrySorter expected{session_.maintenance_space()};
    add_entries_of_rows(expected);
    expected.finish();
    Differences found;
    Cursor cursor = scan(*table_.indexes[number_].tree);
    std::optional<EntrySorter::Entry> wanted = expected.next();
    while (value_of(cursor.next())) {
      execution_.tick();
      const std::string_view key = as_text(cursor.key());
      for (; wanted && wanted->key < key; wanted = expected.next()) ++found.missing;
      const bool is_there =
          wanted && wanted->key == key && wanted->value == as_text(cursor.value());
      if (!is_there) {
        ++found.surplus;
        continue;
      }
      wanted = expected.next();
    }
    for (; wanted; wanted = expected.next()) ++found.missing;
    return found;
  }

 private:
  Cursor scan(Tree tree) {
    return value_of(tree.scan(*session_.transaction, {}, Direction::forward, ReadMode::snapshot,
                              WaitPolicy::wait, ScanHint::large));
  }

  void add_entries_of_rows(EntrySorter& to) {
    const ColumnPlaces places = places_of(table_, number_, *writing_.write);
    std::vector<Value> row(table_.relation.columns.size());
    Cursor cursor = scan(*table_.tree);
    RowScope scope{execution_};
    while (value_of(cursor.next())) {
      execution_.tick();
      read_columns(RowReader{table_.layout, cursor.value()}, places, row);
      add_entries_of(row, as_text(cursor.key()), to);
      scope.rewind();
    }
  }

  void add_entries_of(std::span<const Value> row, std::string_view row_key, EntrySorter& to) {
    if (table_.indexes[number_].is_inverted()) {
      for (const std::string_view key :
           writer_.stored_elements_of(execution_, number_, row, row_key)) {
        to.add(key, {});
      }
      return;
    }
    const RowWriter::Entry entry = writer_.stored_entry_of(execution_, number_, row, row_key);
    if (entry.present) to.add(entry.key, entry.value);
  }

  StatementContext& session_;
  const Table& table_;
  std::size_t number_;
  Writing writing_;
  Execution& execution_;
  const RowWriter writer_;
};

}  // namespace

std::vector<std::string> verify_entries(StatementContext& session, const TablePtr& table) {
  const AsOwner as_owner{session, table->relation.owner};
  const InnerStatement newest{*session.transaction};
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < table->indexes.size(); ++i) {
    const IndexAccess& access = table->indexes[i];
    if (!access.tree || !access.index->loses_entries()) continue;
    const Differences found = EntryComparison{session, table, i}.run();
    const std::uint64_t missing = access.index->is_valid() ? found.missing : 0;
    if (found.surplus == 0 && missing == 0) continue;
    lines.push_back(fmt::format(
        "index \"{}\" of table \"{}\": {} entries of no row, {} entries of rows are missing; "
        "please REINDEX it",
        access.index->name, table->relation.name, found.surplus, missing));
  }
  return lines;
}

}  // namespace swizzle::sql

// A row's entries in an inverted index: one for each element of its values.
#include <algorithm>

#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/execution/rows/row_key_stream.h"
#include "sql-lite-frontend/execution/write/row_writer.h"
#include "sql-lite-frontend/types/inverted/elements.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

RowWriter::EntryKeys RowWriter::element_entries_of(Execution& execution, std::size_t number,
                                                   std::span<const Value> row,
                                                   std::string_view row_key) const {
  Arena& arena = execution.row_arena;
  EntryKeys keys{CountedAllocator<std::string_view>{arena.account()}};
  if (!is_in_index(execution, number, row)) return keys;
  const IndexAccess& access = table_.indexes[number];
  for (std::size_t i = 0; i < access.index->columns.size(); ++i) {
    const Value value = value_in_index(execution, number, i, row);
    if (value.is_null()) continue;
    for (const std::string_view element : elements_of(access.classes[i], value, arena)) {
      std::string key(1, column_byte(i));
      key += element;
      key += row_key;
      require_key_fits(key.size(), *access.index);
      keys.push_back(arena.copy(key));
    }
  }
  return keys;
}

void RowWriter::insert_element(Execution& execution, std::size_t index, std::string_view key) {
  if (load_ != nullptr && load_->add_entry(index, key, {})) return;
  if (EntryBatch* const batch = batch_of(*execution.transaction, index)) return batch->insert(key);
  note_entry(index);
  Tree tree = entries_of(*execution.transaction, index);
  if (value_of(tree.insert(*execution.transaction, as_bytes(key), {}))) return;
  throw SqlError{SqlState{"XX002"}, "an index has an entry already that is to be inserted"};
}

void RowWriter::remove_element(Execution& execution, std::size_t index, std::string_view key) {
  if (EntryBatch* const batch = batch_of(*execution.transaction, index)) return batch->remove(key);
  note_entry(index);
  Tree tree = entries_of(*execution.transaction, index);
  const Index& definition = *table_.indexes[index].index;
  if (!value_of(tree.remove(*execution.transaction, as_bytes(key))) && definition.is_valid()) {
    fail_missing_entry(definition);
  }
}

void RowWriter::insert_elements(Execution& execution, std::size_t index, std::span<const Value> row,
                                std::string_view row_key) {
  RowScope scope{execution};
  for (const std::string_view key : element_entries_of(execution, index, row, row_key)) {
    insert_element(execution, index, key);
  }
}

/// Updates the entries of a row; elements in both versions of the row are left alone.
void RowWriter::move_elements(Execution& execution, std::size_t index,
                              std::span<const Value> old_row, std::span<const Value> new_row,
                              std::string_view old_key, std::string_view new_key) {
  RowScope scope{execution};
  const EntryKeys before = stored_elements_of(execution, index, old_row, old_key);
  const EntryKeys after =
      table_.indexes[index].takes_entries()
          ? element_entries_of(execution, index, new_row, new_key)
          : EntryKeys{CountedAllocator<std::string_view>{execution.row_arena.account()}};
  for (const std::string_view key : before) {
    if (!std::ranges::binary_search(after, key)) remove_element(execution, index, key);
  }
  for (const std::string_view key : after) {
    if (!std::ranges::binary_search(before, key)) insert_element(execution, index, key);
  }
}

void RowWriter::remove_elements(Execution& execution, std::size_t index,
                                std::span<const Value> old_row, std::string_view row_key) {
  RowScope scope{execution};
  for (const std::string_view key : stored_elements_of(execution, index, old_row, row_key)) {
    remove_element(execution, index, key);
  }
}

}  // namespace swizzle::sql

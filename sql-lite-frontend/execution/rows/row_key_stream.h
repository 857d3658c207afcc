#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/inverted/element_query.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Keys of rows that an inverted index has found, ascending and each once.
class RowKeyStream {
 public:
  RowKeyStream() = default;
  RowKeyStream(const RowKeyStream&) = delete;
  RowKeyStream& operator=(const RowKeyStream&) = delete;
  virtual ~RowKeyStream() = default;

  /// Moves to the next key; false at the end, where nothing more may be asked.
  virtual bool next(Execution& execution) = 0;
  /// Moves to the first key that is not below `key`, or returns false; does not go back. Pre:
  /// next() was called.
  virtual bool seek(Execution& execution, std::string_view key) = 0;
  /// Present key; valid until it moves.
  [[nodiscard]] virtual std::string_view key() const noexcept = 0;
};
using RowKeyStreamPtr = std::unique_ptr<RowKeyStream>;

/// Entries of an inverted index: the number of the column, one byte; an element; the row's key.
struct ElementEntries {
  const Tree* tree;  ///< outlives the streams
  WaitPolicy wait = WaitPolicy::wait;
  double rows = 0;  ///< of the table, about
};
/// Returns the first byte of the entries of a column.
inline char column_byte(std::size_t column) noexcept {
  return static_cast<char>(column);
}

/// A query about the entries of one column. It outlives the streams made of it.
struct ColumnQuery {
  std::size_t column;
  const ElementQuery* query;
};
/// Rows that all of the queries are about, perhaps with others; null: everything.
RowKeyStreamPtr row_keys_of(const ElementEntries& entries, std::span<const ColumnQuery> queries,
                            Execution& execution);

}  // namespace swizzle::sql

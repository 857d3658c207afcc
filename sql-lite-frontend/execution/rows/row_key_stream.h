#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/query/bound/execution.h"
#include "sql-lite-frontend/types/inverted/element_query.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// Keys of the rows that an inverted index has found, ascending, without duplicates.
class RowKeyStream {
 public:
  RowKeyStream() = default;
  RowKeyStream(const RowKeyStream&) = delete;
  RowKeyStream& operator=(const RowKeyStream&) = delete;
  virtual ~RowKeyStream() = default;

  /// Moves to the next key. Returns false at the end; no member may be called afterwards.
  virtual bool next(Execution& execution) = 0;
  /// Moves forward to the first key >= `key`; returns false if there is none. Never moves backward.
  /// Pre: next() was called.
  virtual bool seek(Execution& execution, std::string_view key) = 0;
  /// Current key; valid until the stream moves.
  [[nodiscard]] virtual std::string_view key() const noexcept = 0;
};
using RowKeyStreamPtr = std::unique_ptr<RowKeyStream>;

/// Entries of an inverted index: column number (one byte), element, key of the row.
struct ElementEntries {
  const Tree* tree;  ///< outlives the streams
  WaitPolicy wait = WaitPolicy::wait;
  double rows = 0;  ///< of the table, about
};
/// Returns the first byte of the entries of a column.
inline char column_byte(std::size_t column) noexcept {
  return static_cast<char>(column);
}

/// Query on the entries of one column. Outlives the streams made from it.
struct ColumnQuery {
  std::size_t column;
  const ElementQuery* query;
};
/// Returns the keys of rows that match all queries, perhaps with others; null: all rows may match.
RowKeyStreamPtr row_keys_of(const ElementEntries& entries, std::span<const ColumnQuery> queries,
                            Execution& execution);

}  // namespace swizzle::sql

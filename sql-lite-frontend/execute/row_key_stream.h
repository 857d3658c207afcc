#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/bound/execution.h"
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

  /// To the next key; false at the end, where nothing more may be asked.
  virtual bool next(Execution& execution) = 0;
  /// To the first key that is not below `key`, or false; does not go back. Pre: next() was called.
  virtual bool seek(Execution& execution, std::string_view key) = 0;
  /// Where it stands; valid until it moves.
  [[nodiscard]] virtual std::string_view key() const noexcept = 0;
};
using RowKeyStreamPtr = std::unique_ptr<RowKeyStream>;

/// Entries of an inverted index: the number of the column, one byte; an element; the row's key.
struct ElementEntries {
  const Tree* tree;  ///< outlives the streams
  WaitPolicy wait = WaitPolicy::wait;
};
/// What the entries of a column begin with.
inline char column_byte(std::size_t column) noexcept {
  return static_cast<char>(column);
}

/// What `query` is about, by the entries of a column; null: everything. What the query refers to
/// outlives the stream.
RowKeyStreamPtr row_keys_of(const ElementEntries& entries, std::size_t column,
                            const ElementQuery& query, const Execution& execution);
/// Those that all of the streams have. Pre: there is one.
RowKeyStreamPtr common_row_keys(std::vector<RowKeyStreamPtr> parts);

}  // namespace swizzle::sql

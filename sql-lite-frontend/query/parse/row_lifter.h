#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/memory_account.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

/// INSERT of rows of literals, split without the parser: the statement for one row, and each row's
/// values for its parameters. Inserts that differ only in their rows, or in the number of rows,
/// share one plan.
struct LiftedRows {
  struct Literal {
    /// Text as written; of a string the part between its quotes.
    std::string_view text;
    /// int4, int8, numeric, bool; unknown is a string.
    TypeId type = TypeId::unknown;
    bool is_null = false;
    bool has_quotes = false;  ///< doubled ones
  };

  explicit LiftedRows(MemoryAccount* account) : literals(CountedAllocator<Literal>{account}) {}

  /// Text with $1, $2 … for the row.
  std::string shape;
  std::vector<TypeId> types;        ///< of the parameters: what all rows have in common
  CountedVector<Literal> literals;  ///< row by row; they refer to the text
};

/// Returns nothing unless the text is "INSERT INTO … VALUES (literal, …), (literal, …) …" with two
/// rows or more, perhaps followed by RETURNING or ON CONFLICT. Literals are NULL, true, false,
/// numbers and plain strings; those of a column have one kind.
std::optional<LiftedRows> lift_rows(std::string_view text, MemoryAccount* account);

}  // namespace swizzle::sql

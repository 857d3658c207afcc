#pragma once

#include <string>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

enum class SortDirection : std::uint8_t { ascending, descending };
/// `absent` says that the column is NOT NULL: its keys carry no marker byte.
enum class NullsOrder : std::uint8_t { first, last, absent };

/// Order of one column of an index.
struct KeyColumn {
  TypeId type = TypeId::none;
  SortDirection direction = SortDirection::ascending;
  NullsOrder nulls = NullsOrder::last;
};

/// Index keys are byte strings that memcmp orders as SQL orders the columns. Each column's bytes
/// are prefix-free, so keys of several columns are their concatenation, and a key of the first
/// columns is a prefix of all keys that continue it.
///
/// Appends one column's bytes. Equal values give equal bytes (1.0 and 1.00, -0.0 and 0.0, bpchar
/// with and without trailing blanks).
void append_key(std::string& key, const KeyColumn& column, const Value& value);

/// True if `type` has a key encoding.
bool is_indexable(TypeId type) noexcept;

/// True if decoding returns exactly the encoded value. False if equal values may differ in print:
/// numeric and jsonb (scales are lost), bpchar (blanks are lost), floats (-0 becomes 0), arrays,
/// interval. An index-only read of such a column needs the value from elsewhere.
bool key_keeps_value(TypeId type) noexcept;

/// Takes one column off the front of `key`. The bytes of the result live in `arena`, or in the
/// key itself where they stand there as they are. Throws SqlError (XX002) on malformed bytes.
Value take_key(Bytes& key, const KeyColumn& column, Arena& arena);

/// Skips one column.
void skip_key(Bytes& key, const KeyColumn& column);

/// The smallest key above all keys that start with `key`: turns a prefix into an exclusive upper
/// bound. Empty when there is none (all bytes 0xff), which no column encoding produces.
std::string key_successor(std::string_view key);

}  // namespace swizzle::sql

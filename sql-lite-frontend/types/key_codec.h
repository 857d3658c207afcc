#pragma once

#include <string>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

enum class SortDirection : std::uint8_t { ascending, descending };
/// `absent`: the column is NOT NULL, so its keys have no marker byte.
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

/// True if decoding returns exactly the encoded value. False if equal values may print differently:
/// numeric and jsonb (scale is lost), bpchar (blanks are lost), floats (-0 becomes 0), arrays,
/// interval. An index-only scan must get such a column's value from elsewhere.
bool key_keeps_value(TypeId type) noexcept;

/// Decodes one column and removes it from the front of `key`. The result's bytes are in `arena`, or
/// in the key itself if they are stored verbatim. Throws SqlError (XX002) if the bytes are
/// malformed.
Value take_key(Bytes& key, const KeyColumn& column, Arena& arena);

/// Removes one column from the front of `key`.
void skip_key(Bytes& key, const KeyColumn& column);

/// Returns the smallest key greater than all keys with the prefix `key`: an exclusive upper bound.
/// Empty if there is none (all bytes 0xff), which no column encoding produces.
std::string key_successor(std::string_view key);

}  // namespace swizzle::sql

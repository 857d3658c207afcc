#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "sql-lite-frontend/catalog/objects.h"

/// A change of a published table as the log has it (docs/log-format.md).
namespace swizzle::sql {

enum class ChangeKind : char {
  insert = 'i',
  update = 'u',
  remove = 'd',
  truncate = 't',
  message = 'm',  ///< pg_logical_emit_message
  origin = 'o',   ///< comes before the changes of a transaction that a subscription applies
};

/// Part of the old row that the change carries.
enum class OldRow : char {
  none = 0,
  key = 'K',    ///< the columns of its identity alone
  whole = 'O',  ///< all columns
};

struct PublishedChange {
  ChangeKind kind = ChangeKind::insert;
  /// Database of the change, because one log serves all databases. Absent in changes logged by
  /// older servers.
  Oid database = kNoOid;
  std::uint32_t shape = 0;
  OldRow old_row = OldRow::none;
  Bytes before = {};  ///< rows in the shape's layout
  Bytes after = {};
  // Of TRUNCATE, which is of several tables at once.
  std::vector<std::uint32_t> truncated = {};
  bool cascades = false;
  bool restarts_sequences = false;
  // Of a message.
  bool is_transactional = false;  ///< part of its transaction; else delivered at once
  /// Of an origin, too: its name.
  std::string_view prefix = {};
  Bytes content = {};
  /// Of an origin: the commit there.
  Lsn commit_there = Lsn::none;
};

/// The part of a row's change before its rows.
inline constexpr std::size_t kChangeHeadBytes = 14;
void encode_change_head(const PublishedChange& change, std::byte* head) noexcept;
std::string encode_truncate(const PublishedChange& change);
std::string encode_message(const PublishedChange& change);
std::string encode_origin(const PublishedChange& change);
/// The result refers to `body`. Throws SqlError XX001 if it is malformed.
PublishedChange decode_change(Bytes body);

}  // namespace swizzle::sql

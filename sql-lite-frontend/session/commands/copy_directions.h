#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/encodings/encoding_table.h"
#include "sql-lite-frontend/session/commands/copy_format.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// Beginning of COPY's binary format.
inline constexpr std::string_view kCopySignature{"PGCOPY\n\377\r\n\0", 11};

/// Returns the encoding of the data of COPY in text or CSV; null is UTF-8.
const EncodingTable* encoding_of_data(Session::State& session, const CopyOptions& options,
                                      CopyDirection direction);

/// COPY … FROM: writes rows into these columns of a table, those that meet the WHERE of `copy`.
/// Returns their number.
std::uint64_t copy_in(Session::State& session, const TablePtr& table,
                      std::vector<std::size_t> columns, CopyOptions options,
                      const ast::CopyStmt& copy, ResultSink& sink);

/// COPY … TO: writes a query's rows; returns their number. `relation` is the copied table, kNoOid
/// if it is a query.
std::uint64_t copy_out(Session::State& session, const ast::CopyStmt& copy,
                       const StatementPtr& query, Oid relation, const CopyOptions& options,
                       ResultSink& sink);

}  // namespace swizzle::sql

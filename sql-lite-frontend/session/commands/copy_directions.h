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

/// COPY … FROM STDIN: writes rows from the client into these columns of a table, those that meet
/// `where` unless it is null. Returns their number.
std::uint64_t copy_in(Session::State& session, const TablePtr& table,
                      std::vector<std::size_t> columns, CopyOptions options, const ast::Node* where,
                      ResultSink& sink);

/// COPY … TO STDOUT: sends a query's rows to the client; returns their number. `relation` is the
/// copied table, kNoOid if it is a query.
std::uint64_t copy_out(Session::State& session, const StatementPtr& query, Oid relation,
                       const CopyOptions& options, ResultSink& sink);

}  // namespace swizzle::sql

#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// Time of delivery to logical decoding: with the transaction's commit, or at once, even if the
/// transaction rolls back; `at_once_durable` returns when the message is durable.
enum class MessageTold : std::uint8_t { at_commit, at_once, at_once_durable };

/// pg_logical_emit_message: logs a message for logical decoding. Returns the LSN of the end of its
/// record. Has no effect unless wal_level is logical.
Lsn log_message(StatementServices& services, MessageTold told, std::string_view prefix,
                Bytes content);

}  // namespace swizzle::sql

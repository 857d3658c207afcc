#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "sql-lite-frontend/query/bound/statement_services.h"

namespace swizzle::sql {

/// Delivery to readers of the log: with the transaction that writes the message, and only if that
/// commits, or at once.
enum class MessageTold : std::uint8_t { at_commit, at_once };

/// pg_logical_emit_message: writes a message for readers of the log. Returns the end of its record.
/// Where wal_level is not logical, the message is not delivered.
Lsn log_message(StatementServices& services, MessageTold told, std::string_view prefix,
                Bytes content);

}  // namespace swizzle::sql

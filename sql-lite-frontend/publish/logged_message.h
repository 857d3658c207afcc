#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "sql-lite-frontend/bound/session_services.h"

namespace swizzle::sql {

/// Whether who reads the log is told of it with the transaction that says it, and only if that
/// commits, or at once.
enum class MessageTold : std::uint8_t { at_commit, at_once };

/// pg_logical_emit_message: something that readers of the log are told beside changes. Returns the
/// log's end behind it. Where wal_level is not logical nobody is told.
Lsn log_message(Session::State& session, MessageTold told, std::string_view prefix, Bytes content);

}  // namespace swizzle::sql

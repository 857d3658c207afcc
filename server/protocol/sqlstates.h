#pragma once

#include "base/sqlstate.h"

namespace swizzle::server {

/// The codes of errors on the wire and at login. The others come with the Error.
namespace state {
inline constexpr SqlState protocol_violation{"08P01"};
inline constexpr SqlState connection_failure{"08006"};
inline constexpr SqlState invalid_sql_statement_name{"26000"};
inline constexpr SqlState invalid_cursor_name{"34000"};
inline constexpr SqlState invalid_authorization{"28000"};
inline constexpr SqlState invalid_password{"28P01"};
inline constexpr SqlState character_not_in_repertoire{"22021"};
inline constexpr SqlState in_failed_transaction{"25P02"};
inline constexpr SqlState idle_in_transaction_timeout{"25P03"};
inline constexpr SqlState transaction_timeout{"25P04"};
inline constexpr SqlState configuration_limit_exceeded{"53400"};
inline constexpr SqlState idle_session_timeout{"57P05"};
inline constexpr SqlState too_many_connections{"53300"};
inline constexpr SqlState cannot_connect_now{"57P03"};
inline constexpr SqlState crash_shutdown{"57P02"};
}  // namespace state

}  // namespace swizzle::server

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql {

/// Values of a session, for pg_stat_activity and pg_stat_get_activity(). Those that the user may
/// not see are NULL.
struct ActivityValues {
  Value database;
  Value database_name;
  Value pid;
  Value user;
  Value user_name;
  Value application;
  Value client_address;
  Value client_port;
  Value connected_at;
  Value transaction_start;
  Value query_start;
  Value state_change;
  Value wait_event_type;
  Value wait_event;
  Value state;
  Value transaction;
  Value oldest_unseen;
  Value query;
  Value kind;
  Value is_encrypted;
  Value encryption_version;
  Value cipher;
  Value cipher_bits;
};

/// Returns the sessions' values; with `only`, of that session alone.
std::vector<ActivityValues> activity_values(FunctionContext& context,
                                            std::optional<std::int32_t> only);

}  // namespace swizzle::sql

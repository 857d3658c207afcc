#pragma once

#include <span>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// Returns pg_notify and pg_notification_queue_usage.
std::span<const SessionEntry> notification_functions();
/// Registers pg_listening_channels(). Called before functions are first looked up; idempotent.
void add_notification_sets();

}  // namespace swizzle::sql

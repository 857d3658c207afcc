#pragma once

#include <span>

#include "sql-lite-frontend/query/bound/expression.h"

namespace swizzle::sql {

/// pg_notify and pg_notification_queue_usage.
std::span<const SessionEntry> notification_functions();
/// Makes pg_listening_channels() known. Before the first look at the functions; again is harmless.
void add_notification_sets();

}  // namespace swizzle::sql

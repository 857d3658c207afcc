#pragma once

#include "sql-lite-frontend/session/shared/log_senders.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {

/// Waits until the followers that the rule asks for have every commit that is durable here now.
/// Pre: the caller's has ended, durably.
inline LogSenders::Waited await_durable_there(LogSenders& senders, LogicalLog& log,
                                              LogSenders::Level level,
                                              const LogSenders::Waits& who) {
  // The durable end may lie a little behind the commit; that part is sent with it anyway.
  const Lsn end = log.durable();
  if (level == LogSenders::Level::replayed) log.end_with_mark(end);
  return senders.await(end, level, who);
}

}  // namespace swizzle::sql

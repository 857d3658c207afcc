#include <algorithm>
#include <chrono>
#include <set>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/session/functions/lock_waits.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

AdvisoryKey key_of(Execution& execution, Arguments arguments) {
  AdvisoryKey key;
  key.database = session_of(execution).catalog.of_database().database();
  if (arguments.size() == 1) {
    key.number = static_cast<std::uint64_t>(arguments[0].as_int8());
  } else {
    key.is_pair = true;
    key.number = std::uint64_t{static_cast<std::uint32_t>(arguments[0].as_int4())} << 32U |
                 static_cast<std::uint32_t>(arguments[1].as_int4());
  }
  return key;
}

/// A session's own wait for an advisory lock, which ends with the call.
class Waiting {
 public:
  Waiting(AdvisoryLocks& locks, std::int32_t session) : locks_(locks), session_(session) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { locks_.stop_waiting(session_); }

 private:
  AdvisoryLocks& locks_;
  std::int32_t session_;
};

template <AdvisoryMode mode, AdvisoryScope scope>
Value try_lock(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  session.advisory_locks_used = true;
  return Value::from_bool(session.shared.advisory_locks.try_lock(
      session.options.backend_pid, key_of(execution, arguments), mode, scope));
}

/// Returns a value of type void, which is not NULL.
Value done() {
  return Value::from_text({});
}

/// Searches for cycles of waits that include other locks: rows, relations. The lock manager does
/// not know advisory locks, so each session that waits for one searches from time to time.
class MixedDeadlocks {
 public:
  explicit MixedDeadlocks(Session::State& session)
      : session_(session), next_(Runtime::current().now() + first_look(session)) {}

  /// True if the session's wait is part of a cycle that has been seen twice.
  [[nodiscard]] bool is_found() {
    const TimePoint now = Runtime::current().now();
    if (now < next_) return false;
    const bool was_there = is_there_;
    is_there_ = is_there();
    next_ = now + (is_there_ ? kSecondLook : kNextLook);
    return was_there && is_there_;
  }

 private:
  static constexpr Duration kSecondLook = std::chrono::milliseconds{10};
  static constexpr Duration kNextLook = std::chrono::milliseconds{500};
  static Duration first_look(const Session::State& session) {
    return std::max<Duration>(
        kSecondLook, std::chrono::milliseconds{session.settings.integer("deadlock_timeout")});
  }
  [[nodiscard]] bool is_there() const {
    const AdvisoryLocks& locks = session_.shared.advisory_locks;
    const std::int32_t self = session_.options.backend_pid;
    const std::set<std::int32_t> waiting = sessions_waiting_for_locks(session_);
    if (waiting.empty()) return false;
    const std::set<std::int32_t> reached = locks.reached_from(self);
    if (std::ranges::none_of(reached, [&](std::int32_t pid) { return waiting.contains(pid); }))
      return false;
    return locks.closes_cycle(self, waits_for_locks(session_));
  }

  Session::State& session_;
  TimePoint next_;
  bool is_there_ = false;
};

void wait_for_lock(Session::State& session, const AdvisoryKey& key, AdvisoryMode mode,
                   AdvisoryScope scope) {
  AdvisoryLocks& locks = session.shared.advisory_locks;
  const std::int32_t self = session.options.backend_pid;
  Runtime& runtime = Runtime::current();
  const std::int64_t limit = session.settings.integer("lock_timeout");
  const TimePoint began = runtime.now();
  const Waiting waiting{locks, self};
  MixedDeadlocks deadlocks{session};
  if (!locks.wait_for(self, key, mode)) {
    throw SqlError{sqlstate::deadlock_detected, "deadlock detected"};
  }
  // Polls from time to time: these locks are held for long and seldom waited for, so they are kept
  // apart from row locks, whose waits are many and short.
  while (!locks.try_lock(self, key, mode, scope)) {
    session.check_cancelled();
    if (limit > 0 && runtime.now() - began > std::chrono::milliseconds{limit}) {
      throw SqlError{sqlstate::lock_not_available, "canceling statement due to lock timeout"};
    }
    if (deadlocks.is_found()) throw SqlError{sqlstate::deadlock_detected, "deadlock detected"};
    runtime.sleep_until(runtime.now() + std::chrono::milliseconds{2});
  }
}

template <AdvisoryMode mode, AdvisoryScope scope>
Value lock(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  const AdvisoryKey key = key_of(execution, arguments);
  session.advisory_locks_used = true;
  if (!session.shared.advisory_locks.try_lock(session.options.backend_pid, key, mode, scope))
    wait_for_lock(session, key, mode, scope);
  return done();
}

template <AdvisoryMode mode>
Value unlock(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  if (session.shared.advisory_locks.unlock(session.options.backend_pid,
                                           key_of(execution, arguments), mode)) {
    return Value::from_bool(true);
  }
  if (session.sink_for_notices != nullptr) {
    session.notice(*session.sink_for_notices, Severity::warning, SqlState{"01000"},
                   mode == AdvisoryMode::shared ? "you don't own a lock of type ShareLock"
                                                : "you don't own a lock of type ExclusiveLock");
  }
  return Value::from_bool(false);
}

Value unlock_all(Execution& execution, Arguments) {
  Session::State& session = session_of(execution);
  session.shared.advisory_locks.unlock_all(session.options.backend_pid, AdvisoryScope::session);
  return done();
}

}  // namespace

std::span<const SessionEntry> advisory_functions() {
  using enum AdvisoryMode;
  using enum AdvisoryScope;
  static constexpr SessionEntry kFunctions[] = {
      {"pg_advisory_lock", lock<exclusive, session>},
      {"pg_advisory_lock_shared", lock<shared, session>},
      {"pg_advisory_xact_lock", lock<exclusive, transaction>},
      {"pg_advisory_xact_lock_shared", lock<shared, transaction>},
      {"pg_try_advisory_lock", try_lock<exclusive, session>},
      {"pg_try_advisory_lock_shared", try_lock<shared, session>},
      {"pg_try_advisory_xact_lock", try_lock<exclusive, transaction>},
      {"pg_try_advisory_xact_lock_shared", try_lock<shared, transaction>},
      {"pg_advisory_unlock", unlock<exclusive>},
      {"pg_advisory_unlock_shared", unlock<shared>},
      {"pg_advisory_unlock_all", unlock_all},
  };
  return kFunctions;
}

}  // namespace swizzle::sql

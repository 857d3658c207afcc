#include <chrono>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

AdvisoryKey key_of(Execution& execution, Arguments arguments) {
  AdvisoryKey key;
  key.database = session_of(execution).catalog.shared().database();
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

/// Of type void, which is not NULL.
Value done() {
  return Value::from_text({});
}

template <AdvisoryMode mode, AdvisoryScope scope>
Value lock(Execution& execution, Arguments arguments) {
  Session::State& session = session_of(execution);
  AdvisoryLocks& locks = session.shared.advisory_locks;
  const std::int32_t self = session.options.backend_pid;
  const AdvisoryKey key = key_of(execution, arguments);
  session.advisory_locks_used = true;
  if (locks.try_lock(self, key, mode, scope)) return done();

  Runtime& runtime = Runtime::current();
  const std::int64_t limit = session.settings.integer("lock_timeout");
  const TimePoint began = runtime.now();
  const Waiting waiting{locks, self};
  if (!locks.wait_for(self, key, mode)) {
    throw SqlError{sqlstate::deadlock_detected, "deadlock detected"};
  }
  // These locks are held for long and waited for seldom: looking again from time to time keeps
  // them apart from the locks of rows, whose waits are many and short.
  while (!locks.try_lock(self, key, mode, scope)) {
    session.check_cancelled();
    if (limit > 0 && runtime.now() - began > std::chrono::milliseconds{limit}) {
      throw SqlError{sqlstate::lock_not_available, "canceling statement due to lock timeout"};
    }
    runtime.sleep_until(runtime.now() + std::chrono::milliseconds{2});
  }
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

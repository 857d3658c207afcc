#include "sql-lite-frontend/session/views/activity_values.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/runtime/runtime.h"
#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "storage/statistics.h"

namespace swizzle::sql {
namespace {

std::string_view name_of_state(Activity::State state) {
  switch (state) {
    case Activity::State::idle:
      return "idle";
    case Activity::State::active:
      return "active";
    case Activity::State::idle_in_transaction:
      return "idle in transaction";
    case Activity::State::idle_in_failed:
      return "idle in transaction (aborted)";
  }
  return {};
}

/// Numbers of the sessions' open transactions.
struct TransactionIds {
  TxnId own = TxnId::none;
  /// The oldest transaction that its snapshot does not show; as in PostgreSQL, possibly its own.
  TxnId oldest_unseen = TxnId::none;
};

std::map<std::int32_t, TransactionIds> transaction_ids(const Engine& engine) {
  std::map<std::int32_t, TransactionIds> of;
  for (const WritingTransaction& writer : engine.writers()) of[writer.label].own = writer.id;
  for (const HeldSnapshot& held : engine.snapshots()) {
    TransactionIds& ids = of[held.label];
    ids.oldest_unseen = ids.own == TxnId::none ? held.next_id : std::min(ids.own, held.next_id);
  }
  return of;
}

/// Returns PostgreSQL's name of the wait for such a lock. There, a wait for a row is a wait for the
/// end of the transaction that has changed it.
std::string_view wait_event_of(lock::LockRow::Kind kind) {
  using Kind = lock::LockRow::Kind;
  switch (kind) {
    case Kind::key:
    case Kind::transaction:
      return "transactionid";
    case Kind::table:
    case Kind::relation:
    case Kind::relation_rows:
      return "relation";
    case Kind::relation_holders:
      return "virtualxid";
    case Kind::database:
      break;
  }
  return "object";
}

struct Wait {
  std::string_view type;
  std::string_view event;
};

/// Returns the sessions' waits for locks and for standbys.
std::map<std::int32_t, Wait> waits_of_sessions(Database::Shared& shared) {
  std::map<std::int32_t, Wait> events;
  for (const lock::LockRow& row : shared.engine.lock_waits())
    events.emplace(row.label, Wait{"Lock", wait_event_of(row.kind)});
  for (const AdvisoryLocks::Held& wanted : shared.advisory_locks.waited_for())
    events.emplace(wanted.session, Wait{"Lock", "advisory"});
  for (const std::int32_t pid : shared.log_senders.waiting())
    events.emplace(pid, Wait{"IPC", "SyncRep"});
  return events;
}

std::int64_t microseconds_of(TimePoint at) {
  return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
}

/// Converts times of the steady clock to the wall clock. A session that waits for its client has
/// recorded the time by the steady clock, which it had read anyway. A time is always converted to
/// the same wall clock time, unless the wall clock is set.
class WallTimes {
 public:
  [[nodiscard]] std::int64_t of(TimePoint at) {
    constexpr std::int64_t kSet = 20'000;
    const std::int64_t now = distance();
    std::int64_t known = distance_.load(std::memory_order_relaxed);
    if (std::abs(known - now) > kSet) distance_.store(known = now, std::memory_order_relaxed);
    return microseconds_of(at) + known;
  }

 private:
  /// Returns the distance from one clock to the other; reads again if the thread was interrupted
  /// between them.
  static std::int64_t distance() {
    constexpr int kTries = 5;
    constexpr std::int64_t kAtOnce = 20;
    std::int64_t distance = 0;
    for (int i = 0; i < kTries; ++i) {
      const std::int64_t before = microseconds_of(Runtime::current().now());
      distance = SessionContext::system_clock_now() - before;
      if (microseconds_of(Runtime::current().now()) - before <= kAtOnce) break;
    }
    return distance;
  }

  std::atomic<std::int64_t> distance_{0};
};

/// Returns the time since which the session is in its state.
std::int64_t state_change_of(const Activity& activity, Activity::State state,
                             const SessionUsage& usage) {
  static WallTimes wall_times;
  const std::int64_t began = activity.state_change.load(std::memory_order_relaxed);
  const auto rests_since = usage.rests_since();
  if (state == Activity::State::active || !rests_since) return began;
  return std::max(began, wall_times.of(*rests_since));
}

/// pg_stat_activity.backend_type.
std::string_view kind_of(const SessionOptions& options) {
  if (options.is_replication) return "walsender";
  // Of the server's own sessions, only workers of subscriptions have a number.
  const bool is_worker = options.is_maintenance && options.backend_pid != 0;
  return is_worker ? "logical replication apply worker" : "client backend";
}

}  // namespace

std::vector<ActivityValues> activity_values(FunctionContext& context,
                                            std::optional<std::int32_t> only) {
  struct Seen {
    std::int32_t pid;
    Oid user;
    std::string user_name;
    std::string database;
    std::string application;
    std::string query;
    std::optional<Endpoint> client;
    std::int64_t connected_at;
    std::int64_t transaction_start;
    std::int64_t query_start;
    std::int64_t state_change;
    Activity::State state;
    std::string_view kind;
    std::optional<Encryption> encryption;
  };
  std::vector<Seen> sessions;
  {
    Database::Shared& shared = session_of(context).shared;
    const std::lock_guard lock{shared.sessions_mutex};
    for (const auto& [pid, session] : shared.sessions) {
      if (only && *only != pid) continue;
      // May read only members that are constant while the session lives, or published.
      Session::State& state = session->state();
      const Activity& activity = state.activity;
      const Activity::State doing = activity.state.load(std::memory_order_relaxed);
      sessions.push_back({pid, state.login, state.options.user, state.options.database,
                          activity.application.load(), activity.query.load(), state.options.client,
                          activity.connected_at,
                          activity.transaction_start.load(std::memory_order_relaxed),
                          activity.query_start.load(std::memory_order_relaxed),
                          state_change_of(activity, doing, state.usage), doing,
                          kind_of(state.options), state.options.encryption});
    }
  }
  const std::map<std::int32_t, TransactionIds> transactions =
      transaction_ids(session_of(context).shared.engine);
  const std::map<std::int32_t, Wait> waits = waits_of_sessions(session_of(context).shared);
  std::vector<ActivityValues> rows;
  const auto address = [&context](const std::optional<Endpoint>& end) {
    return end ? input_text(context, TypeId::inet, kNoTypmod, end->address) : Value::null();
  };
  for (const Seen& seen : sessions) {
    const RolePtr role = session_of(context).catalog.role(seen.user);
    const DatabasePtr database = session_of(context).catalog.database(seen.database);
    // A session's activity is shown only to its role and to pg_read_all_stats.
    const bool shown = session_of(context).rights.owns(kReadAllStatsRole) ||
                       (role && session_of(context).rights.owns(role->oid));
    const auto unless_hidden = [&](const Value& value) { return shown ? value : Value::null(); };
    const auto moment = [&](std::int64_t at) {
      return at == 0 ? Value::null() : unless_hidden(Value::from_int(at));
    };
    const auto ids = transactions.find(seen.pid);
    const auto number = [&](TxnId TransactionIds::* which) {
      const TxnId id = ids == transactions.end() ? TxnId::none : ids->second.*which;
      return id == TxnId::none ? Value::null()
                               : unless_hidden(Value::from_int(static_cast<std::int64_t>(raw(id))));
    };
    const auto wait = waits.find(seen.pid);
    Wait on = wait != waits.end() ? wait->second : Wait{};
    if (seen.state != Activity::State::active) on = {"Client", "ClientRead"};
    const auto unless_none = [&](std::string_view text) {
      return text.empty() ? Value::null() : unless_hidden(make_text(context.arena, text));
    };
    ActivityValues row;
    row.database = Value::from_oid(database ? database->oid : kNoOid);
    row.database_name = make_text(context.arena, seen.database);
    row.pid = Value::from_int(seen.pid);
    row.user = Value::from_oid(seen.user);
    row.user_name = make_text(context.arena, role ? role->name : seen.user_name);
    row.application = make_text(context.arena, seen.application);
    row.client_address = unless_hidden(address(seen.client));
    row.client_port = unless_hidden(Value::from_int(seen.client ? seen.client->port : -1));
    row.connected_at = moment(seen.connected_at);
    row.transaction_start = moment(seen.transaction_start);
    row.query_start = moment(seen.query_start);
    row.state_change = moment(seen.state_change);
    row.wait_event_type = unless_none(on.type);
    row.wait_event = unless_none(on.event);
    row.state = unless_hidden(make_text(context.arena, name_of_state(seen.state)));
    row.transaction = number(&TransactionIds::own);
    row.oldest_unseen = number(&TransactionIds::oldest_unseen);
    row.query = make_text(context.arena, shown ? seen.query : "<insufficient privilege>");
    row.kind = unless_hidden(make_text(context.arena, seen.kind));
    row.is_encrypted = unless_hidden(Value::from_bool(seen.encryption.has_value()));
    if (shown && seen.encryption) {
      row.encryption_version = make_text(context.arena, seen.encryption->version);
      row.cipher = make_text(context.arena, seen.encryption->cipher);
      row.cipher_bits = Value::from_int(seen.encryption->bits);
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace swizzle::sql

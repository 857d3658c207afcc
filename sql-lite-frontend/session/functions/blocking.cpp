// Sessions that block others: pg_blocking_pids.
#include <algorithm>
#include <set>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/session/functions/lock_waits.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/array/array.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using lock::LockRow;

/// A wait for the holders of a relation is about their locks on it.
LockRow::Kind kind_of_thing(const LockRow& row) {
  return row.kind == LockRow::Kind::relation_holders ? LockRow::Kind::relation : row.kind;
}

bool same_thing(const LockRow& one, const LockRow& other) {
  return kind_of_thing(one) == kind_of_thing(other) && one.tree == other.tree &&
         one.hash == other.hash && one.relation == other.relation;
}

bool excludes(const LockRow& one, const LockRow& other) {
  return one.kind == LockRow::Kind::key || one.kind == LockRow::Kind::transaction
             ? !compatible(one.key_mode, other.key_mode)
             : !compatible(one.table_mode, other.table_mode);
}

/// Returns the prepared transactions: they belong to no session, but may be waited for.
std::set<TxnId> prepared_transactions(const Session::State& session) {
  std::set<TxnId> ids;
  for (const PreparedTransaction& prepared : session.shared.engine.prepared()) {
    ids.insert(prepared.id);
  }
  return ids;
}

/// True for a holder of the awaited lock, and for a waiter that is ahead in its queue.
bool blocks(const LockRow& other, const LockRow& waiting, const std::set<TxnId>& prepared) {
  if ((other.label == 0 && !prepared.contains(other.txn)) || other.label == waiting.label ||
      other.kind == LockRow::Kind::relation_holders || !same_thing(other, waiting) ||
      !excludes(other, waiting)) {
    return false;
  }
  return other.state == LockRow::State::granted || (other.waiting_since && waiting.waiting_since &&
                                                    *other.waiting_since < *waiting.waiting_since);
}

std::set<std::int32_t> blocking(Session::State& session, std::int32_t pid) {
  std::set<std::int32_t> found;
  const std::vector<LockRow> rows = session.shared.engine.locks();
  const std::set<TxnId> prepared = prepared_transactions(session);
  for (const LockRow& waiting : rows) {
    if (waiting.label != pid || waiting.state != LockRow::State::waiting) continue;
    for (const LockRow& other : rows) {
      if (blocks(other, waiting, prepared)) found.insert(other.label);
    }
  }
  const std::vector<std::int32_t> advisory = session.shared.advisory_locks.blocking(pid);
  // As in PostgreSQL, 0 stands for a prepared transaction.
  for (const std::int32_t holder : advisory) found.insert(std::max(holder, 0));
  return found;
}

Value blocking_pids(Execution& execution, Arguments arguments) {
  std::vector<Value> pids;
  for (const std::int32_t pid : blocking(session_of(execution), arguments[0].as_int4())) {
    pids.push_back(Value::from_int(pid));
  }
  return make_array(execution.row_arena, TypeId::int4, pids);
}

/// For PostgreSQL's isolation tests: true if one of `pids` keeps the session waiting.
Value is_blocked_by(Execution& execution, Arguments arguments) {
  const std::set<std::int32_t> found = blocking(session_of(execution), arguments[0].as_int4());
  const ArrayView interesting{arguments[1]};
  for (std::size_t i = 0; i < interesting.size(); ++i) {
    const Value pid = interesting.element(i);
    if (!pid.is_null() && found.contains(pid.as_int4())) return Value::from_bool(true);
  }
  return Value::from_bool(false);
}

}  // namespace

std::set<std::int32_t> sessions_waiting_for_locks(Session::State& session) {
  std::set<std::int32_t> found;
  for (const LockRow& waiting : session.shared.engine.lock_waits()) found.insert(waiting.label);
  return found;
}

std::set<AdvisoryLocks::Edge> waits_for_locks(Session::State& session) {
  std::set<AdvisoryLocks::Edge> edges;
  const std::vector<LockRow> rows = session.shared.engine.locks();
  for (const LockRow& waiting : rows) {
    if (waiting.state != LockRow::State::waiting || waiting.label == 0) continue;
    yield_point(rows.size());
    for (const LockRow& other : rows)
      if (blocks(other, waiting, {})) edges.emplace(waiting.label, other.label);
  }
  return edges;
}

std::span<const SessionEntry> blocking_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_blocking_pids", blocking_pids},
      {"pg_isolation_test_session_is_blocked", is_blocked_by},
  };
  return kFunctions;
}

}  // namespace swizzle::sql

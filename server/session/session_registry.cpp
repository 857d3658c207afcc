#include "server/session/session_registry.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "server/auth/crypto.h"
#include "server/protocol/sqlstates.h"
#include "server/session/reports.h"
#include "server/session/stream.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::server {

SessionRegistry::~SessionRegistry() {
  INVARIANT(entries_.empty());
}

Result<SessionRegistry::Place> SessionRegistry::enter(Interrupts& interrupts) {
  const std::scoped_lock lock{mutex_};
  if (door_closed_) return fail(state::cannot_connect_now, "the database system is shutting down");
  // An honest client logs in within milliseconds: the one that has waited for longest is the least
  // likely to be one. A connection that was asked to leave still counts for a moment, hence twice.
  if (entries_.size() - admitted_ >= 2 * std::size_t{limits_.max_authenticating}) {
    return fail(state::too_many_connections, "sorry, too many clients already");
  }
  if (door_.size() >= limits_.max_authenticating) make_room_at_door();
  do {
    // Positive as a signed number, because clients show it as a process id.
    last_id_ = last_id_ >= 0x7FFF'FFFEU ? 1000 : last_id_ + 1;
  } while (entries_.contains(last_id_));
  Entry& entry = entries_[last_id_];
  entry.interrupts = &interrupts;
  entry.arrival = ++arrivals_;
  door_.emplace(entry.arrival, last_id_);
  return Place{*this, last_id_};
}

void SessionRegistry::make_room_at_door() noexcept {
  const auto longest = door_.begin();
  entries_.at(longest->second).interrupts->request_end(EndReason::crowded);
  door_.erase(longest);
}

Result<> SessionRegistry::admit(std::uint32_t id, Rank rank) {
  const std::scoped_lock lock{mutex_};
  if (admitted_ >= limits_.max_connections) {
    return fail(state::too_many_connections, "sorry, too many clients already");
  }
  if (rank == Rank::ordinary && admitted_ + limits_.reserved >= limits_.max_connections) {
    return fail(state::too_many_connections,
                "remaining connection slots are reserved for superuser connections");
  }
  Entry& entry = entries_.at(id);
  // It was asked to leave just before it was admitted.
  if (door_.erase(entry.arrival) == 0) {
    return fail(state::too_many_connections, "sorry, too many clients already");
  }
  entry.is_admitted = true;
  ++admitted_;
  return {};
}

Bytes SessionRegistry::attach(std::uint32_t id, sql::Session& session, int socket,
                              std::size_t key_bytes) {
  const std::scoped_lock lock{mutex_};
  Entry& entry = entries_.at(id);
  INVARIANT(key_bytes <= entry.key.size());
  fill_random(MutableBytes{entry.key}.first(key_bytes));
  entry.key_bytes = key_bytes;
  entry.session = &session;
  entry.socket = socket;
  return Bytes{entry.key}.first(key_bytes);
}

void SessionRegistry::detach(std::uint32_t id) noexcept {
  const std::scoped_lock lock{mutex_};
  entries_.at(id).session = nullptr;
}

void SessionRegistry::note_follower(std::uint32_t id) {
  const std::scoped_lock lock{mutex_};
  entries_.at(id).is_follower = true;
}

void SessionRegistry::note_change_reader(std::uint32_t id) {
  const std::scoped_lock lock{mutex_};
  entries_.at(id).is_change_reader = true;
}

std::size_t SessionRegistry::change_readers() const noexcept {
  const std::scoped_lock lock{mutex_};
  return static_cast<std::size_t>(std::ranges::count_if(
      entries_, [](const auto& each) { return each.second.is_change_reader; }));
}

std::set<std::uint32_t> SessionRegistry::followers() const {
  const std::scoped_lock lock{mutex_};
  std::set<std::uint32_t> ids;
  for (const auto& [id, entry] : entries_)
    if (entry.is_follower) ids.insert(id);
  return ids;
}

void SessionRegistry::leave(std::uint32_t id) noexcept {
  const std::scoped_lock lock{mutex_};
  const auto entry = entries_.find(id);
  if (entry->second.is_admitted) --admitted_;
  door_.erase(entry->second.arrival);
  entries_.erase(entry);
}

void SessionRegistry::cancel(std::uint32_t id, Bytes key) noexcept {
  const std::scoped_lock lock{mutex_};
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  if (entry.session == nullptr) return;
  if (!equal_in_constant_time(key, Bytes{entry.key}.first(entry.key_bytes))) return;
  entry.session->cancel();
  entry.interrupts->request_cancel();
}

void SessionRegistry::cancel_abandoned(Duration at_least) noexcept {
  const std::scoped_lock lock{mutex_};
  for (auto& [id, entry] : entries_) {
    if (entry.session == nullptr || !entry.session->has_worked_for(at_least)) continue;
    if (!peer_has_gone(entry.socket)) continue;
    entry.session->cancel();
    entry.interrupts->request_cancel();
  }
}

void SessionRegistry::end_transaction(std::uint32_t id, TxnId transaction) noexcept {
  const std::scoped_lock lock{mutex_};
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.session == nullptr) return;
  const Entry& entry = found->second;
  const sql::Diagnostic reason =
      fatal_report(state::configuration_limit_exceeded,
                   "terminating transaction because the log that is kept for it exceeds "
                   "max_transaction_wal_size");
  // The running statement may wait for its client to read rows.
  if (entry.session->end_transaction(transaction, reason)) entry.interrupts->request_cancel();
}

void SessionRegistry::close_door() noexcept {
  const std::scoped_lock lock{mutex_};
  door_closed_ = true;
}

void SessionRegistry::end_all(EndReason reason, Whom whom) noexcept {
  const std::scoped_lock lock{mutex_};
  door_closed_ = true;
  for (auto& [id, entry] : entries_) {
    if (whom == Whom::clients && entry.is_follower) continue;
    if (whom == Whom::change_readers && !entry.is_change_reader) continue;
    entry.interrupts->request_end(reason);
    if (entry.session != nullptr) {
      entry.session->terminate(fatal_report(sqlstate::admin_shutdown,
                                            "terminating connection due to administrator command"));
    }
  }
}

std::size_t SessionRegistry::size() const noexcept {
  const std::scoped_lock lock{mutex_};
  return entries_.size();
}

}  // namespace swizzle::server

#include "sql-lite-frontend/statement/transactions/advisory_locks.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t place(AdvisoryMode mode) {
  return static_cast<std::size_t>(mode);
}

constexpr bool excludes(AdvisoryMode one, AdvisoryMode other) {
  return one == AdvisoryMode::exclusive || other == AdvisoryMode::exclusive;
}

/// The place in the queue of a request that does not wait.
constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

}  // namespace

bool AdvisoryLocks::Counts::holds(AdvisoryMode mode) const noexcept {
  return by_session[place(mode)] + by_transaction[place(mode)] > 0;
}

bool AdvisoryLocks::Counts::empty() const noexcept {
  return !holds(AdvisoryMode::shared) && !holds(AdvisoryMode::exclusive);
}

std::vector<std::int32_t> AdvisoryLocks::holders_against(std::int32_t session,
                                                         const AdvisoryKey& key,
                                                         AdvisoryMode mode) const {
  std::vector<std::int32_t> others;
  const auto found = holders_.find(key);
  if (found == holders_.end()) return others;
  for (const auto& [holder, counts] : found->second) {
    if (holder == session) continue;
    if (mode == AdvisoryMode::exclusive || counts.holds(AdvisoryMode::exclusive)) {
      others.push_back(holder);
    }
  }
  return others;
}

std::vector<std::int32_t> AdvisoryLocks::waiters_before(std::int32_t session,
                                                        const AdvisoryKey& key, AdvisoryMode mode,
                                                        std::uint64_t ticket) const {
  std::vector<std::int32_t> earlier;
  const auto queue = queues_.find(key);
  if (queue == queues_.end()) return earlier;
  const auto held = holders_.find(key);
  const Counts* mine = nullptr;
  if (held != holders_.end()) {
    const auto own = held->second.find(session);
    if (own != held->second.end()) mine = &own->second;
  }
  for (const auto& [number, waiter] : queue->second) {
    if (number >= ticket) break;
    const AdvisoryMode wanted = waits_.at(waiter).mode;
    if (waiter == session || !excludes(mode, wanted)) continue;
    const bool waits_for_session = mine != nullptr && (wanted == AdvisoryMode::exclusive ||
                                                       mine->holds(AdvisoryMode::exclusive));
    if (!waits_for_session) earlier.push_back(waiter);
  }
  return earlier;
}

void AdvisoryLocks::set_wait(std::int32_t session, Wait wait) {
  end_wait(session);
  waits_[session] = wait;
  queues_[wait.key][wait.ticket] = session;
}

void AdvisoryLocks::end_wait(std::int32_t session) {
  const auto wait = waits_.find(session);
  if (wait == waits_.end()) return;
  const auto queue = queues_.find(wait->second.key);
  queue->second.erase(wait->second.ticket);
  if (queue->second.empty()) queues_.erase(queue);
  waits_.erase(wait);
}

bool AdvisoryLocks::try_lock(std::int32_t session, const AdvisoryKey& key, AdvisoryMode mode,
                             AdvisoryScope scope) {
  const std::lock_guard lock{mutex_};
  if (!holders_against(session, key, mode).empty()) return false;
  const auto wait = waits_.find(session);
  const std::uint64_t ticket = wait == waits_.end() ? kLast : wait->second.ticket;
  if (!waiters_before(session, key, mode, ticket).empty()) return false;
  if (!keys_[session].contains(key)) {
    if (held_ == kMostLocks) {
      throw SqlError{sqlstate::out_of_memory, "out of shared memory"}.with_hint(
          "You might need to increase max_locks_per_transaction.");
    }
    keys_[session].insert(key);
    ++held_;
  }
  Counts& counts = holders_[key][session];
  if (scope == AdvisoryScope::transaction && counts.by_transaction[place(mode)] == 0)
    taken_[session].push_back({key, mode});
  ++(scope == AdvisoryScope::session ? counts.by_session : counts.by_transaction)[place(mode)];
  end_wait(session);
  return true;
}

bool AdvisoryLocks::find_path(std::int32_t from, std::int32_t to, Through through,
                              const std::set<Edge>& other_waits, std::set<std::int32_t>& seen,
                              std::vector<Edge>& path) const {
  if (!seen.insert(from).second) return false;
  const auto leads = [&](std::int32_t next, bool goes_on) {
    path.emplace_back(from, next);
    if (next == to || (goes_on && find_path(next, to, through, other_waits, seen, path)))
      return true;
    path.pop_back();
    return false;
  };
  const auto others = std::ranges::subrange(
      other_waits.lower_bound({from, std::numeric_limits<std::int32_t>::min()}),
      other_waits.upper_bound({from, std::numeric_limits<std::int32_t>::max()}));
  for (const Edge& edge : others)
    if (leads(edge.second, true)) return true;
  const auto wait = waits_.find(from);
  if (wait == waits_.end()) return false;
  const auto& [key, mode, ticket] = wait->second;
  for (const std::int32_t holder : holders_against(from, key, mode))
    if (leads(holder, true)) return true;
  if (through == Through::holders) return false;
  for (const std::int32_t waiter : waiters_before(from, key, mode, ticket)) {
    // The holders that an exclusive request waits for are those of every request before it.
    if (leads(waiter, mode == AdvisoryMode::shared)) return true;
  }
  return false;
}

bool AdvisoryLocks::is_ahead_in_queue(const Edge& edge) const {
  const Wait& wait = waits_.at(edge.first);
  const auto holders = holders_against(edge.first, wait.key, wait.mode);
  return std::ranges::find(holders, edge.second) == holders.end();
}

bool AdvisoryLocks::wait_for(std::int32_t session, const AdvisoryKey& key, AdvisoryMode mode) {
  constexpr int kMostTurns = 100;
  const std::lock_guard lock{mutex_};
  set_wait(session, {key, mode, ++last_ticket_});
  // Only a session that holds something is waited for.
  if (!keys_.contains(session)) return true;
  for (int turns = 0; turns < kMostTurns; ++turns) {
    std::set<std::int32_t> seen;
    std::vector<Edge> path;
    if (find_path(session, session, Through::holders, {}, seen, path)) break;
    seen.clear();
    if (!find_path(session, session, Through::all, {}, seen, path)) return true;
    const auto last = std::ranges::find_if(
        path.rbegin(), path.rend(), [this](const Edge& edge) { return is_ahead_in_queue(edge); });
    Wait turned = waits_.at(last->second);
    turned.ticket = ++last_ticket_;
    set_wait(last->second, turned);
  }
  end_wait(session);
  return false;
}

void AdvisoryLocks::stop_waiting(std::int32_t session) {
  const std::lock_guard lock{mutex_};
  end_wait(session);
}

std::set<std::int32_t> AdvisoryLocks::reached_from(std::int32_t session) const {
  const std::lock_guard lock{mutex_};
  std::set<std::int32_t> seen;
  std::vector<Edge> path;
  static_cast<void>(
      find_path(session, std::numeric_limits<std::int32_t>::min(), Through::all, {}, seen, path));
  return seen;
}

bool AdvisoryLocks::closes_cycle(std::int32_t session, const std::set<Edge>& other_waits) const {
  const std::lock_guard lock{mutex_};
  std::set<std::int32_t> seen;
  std::vector<Edge> path;
  return find_path(session, session, Through::all, other_waits, seen, path);
}

bool AdvisoryLocks::unlock(std::int32_t session, const AdvisoryKey& key, AdvisoryMode mode) {
  const std::lock_guard lock{mutex_};
  const auto found = holders_.find(key);
  if (found == holders_.end()) return false;
  const auto own = found->second.find(session);
  if (own == found->second.end() || own->second.by_session[place(mode)] == 0) return false;
  --own->second.by_session[place(mode)];
  forget_if_empty(session, key);
  return true;
}

void AdvisoryLocks::forget_if_empty(std::int32_t session, const AdvisoryKey& key) {
  const auto held = holders_.find(key);
  if (!held->second.at(session).empty()) return;
  held->second.erase(session);
  if (held->second.empty()) holders_.erase(held);
  const auto mine = keys_.find(session);
  mine->second.erase(key);
  if (mine->second.empty()) keys_.erase(mine);
  --held_;
}

std::size_t AdvisoryLocks::mark(std::int32_t session) const {
  const std::lock_guard lock{mutex_};
  const auto found = taken_.find(session);
  return found == taken_.end() ? 0 : found->second.size();
}

void AdvisoryLocks::unlock_to(std::int32_t session, std::size_t mark) {
  const std::lock_guard lock{mutex_};
  const auto found = taken_.find(session);
  if (found == taken_.end()) return;
  std::vector<Taken>& taken = found->second;
  while (taken.size() > mark) {
    const Taken last = taken.back();
    taken.pop_back();
    holders_.at(last.key).at(session).by_transaction[place(last.mode)] = 0;
    forget_if_empty(session, last.key);
  }
  if (taken.empty()) taken_.erase(found);
}

void AdvisoryLocks::unlock_all(std::int32_t session, AdvisoryScope scope) {
  const std::lock_guard lock{mutex_};
  if (scope == AdvisoryScope::transaction) taken_.erase(session);
  const auto mine = keys_.find(session);
  if (mine == keys_.end()) return;
  std::erase_if(mine->second, [&](const AdvisoryKey& key) {
    const auto held = holders_.find(key);
    Counts& counts = held->second.at(session);
    for (std::uint32_t& count :
         scope == AdvisoryScope::session ? counts.by_session : counts.by_transaction) {
      count = 0;
    }
    if (!counts.empty()) return false;
    held->second.erase(session);
    if (held->second.empty()) holders_.erase(held);
    --held_;
    return true;
  });
  if (mine->second.empty()) keys_.erase(mine);
}

std::vector<AdvisoryLocks::Held> AdvisoryLocks::of_transaction(std::int32_t session) const {
  std::vector<Held> list;
  const std::lock_guard lock{mutex_};
  const auto mine = keys_.find(session);
  if (mine == keys_.end()) return list;
  for (const AdvisoryKey& key : mine->second) {
    const Counts& counts = holders_.at(key).at(session);
    bool is_session = false;
    const std::size_t before = list.size();
    for (const AdvisoryMode mode : {AdvisoryMode::shared, AdvisoryMode::exclusive}) {
      is_session = is_session || counts.by_session[place(mode)] > 0;
      for (std::uint32_t i = 0; i < counts.by_transaction[place(mode)]; ++i) {
        list.push_back({key, mode, session});
      }
    }
    if (is_session && list.size() > before) {
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot PREPARE while holding both session-level and transaction-level locks "
                     "on the same object"};
    }
  }
  return list;
}

void AdvisoryLocks::hand_over(std::int32_t from, std::int32_t to) {
  const std::lock_guard lock{mutex_};
  taken_.erase(from);
  const auto mine = keys_.find(from);
  if (mine == keys_.end()) return;
  std::set<AdvisoryKey>& others = keys_[to];
  std::erase_if(mine->second, [&](const AdvisoryKey& key) {
    Holders& holders = holders_.at(key);
    const Counts counts = holders.at(from);
    if (counts.by_transaction[0] + counts.by_transaction[1] == 0) return false;
    holders.erase(from);
    holders[to] = counts;
    others.insert(key);
    return true;
  });
  if (others.empty()) keys_.erase(to);
  if (mine->second.empty()) keys_.erase(mine);
}

std::vector<std::int32_t> AdvisoryLocks::blocking(std::int32_t session) const {
  const std::lock_guard lock{mutex_};
  const auto wait = waits_.find(session);
  if (wait == waits_.end()) return {};
  const auto& [key, mode, ticket] = wait->second;
  std::vector<std::int32_t> others = holders_against(session, key, mode);
  for (const std::int32_t waiter : waiters_before(session, key, mode, ticket))
    others.push_back(waiter);
  return others;
}

std::vector<AdvisoryLocks::Held> AdvisoryLocks::waited_for() const {
  const std::lock_guard lock{mutex_};
  std::vector<Held> list;
  for (const auto& [session, wait] : waits_) list.push_back({wait.key, wait.mode, session});
  return list;
}

std::vector<AdvisoryLocks::Held> AdvisoryLocks::held() const {
  const std::lock_guard lock{mutex_};
  std::vector<Held> list;
  for (const auto& [key, holders] : holders_) {
    for (const auto& [session, counts] : holders) {
      for (const AdvisoryMode mode : {AdvisoryMode::shared, AdvisoryMode::exclusive}) {
        if (counts.holds(mode)) list.push_back({key, mode, session});
      }
    }
  }
  return list;
}

}  // namespace swizzle::sql

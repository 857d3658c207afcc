#include "sql-lite-frontend/statement/transactions/advisory_locks.h"

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t place(AdvisoryMode mode) {
  return static_cast<std::size_t>(mode);
}

}  // namespace

bool AdvisoryLocks::Counts::holds(AdvisoryMode mode) const noexcept {
  return by_session[place(mode)] + by_transaction[place(mode)] > 0;
}

bool AdvisoryLocks::Counts::empty() const noexcept {
  return !holds(AdvisoryMode::shared) && !holds(AdvisoryMode::exclusive);
}

std::vector<std::int32_t> AdvisoryLocks::blockers(std::int32_t session, const AdvisoryKey& key,
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

bool AdvisoryLocks::try_lock(std::int32_t session, const AdvisoryKey& key, AdvisoryMode mode,
                             AdvisoryScope scope) {
  const std::lock_guard lock{mutex_};
  if (!blockers(session, key, mode).empty()) return false;
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
  waits_.erase(session);
  return true;
}

bool AdvisoryLocks::reaches(std::int32_t from, std::int32_t to,
                            std::set<std::int32_t>& seen) const {
  if (!seen.insert(from).second) return false;
  const auto wait = waits_.find(from);
  if (wait == waits_.end()) return false;
  return std::ranges::any_of(
      blockers(from, wait->second.key, wait->second.mode),
      [&](std::int32_t holder) { return holder == to || reaches(holder, to, seen); });
}

bool AdvisoryLocks::wait_for(std::int32_t session, const AdvisoryKey& key, AdvisoryMode mode) {
  const std::lock_guard lock{mutex_};
  waits_[session] = {key, mode};
  std::set<std::int32_t> seen;
  if (!reaches(session, session, seen)) return true;
  waits_.erase(session);
  return false;
}

void AdvisoryLocks::stop_waiting(std::int32_t session) {
  const std::lock_guard lock{mutex_};
  waits_.erase(session);
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
  return blockers(session, wait->second.key, wait->second.mode);
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

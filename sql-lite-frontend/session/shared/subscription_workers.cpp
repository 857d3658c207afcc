#include "sql-lite-frontend/session/shared/subscription_workers.h"

#include <algorithm>
#include <utility>

namespace swizzle::sql {

bool SubscriptionWorkers::enter(const Worker& worker, std::function<void()> stop) {
  const std::lock_guard lock{mutex_};
  if (held_.contains(worker.id.subscription)) return false;
  Entry entry;
  entry.worker = worker;
  entry.stop = std::move(stop);
  return workers_.try_emplace(worker.id, std::move(entry)).second;
}

void SubscriptionWorkers::leave(const FollowerId& id) {
  const std::lock_guard lock{mutex_};
  workers_.erase(id);
}

void SubscriptionWorkers::stop_all() {
  const std::lock_guard lock{mutex_};
  for (const auto& [oid, entry] : workers_) entry.stop();
}

void SubscriptionWorkers::show(const Worker& worker) {
  const std::lock_guard lock{mutex_};
  const auto found = workers_.find(worker.id);
  if (found != workers_.end()) found->second.worker = worker;
}

std::vector<SubscriptionWorkers::Worker> SubscriptionWorkers::list() const {
  const std::lock_guard lock{mutex_};
  std::vector<Worker> all;
  for (const auto& [oid, entry] : workers_) all.push_back(entry.worker);
  return all;
}

bool SubscriptionWorkers::may_start(const FollowerId& id) const {
  const std::lock_guard lock{mutex_};
  return !held_.contains(id.subscription) && !workers_.contains(id);
}

bool SubscriptionWorkers::is_running(const FollowerId& id) const {
  const std::lock_guard lock{mutex_};
  return workers_.contains(id);
}

void SubscriptionWorkers::await_target(const FollowerId& id, Lsn position) {
  const std::lock_guard lock{mutex_};
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  found->second.catch_up = Entry::CatchUp::awaits_target;
  found->second.position = position;
}

std::optional<Lsn> SubscriptionWorkers::target(const FollowerId& id) const {
  const std::lock_guard lock{mutex_};
  const auto found = workers_.find(id);
  const bool has_one =
      found != workers_.end() && found->second.catch_up == Entry::CatchUp::has_target;
  return has_one ? std::optional{found->second.position} : std::nullopt;
}

void SubscriptionWorkers::note_caught_up(const FollowerId& id) {
  const std::lock_guard lock{mutex_};
  const auto found = workers_.find(id);
  if (found != workers_.end()) found->second.catch_up = Entry::CatchUp::none;
}

bool SubscriptionWorkers::set_targets(Oid subscription, Lsn position) {
  const std::lock_guard lock{mutex_};
  bool is_any = false;
  for (auto& [id, entry] : workers_) {
    if (id.subscription != subscription || entry.catch_up == Entry::CatchUp::none) continue;
    is_any = true;
    if (entry.catch_up == Entry::CatchUp::has_target) continue;
    entry.catch_up = Entry::CatchUp::has_target;
    entry.position = std::max(entry.position, position);
  }
  return is_any;
}

SubscriptionWorkers::Hold::Hold(SubscriptionWorkers& workers, Oid subscription)
    : workers_(workers), subscription_(subscription) {
  const std::lock_guard lock{workers_.mutex_};
  workers_.held_.insert(subscription_);
}

SubscriptionWorkers::Hold::~Hold() {
  const std::lock_guard lock{workers_.mutex_};
  workers_.held_.erase(workers_.held_.find(subscription_));
}

void SubscriptionWorkers::Hold::stop_until_gone(std::optional<Oid> table,
                                                const std::function<void()>& waits) {
  constexpr Duration kSearchesEvery = std::chrono::milliseconds{5};
  for (;;) {
    bool is_any = false;
    {
      const std::lock_guard lock{workers_.mutex_};
      for (const auto& [id, entry] : workers_.workers_) {
        if (id.subscription != subscription_ || (table && id.table != *table)) continue;
        is_any = true;
        entry.stop();
      }
    }
    if (!is_any) return;
    waits();
    Runtime::current().sleep_until(Runtime::current().now() + kSearchesEvery);
  }
}

void SubscriptionWorkers::count(Oid subscription, std::int64_t Counts::* which) {
  const std::lock_guard lock{mutex_};
  ++(counts_[subscription].*which);
}

SubscriptionWorkers::Counts SubscriptionWorkers::counts(Oid subscription) const {
  const std::lock_guard lock{mutex_};
  const auto found = counts_.find(subscription);
  return found == counts_.end() ? Counts{} : found->second;
}

void SubscriptionWorkers::reset_counts(Oid subscription, std::int64_t now) {
  const std::lock_guard lock{mutex_};
  if (subscription != kNoOid) {
    counts_[subscription] = {.reset_at = now};
    return;
  }
  for (auto& [oid, counts] : counts_) counts = {.reset_at = now};
}

void SubscriptionWorkers::note_change() {
  const std::lock_guard lock{mutex_};
  changed_at_ = Runtime::current().now();
  has_changed_ = true;
}

bool SubscriptionWorkers::has_changed_lately() const {
  constexpr Duration kLately = std::chrono::seconds{5};
  const std::lock_guard lock{mutex_};
  return has_changed_ && Runtime::current().now() - changed_at_ < kLately;
}

}  // namespace swizzle::sql

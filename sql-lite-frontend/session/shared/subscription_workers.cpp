#include "sql-lite-frontend/session/shared/subscription_workers.h"

#include <utility>

namespace swizzle::sql {

bool SubscriptionWorkers::enter(const Worker& worker, std::function<void()> stop) {
  const std::lock_guard lock{mutex_};
  if (held_.contains(worker.subscription)) return false;
  return workers_.try_emplace(worker.subscription, Entry{worker, std::move(stop)}).second;
}

void SubscriptionWorkers::leave(Oid subscription) {
  const std::lock_guard lock{mutex_};
  workers_.erase(subscription);
}

void SubscriptionWorkers::stop_all() {
  const std::lock_guard lock{mutex_};
  for (const auto& [oid, entry] : workers_) entry.stop();
}

void SubscriptionWorkers::show(const Worker& worker) {
  const std::lock_guard lock{mutex_};
  const auto found = workers_.find(worker.subscription);
  if (found != workers_.end()) found->second.worker = worker;
}

std::vector<SubscriptionWorkers::Worker> SubscriptionWorkers::list() const {
  const std::lock_guard lock{mutex_};
  std::vector<Worker> all;
  for (const auto& [oid, entry] : workers_) all.push_back(entry.worker);
  return all;
}

bool SubscriptionWorkers::may_start(Oid subscription) const {
  const std::lock_guard lock{mutex_};
  return !held_.contains(subscription) && !workers_.contains(subscription);
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

void SubscriptionWorkers::Hold::stop_worker(const std::function<void()>& waits) {
  constexpr Duration kSearchesEvery = std::chrono::milliseconds{5};
  for (;;) {
    {
      const std::lock_guard lock{workers_.mutex_};
      const auto found = workers_.workers_.find(subscription_);
      if (found == workers_.workers_.end()) return;
      found->second.stop();
    }
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

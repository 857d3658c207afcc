#include "server/session/statement_timer.h"

#include "base/invariant.h"
#include "server/protocol/sqlstates.h"
#include "server/session/reports.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::server {

sql::Diagnostic transaction_timeout_report() {
  return fatal_report(state::transaction_timeout,
                      "terminating connection due to transaction timeout");
}

StatementTimer::~StatementTimer() {
  {
    const std::scoped_lock lock{mutex_};
    INVARIANT(deadlines_.empty());
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void StatementTimer::add(Watch& watch, Duration timeout) {
  const TimePoint deadline = std::chrono::steady_clock::now() + timeout;
  const std::scoped_lock lock{mutex_};
  watch.place_ = deadlines_.emplace(deadline, &watch);
  if (!thread_.joinable()) {
    thread_ = std::thread{[this] { run(); }};
  } else if (watch.place_ == deadlines_.begin()) {
    changed_.notify_one();
  }
}

void StatementTimer::remove(Watch& watch) noexcept {
  const std::scoped_lock lock{mutex_};
  if (watch.place_) deadlines_.erase(*watch.place_);
  watch.place_.reset();
}

void StatementTimer::fire_due(TimePoint now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Watch& watch = *deadlines_.begin()->second;
    // Under the mutex, so that the session cannot end before its watch is stopped.
    if (watch.ends_ == Watch::Ends::session) {
      watch.session_.terminate(transaction_timeout_report());
    } else {
      watch.session_.cancel(
          error_report(sqlstate::query_canceled, "canceling statement due to statement timeout"));
    }
    watch.place_.reset();
    deadlines_.erase(deadlines_.begin());
  }
}

void StatementTimer::run() {
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    if (deadlines_.empty()) {
      changed_.wait(lock);
    } else {
      // A copy: the entry may be erased while this waits.
      const TimePoint first = deadlines_.begin()->first;
      changed_.wait_until(lock, first);
    }
    fire_due(std::chrono::steady_clock::now());
  }
}

}  // namespace swizzle::server

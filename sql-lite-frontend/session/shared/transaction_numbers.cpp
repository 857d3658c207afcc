#include "sql-lite-frontend/session/shared/transaction_numbers.h"

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Size before anything is forgotten: numbers that all snapshots see are kept for pg_xact_status(),
/// others for snapshots that stay open long.
constexpr std::size_t kLeast = 1024;
constexpr std::size_t kMostEnded = 100'000;
constexpr std::size_t kMostUnseen = 1'000'000;

}  // namespace

void TransactionNumbers::begin_at(std::int64_t first) {
  const std::lock_guard hold(mutex_);
  next_ = first;
}

std::int64_t TransactionNumbers::take() {
  const std::lock_guard hold(mutex_);
  recent_.emplace_hint(recent_.end(), next_, Entry{});
  return next_++;
}

void TransactionNumbers::take_up(std::int64_t number) {
  const std::lock_guard hold(mutex_);
  recent_.emplace(number, Entry{});
}

void TransactionNumbers::end(std::int64_t number, bool committed, Lsn at) {
  const std::lock_guard hold(mutex_);
  const auto found = recent_.find(number);
  if (found == recent_.end()) return;
  found->second = {committed ? Status::committed : Status::aborted, at};
}

TransactionNumbers::Seen TransactionNumbers::seen_at(Lsn snapshot) const {
  const std::lock_guard hold(mutex_);
  if (snapshot < forgotten_)
    throw_error(SqlState{"72000"}, "the snapshot is too old to say which transactions it sees");
  Seen seen;
  for (const auto& [number, entry] : recent_) {
    // An undone transaction counts as seen, whenever it was undone.
    const bool is_seen = entry.status == Status::aborted ||
                         (entry.status == Status::committed && entry.at <= snapshot);
    if (!is_seen) seen.running.push_back(number);
  }
  // Treats the newest transactions as not begun if the snapshot does not see them, so that a
  // snapshot has one answer at all times.
  seen.behind = next_;
  while (!seen.running.empty() && seen.running.back() == seen.behind - 1) {
    seen.running.pop_back();
    --seen.behind;
  }
  seen.first = seen.running.empty() ? seen.behind : seen.running.front();
  return seen;
}

std::optional<TransactionNumbers::Status> TransactionNumbers::status(std::int64_t number) const {
  const std::lock_guard hold(mutex_);
  if (number >= next_ || number < 0) {
    throw_error(sqlstate::invalid_parameter_value, "transaction ID {} is in the future",
                static_cast<std::uint64_t>(number));
  }
  if (const auto found = recent_.find(number); found != recent_.end()) return found->second.status;
  if (const auto found = ended_.find(number); found != ended_.end()) return found->second;
  // As in PostgreSQL, whose first transaction ids are reserved.
  if (number == 1 || number == 2) return Status::committed;
  return std::nullopt;
}

bool TransactionNumbers::is_full() const {
  const std::lock_guard hold(mutex_);
  return recent_.size() >= full_at_;
}

void TransactionNumbers::forget_before(Lsn oldest) {
  const std::lock_guard hold(mutex_);
  const bool is_too_much = recent_.size() > kMostUnseen;
  std::erase_if(recent_, [&](const auto& known) {
    const auto& [number, entry] = known;
    if (entry.status == Status::in_progress) return false;
    if (entry.at > oldest && !is_too_much) return false;
    if (entry.at > oldest) forgotten_ = std::max(forgotten_, entry.at);
    ended_.emplace(number, entry.status);
    return true;
  });
  while (ended_.size() > kMostEnded) ended_.erase(ended_.begin());
  full_at_ = std::max(kLeast, recent_.size() * 2);
}

}  // namespace swizzle::sql

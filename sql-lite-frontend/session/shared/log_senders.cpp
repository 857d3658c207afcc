#include "sql-lite-frontend/session/shared/log_senders.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sql-lite-frontend/statement/interruption.h"

namespace swizzle::sql {
namespace {

/// An interruption wakes nobody, nor does a follower that leaves its place to the next one of the
/// list: they are looked at so often.
constexpr Duration kLooksEvery = std::chrono::milliseconds{50};

Lsn position_of(const LogSenders::Sender& sender, LogSenders::Level level) {
  switch (level) {
    case LogSenders::Level::written:
      return sender.written;
    case LogSenders::Level::flushed:
      return sender.flushed;
    case LogSenders::Level::replayed:
      break;
  }
  return sender.replayed;
}

}  // namespace

void LogSenders::put(Sender sender) {
  const std::lock_guard lock{mutex_};
  const auto [place, is_new] = senders_.try_emplace(sender.pid);
  Known& known = place->second;
  if (!is_new && !known.sender.catches_up) sender.catches_up = false;
  sender.write_lag = known.sender.write_lag;
  sender.flush_lag = known.sender.flush_lag;
  sender.replay_lag = known.sender.replay_lag;
  const TimePoint now = Runtime::current().now();
  if (sender.sent > known.sender.sent) known.sent.note_sent(sender.sent, now);
  if (sender.replied_at != known.sender.replied_at) note_reply(known, sender, now);
  known.sender = std::move(sender);
  wake_done();
}

/// The second of two replies that have everything is not about new log. As PostgreSQL does, this
/// forgets the lags then, which say nothing any more.
void LogSenders::note_reply(Known& known, Sender& sender, TimePoint now) {
  const bool has_all = sender.replayed == sender.sent;
  const bool forgets = has_all && known.had_all;
  known.had_all = has_all;
  const auto note = [&](std::optional<Duration>& lag, LagTracker::Kind kind, Lsn position) {
    const auto read = known.sent.read(kind, position, now);
    if (read || forgets) lag = read;
  };
  note(sender.write_lag, LagTracker::Kind::write, sender.written);
  note(sender.flush_lag, LagTracker::Kind::flush, sender.flushed);
  note(sender.replay_lag, LagTracker::Kind::replay, sender.replayed);
}

void LogSenders::remove(std::int32_t pid) noexcept {
  const std::lock_guard lock{mutex_};
  senders_.erase(pid);
}

std::vector<const LogSenders::Sender*> LogSenders::candidates() const {
  std::vector<const Sender*> found;
  for (const auto& [pid, known] : senders_) {
    const Sender& sender = known.sender;
    const bool can_confirm = !sender.catches_up && sender.flushed != Lsn::none;
    if (can_confirm && rule_.priority_of(sender.application) > 0) found.push_back(&sender);
  }
  std::ranges::stable_sort(
      found, {}, [this](const Sender* sender) { return rule_.priority_of(sender->application); });
  return found;
}

LogSenders::Positions LogSenders::confirmed() const {
  std::vector<const Sender*> of = candidates();
  Positions all{Lsn::none, Lsn::none, Lsn::none};
  if (of.size() < rule_.count || rule_.count == 0) return all;
  if (!rule_.is_any) of.resize(rule_.count);
  for (std::size_t i = 0; i < kLevels; ++i) {
    std::vector<Lsn> positions;
    for (const Sender* const sender : of)
      positions.push_back(position_of(*sender, static_cast<Level>(i)));
    std::ranges::sort(positions, std::ranges::greater{});
    all[i] = positions[rule_.count - 1];
  }
  return all;
}

bool LogSenders::is_confirmed(Lsn end, Level level) const {
  return rule_.count == 0 || end <= confirmed()[static_cast<std::size_t>(level)];
}

void LogSenders::wake_done() {
  if (waiters_.empty()) return;
  const Positions reached = confirmed();
  std::erase_if(waiters_, [&](Waiter* waiter) {
    if (rule_.count > 0 && waiter->end > reached[static_cast<std::size_t>(waiter->level)])
      return false;
    Parker& parker = *waiter->parker;
    waiter->is_done.store(true, std::memory_order_release);
    parker.unpark();
    return true;
  });
}

std::vector<LogSenders::Sender> LogSenders::list() const {
  const std::lock_guard lock{mutex_};
  const auto named = candidates();
  std::vector<Sender> all;
  for (const auto& [pid, known] : senders_) {
    Sender sender = known.sender;
    sender.sync_priority = rule_.priority_of(sender.application);
    const auto place = std::ranges::find(named, &known.sender) - named.begin();
    if (sender.sync_priority > 0 && rule_.is_any)
      sender.sync_state = "quorum";
    else if (sender.sync_priority > 0)
      sender.sync_state = std::cmp_less(place, rule_.count) ? "sync" : "potential";
    all.push_back(std::move(sender));
  }
  return all;
}

std::vector<std::int32_t> LogSenders::waiting() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::int32_t> pids;
  for (const Waiter* const waiter : waiters_) pids.push_back(waiter->pid);
  return pids;
}

void LogSenders::set_rule(SyncRule rule) {
  const std::lock_guard lock{mutex_};
  has_rule_.store(rule.count > 0, std::memory_order_relaxed);
  rule_ = std::move(rule);
  wake_done();
}

LogSenders::Waited LogSenders::await(Lsn end, Level level, const Waits& who) {
  Runtime& runtime = Runtime::current();
  Waiter self;
  self.end = end;
  self.level = level;
  self.pid = who.pid;
  self.parker = &runtime.parker();
  {
    const std::lock_guard lock{mutex_};
    if (is_confirmed(end, level)) return Waited::confirmed;
    waiters_.push_back(&self);
  }
  while (!self.is_done.load(std::memory_order_acquire)) {
    if (self.parker->park_until(runtime.now() + kLooksEvery)) continue;
    const std::lock_guard lock{mutex_};
    const bool is_asked = who.asked.is_asked();
    if (self.is_done.load() || (!is_asked && !is_confirmed(end, level))) continue;
    std::erase(waiters_, &self);
    return is_confirmed(end, level) ? Waited::confirmed : Waited::interrupted;
  }
  // wake_done() may still be about to unpark this task.
  const std::lock_guard lock{mutex_};
  return Waited::confirmed;
}

}  // namespace swizzle::sql

#include "lock/internal/deadlock_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "lock/internal/intents.h"
#include "lock/internal/pause_point.h"

namespace swizzle::lock {
namespace {

const Entry* waits_for(const Seat& seat) noexcept {
  // seq_cst: of two owners that begin to wait for each other at the same time, one sees the other.
  return seat.waiting.load(std::memory_order_seq_cst);
}

// Younger transactions compare greater. All members of a cycle agree on the order.
auto age(const Seat& seat) noexcept {
  // TxnId::none becomes the greatest: an owner without a number has changed nothing, so little is
  // lost.
  return std::pair{raw(seat.txn.load(std::memory_order_relaxed)) - 1, seat.number};
}

// Names the owner as PostgreSQL's reports name a backend, if work_for() has set a label.
std::string who(const Seat& seat) {
  const OwnerLabel label = seat.label.load(std::memory_order_relaxed);
  if (label != 0) return fmt::format("Process {}", label);
  return fmt::format("Transaction {}", raw(seat.txn.load(std::memory_order_relaxed)));
}

std::string request(const Entry& entry) {
  const LockName& on = entry.name;
  switch (on.scope()) {
    case Scope::key:
      return fmt::format("{} on key {:#018x} of tree {}", name(entry.mode), on.hash(),
                         raw(on.tree()));
    case Scope::table:
      return fmt::format("{} on tree {}", name(entry.mode), raw(on.tree()));
    case Scope::relation:
      if (is_awaiting(entry.mode))
        return fmt::format("the end of the transactions that use relation {}", raw(on.relation()));
      return fmt::format("{} on relation {}",
                         name(relation_mode_of_content(table_mode(entry.mode))),
                         raw(on.relation()));
    case Scope::relation_rows:
      return fmt::format("{} on relation {}", name(relation_mode_of_rows(table_mode(entry.mode))),
                         raw(on.relation()));
    case Scope::transaction:
      return fmt::format("ShareLock on transaction {}",
                         raw(transaction_of(TransactionLock{on.hash()})));
    case Scope::database:
      break;
  }
  return fmt::format("{} on the database", name(entry.mode));
}

std::string doing(Seat& seat) {
  const std::lock_guard hold(seat.doing_latch);
  return seat.doing;
}

std::string in_lower_case(std::string text) {
  text.front() = static_cast<char>(text.front() | 0x20);
  return text;
}

// True if the blocker's own blockers are among those of the waiter: it stands before it in the same
// queue, and asks for no more. The search then enumerates the blockers of the waiter only.
// Otherwise its time and memory would grow with the square of the queue's length. An upgrade covers
// no blocker: locks that its owner holds already may block requests before it.
bool covers_waits_of(const Entry& waiting, const Blocker& blocker) noexcept {
  const Entry* const before = blocker.entry;
  return before != nullptr && before == waits_for(*blocker.seat) && before->name == waiting.name &&
         waiting.older_of_same_name == nullptr && implies(waiting.mode, before->mode) &&
         intent::mode_in_slot(*waiting.seat, waiting.name) == ModeCode::none;
}

// True if the blocker holds nothing that the waiter requests: it only came earlier.
bool is_ahead_in_queue(const Blocker& blocker) noexcept {
  return blocker.entry != nullptr && blocker.entry == waits_for(*blocker.seat);
}

}  // namespace

// With `holders`, ignores blockers that are only ahead in a queue. The table lists the newest
// blocker first; with that order the search is linear in the length of a queue (covers_waits_of),
// with the other one quadratic.
std::vector<DeadlockSearch::Edge> DeadlockSearch::find_cycle(Through through, Order order) {
  std::vector<Frame> path;
  std::vector<bool> visited(parts_.seats.size());
  const auto mark_visited = [&](const Seat& seat) {
    if (visited.size() <= seat.number) visited.resize(seat.number + 1);
    visited[seat.number] = true;
  };
  const auto enter = [&](Seat& seat) {
    mark_visited(seat);
    if (const Entry* entry = waits_for(seat)) {
      path.push_back({&seat, entry, parts_.blockers(*entry)});
      std::vector<Blocker>& blockers = path.back().blockers;
      if (order == Order::oldest_first) std::ranges::reverse(blockers);
      enumerated_ += blockers.size();
    }
  };
  enter(self_);
  while (!path.empty()) {
    pause_point(PausePoint::inside_search);
    Frame& frame = path.back();
    if (frame.next == frame.blockers.size()) {
      path.pop_back();
      continue;
    }
    const Blocker& edge = frame.blockers[frame.next++];
    Seat& blocker = *edge.seat;
    if (through == Through::holders && is_ahead_in_queue(edge)) continue;
    if (&blocker == &self_) break;
    if (blocker.number < visited.size() && visited[blocker.number]) continue;
    if (covers_waits_of(*frame.entry, edge))
      mark_visited(blocker);
    else
      enter(blocker);
  }
  std::vector<Edge> cycle;
  for (const Frame& frame : path) {
    cycle.push_back({frame.seat, frame.entry, frame.blockers[frame.next - 1]});
  }
  return cycle;
}

// No entry of the cycle can have been reused meanwhile, since the search is inside an epoch: an
// equal address is the same request. An intent slot is the same lock because its owner is in the
// same wait.
bool DeadlockSearch::still_there(const std::vector<Edge>& cycle) {
  return std::ranges::all_of(cycle, [this](const Edge& edge) {
    if (waits_for(*edge.waiter) != edge.entry) return false;
    const std::vector<Blocker> now = parts_.blockers(*edge.entry);
    return std::ranges::find(now, edge.blocker) != now.end();
  });
}

DeadlockSearch::Verdict DeadlockSearch::run() noexcept try {
  const auto reading = parts_.epochs.enter(self_.number);
  std::vector<Edge> cycle = find_cycle(Through::all, Order::newest_first);
  if (cycle.empty()) return Verdict::no_deadlock;
  const std::vector<Edge> of_holders = find_cycle(Through::holders, Order::newest_first);
  // Of several owners that must give way to one waiter, the first in the queue does so first and
  // stays ahead of the others.
  if (of_holders.empty() && enumerated_ <= kMostToSearchAgain) {
    if (std::vector<Edge> oldest = find_cycle(Through::all, Order::oldest_first); !oldest.empty())
      cycle = std::move(oldest);
  }
  pause_point(PausePoint::before_verify);
  if (!of_holders.empty())
    return still_there(of_holders) ? judge(of_holders) : Verdict::others_turn;
  if (!still_there(cycle) || ask_to_give_way(cycle)) return Verdict::others_turn;
  return judge(cycle);
} catch (const std::bad_alloc&) {
  return Verdict::others_turn;
}

// Breaks the cycle as PostgreSQL does: the last blocker that only came earlier goes to the end of
// the queue. Breaking another cycle may restore this one, so each request gives way a few times
// only.
bool DeadlockSearch::ask_to_give_way(const std::vector<Edge>& cycle) {
  constexpr std::uint32_t kMostTimes = 8;
  const auto turned = std::ranges::find_if(cycle.rbegin(), cycle.rend(), [](const Edge& edge) {
    return is_ahead_in_queue(edge.blocker) &&
           edge.blocker.seat->gave_way.load(std::memory_order_relaxed) < kMostTimes;
  });
  if (turned == cycle.rend()) return false;
  Seat& seat = *turned->blocker.seat;
  seat.give_way.store(turned->blocker.entry, std::memory_order_release);
  seat.wake();
  return true;
}

DeadlockSearch::Verdict DeadlockSearch::judge(const std::vector<Edge>& cycle) {
  Seat* victim = &self_;
  if (parts_.options.victim == DeadlockVictim::youngest) {
    for (const Edge& edge : cycle) {
      if (age(*edge.waiter) > age(*victim)) victim = edge.waiter;
    }
  }
  if (victim != &self_) {
    // The victim confirms the cycle by its own search, or finds that it no longer exists.
    victim->suspect.store(true, std::memory_order_seq_cst);
    victim->wake();
    return Verdict::others_turn;
  }
  for (const Edge& edge : cycle) {
    report_.push_back({who(*edge.waiter), request(*edge.entry),
                       in_lower_case(who(*edge.blocker.seat)), doing(*edge.waiter)});
  }
  return Verdict::victim;
}

Error DeadlockSearch::error() const {
  std::string detail;
  for (const ReportLine& line : report_) {
    if (!detail.empty()) detail += '\n';
    detail +=
        fmt::format("{} waits for {}; blocked by {}.", line.waiter, line.request, line.blocker);
  }
  for (const ReportLine& line : report_)
    if (!line.doing.empty()) detail += fmt::format("\n{}: {}", line.waiter, line.doing);
  return Error{sqlstate::deadlock_detected, "deadlock detected"}.with_detail(std::move(detail));
}

}  // namespace swizzle::lock

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "lock/internal/manager_parts.h"

namespace swizzle::lock {

/// Looks for a cycle of waits through one waiter, by following every current blocker (rule L5).
/// Takes no latch and stops nobody. What it reports did exist as a whole at one moment: all its
/// edges are looked at twice, and an edge that is there both times was there in between.
class DeadlockSearch {
 public:
  /// `waiter` waits for `entry`; `blocker` is why.
  struct Edge {
    Seat* waiter;
    const Entry* entry;
    Blocker blocker;
  };

  enum class Verdict {
    no_deadlock,
    /// There is a cycle, or may be, that somebody else breaks: look again soon.
    others_turn,
    /// The caller gives up.
    victim,
  };

  DeadlockSearch(LockManagerParts& parts, Seat& self) noexcept : parts_(parts), self_(self) {}

  /// Pre: the caller has published that it waits.
  Verdict run() noexcept;
  /// 40P01 with the cycle in its detail. Pre: run() said `victim`.
  [[nodiscard]] Error error() const;

 private:
  struct Frame {
    Seat* seat;
    const Entry* entry;
    std::vector<Blocker> blockers;
    std::size_t next = 0;
  };
  struct ReportLine {
    std::string waiter;
    std::string request;
    std::string blocker;
    std::string doing;  // of the waiter; empty: it did not say
  };

  // Pre of both: inside the epochs.
  enum class Through : std::uint8_t { all, holders };
  [[nodiscard]] std::vector<Edge> find_cycle(Through through);
  [[nodiscard]] bool still_there(const std::vector<Edge>& cycle);
  [[nodiscard]] static bool ask_to_give_way(const std::vector<Edge>& cycle);
  [[nodiscard]] Verdict judge(const std::vector<Edge>& cycle);

  LockManagerParts& parts_;
  Seat& self_;
  std::vector<ReportLine> report_;
};

}  // namespace swizzle::lock

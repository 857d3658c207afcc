#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "lock/internal/manager_parts.h"

namespace swizzle::lock {

/// Searches for a cycle of waits through one waiter, by following every current blocker (rule L5).
/// Takes no latch and stops no owner. A reported cycle did exist at one moment: all its edges are
/// read twice, and an edge that is there both times was there in between.
class DeadlockSearch {
 public:
  /// `waiter` waits for `entry` because of `blocker`.
  struct Edge {
    Seat* waiter;
    const Entry* entry;
    Blocker blocker;
  };

  enum class Verdict {
    no_deadlock,
    /// There is or may be a cycle that another owner breaks: search again soon.
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
    std::string doing;  // of the waiter; empty: not known
  };

  // Pre of both: inside the epochs.
  enum class Through : std::uint8_t { all, holders };
  enum class Order : std::uint8_t { newest_first, oldest_first };
  [[nodiscard]] std::vector<Edge> find_cycle(Through through, Order order);
  [[nodiscard]] bool still_there(const std::vector<Edge>& cycle);
  [[nodiscard]] static bool ask_to_give_way(const std::vector<Edge>& cycle);
  [[nodiscard]] Verdict judge(const std::vector<Edge>& cycle);

  // Blockers that the first searches may have met for a search in the other order, whose time grows
  // with the square.
  static constexpr std::size_t kMostToSearchAgain = 1024;

  LockManagerParts& parts_;
  Seat& self_;
  std::size_t enumerated_ = 0;
  std::vector<ReportLine> report_;
};

}  // namespace swizzle::lock

#include "storage/recovery/kill_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace swizzle {

std::string KillOracle::settle(std::size_t number, const std::vector<std::uint64_t>& found) {
  Session& session = sessions.at(number);
  const Session::Pending pending = session.pending.load(std::memory_order_acquire);
  if (pending != Session::Pending::none) {
    const std::span changes{session.changes.data(), session.change_count};
    const auto is_after = [&](const Change& change) { return found[change.key] == change.after; };
    const auto is_before = [&](const Change& change) { return found[change.key] == change.before; };
    const bool all_after = std::ranges::all_of(changes, is_after);
    const bool all_before = std::ranges::all_of(changes, is_before);
    if (!all_after && pending == Session::Pending::acknowledged)
      return fmt::format("session {}: an acknowledged transaction is missing, or a part of it",
                         number);
    if (!all_after && !all_before)
      return fmt::format("session {}: half of a transaction is there", number);
    if (pending == Session::Pending::committing) ++in_doubt;
    if (pending == Session::Pending::committing && all_after) ++half_way_committed;
    for (const Change& change : changes) session.committed[change.key] = found[change.key];
    session.pending.store(Session::Pending::none, std::memory_order_release);
  }
  for (std::size_t key = 0; key < kKeys; ++key) {
    if (found[key] != session.committed[key])
      return fmt::format("session {}: key {} is at version {}, acknowledged was {}", number, key,
                         found[key], session.committed[key]);
  }
  return {};
}

}  // namespace swizzle

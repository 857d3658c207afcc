#include "storage/recovery/kill_cycles/kill_oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace swizzle {

std::string KillOracle::settle_pending(Session& session, const std::vector<std::uint64_t>& found) {
  using Pending = Session::Pending;
  const Pending pending = session.pending.load(std::memory_order_acquire);
  const std::span changes{session.changes.data(), session.change_count};
  const auto is_after = [&](const Change& change) { return found[change.key] == change.after; };
  const auto is_before = [&](const Change& change) { return found[change.key] == change.before; };
  const bool all_after = std::ranges::all_of(changes, is_after);
  const bool all_before = std::ranges::all_of(changes, is_before);
  const bool must_be_after =
      pending == Pending::acknowledged || pending == Pending::finishing_by_commit;
  if (!all_after && must_be_after) return "an acknowledged transaction is missing, or a part of it";
  if (!all_before && (pending == Pending::preparing || pending == Pending::finishing_by_rollback))
    return "what was not committed is there";
  if (!all_after && !all_before) return "half of a transaction is there";
  if (pending == Pending::committing) ++in_doubt;
  if (pending == Pending::committing && all_after) ++half_way_committed;
  for (const Change& change : changes) session.committed[change.key] = found[change.key];
  session.pending.store(Pending::none, std::memory_order_release);
  return {};
}

std::string KillOracle::compare(std::size_t number, const std::vector<std::uint64_t>& found,
                                Prepared prepared) {
  using Pending = Session::Pending;
  Session& session = sessions.at(number);
  const Pending pending = session.pending.load(std::memory_order_acquire);
  if (prepared == Prepared::is_there) {
    if (pending < Pending::preparing)
      return fmt::format("session {}: it has prepared nothing, or that has ended", number);
    session.pending.store(Pending::prepared, std::memory_order_release);
    ++found_prepared;
  } else if (pending == Pending::prepared) {
    return fmt::format("session {}: what it has prepared is not there", number);
  } else if (pending != Pending::none) {
    if (const std::string wrong = settle_pending(session, found); !wrong.empty())
      return fmt::format("session {}: {}", number, wrong);
  }
  for (std::size_t key = 0; key < kKeys; ++key) {
    if (found[key] != session.committed[key])
      return fmt::format("session {}: key {} is at version {}, acknowledged was {}", number, key,
                         found[key], session.committed[key]);
  }
  return {};
}

}  // namespace swizzle

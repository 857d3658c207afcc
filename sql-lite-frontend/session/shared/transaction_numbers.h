#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace swizzle::sql {

/// The numbers given to transactions on request, by pg_current_xact_id(), and their visibility to
/// snapshots.
///
/// A number counts as visible to a snapshot once its transaction's end has been noted here, and the
/// snapshot is not older than that. So every number reported as visible is visible; a commit that
/// is just being acknowledged may be reported as not visible yet. A consumer of a queue that reads,
/// with each snapshot, the numbers that its last one did not see gets it the next time.
class TransactionNumbers {
 public:
  /// Sets the first number: the time of the start in microseconds, so that no number is given
  /// twice.
  void begin_at(std::int64_t first);
  [[nodiscard]] std::int64_t take();
  /// Adds a number that was given before the start, whose transaction is prepared.
  void take_up(std::int64_t number);
  /// Notes the transaction's end. Snapshots at `at` and later ones see its changes.
  void end(std::int64_t number, bool committed, Lsn at);

  struct Seen {
    std::int64_t first = 0;             ///< all before it have ended
    std::int64_t behind = 0;            ///< from here on none has
    std::vector<std::int64_t> running;  ///< of those between, in order
  };
  /// Throws SqlError 72000 for a snapshot that is too old.
  [[nodiscard]] Seen seen_at(Lsn snapshot) const;

  enum class Status : std::uint8_t { in_progress, committed, aborted };
  /// Returns the transaction's status; nothing: it ended too long ago. Throws SqlError 22023 for a
  /// number that was not given out yet.
  [[nodiscard]] std::optional<Status> status(std::int64_t number) const;

  /// True if it is time to forget the numbers that all snapshots see.
  [[nodiscard]] bool is_full() const;
  /// `oldest`: there is no older snapshot, nor will be.
  void forget_before(Lsn oldest);

 private:
  struct Entry {
    Status status = Status::in_progress;
    Lsn at = Lsn::none;
  };

  mutable std::mutex mutex_;
  std::int64_t next_ = 1;
  std::map<std::int64_t, Entry> recent_;
  std::map<std::int64_t, Status> ended_;  ///< and seen by all
  std::size_t full_at_ = 1024;
  Lsn forgotten_ = Lsn::none;  ///< snapshots before this one might not see removed outcomes
};

}  // namespace swizzle::sql

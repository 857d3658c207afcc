#pragma once

#include <cstdint>

#include "base/ids.h"

/// How transactions read and write.
namespace swizzle {

enum class Isolation : std::uint8_t {
  read_committed,
  repeatable_read,
  serializable,           ///< by locks on what is read
  serializable_snapshot,  ///< as repeatable_read, and fails where that would not be serializable
};
/// Returns true if all statements of a transaction at that level read one snapshot.
constexpr bool keeps_snapshot(Isolation isolation) noexcept {
  return isolation == Isolation::repeatable_read || isolation == Isolation::serializable_snapshot;
}
enum class Access : std::uint8_t { read_write, read_only };

/// Slots for open transactions that a caller may take when they run out.
enum class TransactionPlace : std::uint8_t {
  ordinary,
  superuser,  ///< also the places reserved for superusers, who can then still log in
  internal,   ///< all of them: for short transactions of the system itself
};

/// Treatment of other transactions by a read.
enum class ReadMode : std::uint8_t {
  snapshot,  ///< the transaction's snapshot; neither waits nor makes others wait
  /// The newest committed version, whose key stays until the transaction ends; its value may
  /// change, and may have changed since the snapshot. At SERIALIZABLE, and for a value that does
  /// not fit a page, as for_share.
  for_key_share,
  for_share,          ///< the newest version, locked against change until the transaction ends
  for_no_key_update,  ///< the same, and against being read by for_share
  for_update,         ///< the newest version, locked against all others
};
/// Behaviour of a locking read or a write when another transaction holds the key.
enum class WaitPolicy : std::uint8_t {
  wait,     ///< until it is free, lock_timeout passes (55P03), or a deadlock is found (40P01)
  no_wait,  ///< fails at once with 55P03
  skip,     ///< acts as if the key were not there
};

/// View of a statement's reads: the commits before a moment in the log, and the earlier writes of
/// its own transaction.
struct ReadView {
  Lsn lsn = Lsn::none;              ///< commits before it are visible
  Lsn all_visible_lsn = Lsn::none;  ///< changes below it are all visible: their writers have ended
  std::uint32_t statement =
      0;                  ///< its transaction's changes from this statement on are hidden; 0: none
  bool is_taken = false;  ///< the snapshot is taken; the first read takes it
  enum class Sees : std::uint8_t {
    durable,  ///< commits that survive a crash
    latest,   ///< all commits: for checks of constraints and definitions
  } sees = Sees::durable;
};

}  // namespace swizzle

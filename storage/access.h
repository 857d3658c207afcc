#pragma once

#include <cstdint>

#include "base/ids.h"

/// The words in which transactions say how they read and write.
namespace swizzle {

enum class Isolation : std::uint8_t { read_committed, repeatable_read, serializable };
enum class Access : std::uint8_t { read_write, read_only };

/// Which of the places for open transactions a caller may take when they run out.
enum class TransactionPlace : std::uint8_t {
  ordinary,
  superuser,  ///< also those kept for superusers, so that someone can still look and act
  internal,   ///< all of them: for short transactions of the system itself
};

/// Treatment of other transactions by a read.
enum class ReadMode : std::uint8_t {
  snapshot,  ///< what the transaction's snapshot shows; neither waits nor makes others wait
  /// The newest committed version, whose key stays until the transaction ends; others may change
  /// what stands under it, also since a snapshot. At SERIALIZABLE, and of a value that does not fit
  /// a page, as for_share.
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
  Lsn lsn = Lsn::none;  ///< what committed before is visible
  Lsn quiet =
      Lsn::none;  ///< what has an LSN below it is visible wholly: all who wrote there are through
  std::uint32_t statement =
      0;                  ///< its transaction's changes from this statement on are hidden; 0: none
  bool is_taken = false;  ///< the moment is settled, which the first read does
  enum class Sees : std::uint8_t {
    durable,  ///< what no crash can take back
    latest,   ///< whatever is committed: what constraints and definitions have to hold for
  } sees = Sees::durable;
};

}  // namespace swizzle

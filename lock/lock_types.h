#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/runtime/runtime.h"
#include "lock/modes.h"
#include "lock/relation_modes.h"

namespace swizzle::lock {

/// A key of a tree, as this folder knows it.
struct LockId {
  TreeId tree;
  std::uint64_t hash;

  friend constexpr bool operator==(const LockId&, const LockId&) = default;
};

/// Lock on a transaction that keeps no lock on each key that it has changed, for others to wait
/// for. Held until the transaction ends or rolls back to a savepoint, which replaces it by another
/// one.
enum class TransactionLock : std::uint64_t { none = 0 };
constexpr TransactionLock transaction_lock(TxnId of, std::uint16_t turn) noexcept {
  return TransactionLock{raw(of) << 16U | turn};
}
constexpr TxnId transaction_of(TransactionLock lock) noexcept {
  return TxnId{static_cast<std::uint64_t>(lock) >> 16U};
}

/// Identifies the owner's client in the words of the layers above: a backend's number. 0: not set.
using OwnerLabel = std::int32_t;

enum class IfBlocked : std::uint8_t {
  wait,
  fail,  // SQLSTATE 55P03 (NOWAIT)
  skip,  // Acquired::skipped (SKIP LOCKED)
};

/// How long a request may wait. As in PostgreSQL's settings, lock_timeout 0 is "no limit".
struct LockWait {
  IfBlocked if_blocked = IfBlocked::wait;
  Duration lock_timeout = Duration::zero();
};
inline constexpr LockWait kNoWait{IfBlocked::fail};
inline constexpr LockWait kSkipLocked{IfBlocked::skip};

enum class Acquired : std::uint8_t { granted, skipped };

/// A savepoint of an owner. Valid until the owner releases everything or rolls back beyond it.
enum class LockMark : std::uint32_t { start = 0 };

enum class LockVariant : std::uint8_t { raw, latched, off };
enum class IntentPath : std::uint8_t { private_slots, shared_table };
enum class DeadlockVictim : std::uint8_t { youngest, requester };

struct LockOptions {
  LockVariant variant = LockVariant::raw;
  IntentPath intent_path = IntentPath::private_slots;
  DeadlockVictim victim = DeadlockVictim::youngest;
  /// 16 bytes each, touched when used; a power of two. More buckets mean fewer other names in a
  /// list.
  std::size_t buckets = std::size_t{1} << 18;
  /// An owner that has read this many keys and gaps of one table asks for a lock on the table
  /// instead. 0: never.
  std::uint32_t escalation_threshold = 100'000;
  /// How many entries are reused together; fewer only for tests.
  std::uint32_t entries_per_generation = 36;
};

/// A row of pg_locks.
struct LockRow {
  enum class Kind : std::uint8_t {
    key,
    table,
    database,
    relation,
    relation_rows,
    transaction,
    relation_holders,  ///< a wait for the holders of a relation, which is no lock
  };
  enum class State : std::uint8_t { granted, waiting };
  enum class Path : std::uint8_t { shared_table, private_slot };

  TxnId txn = TxnId::none;
  OwnerLabel label = 0;
  Kind kind = Kind::key;
  TreeId tree = TreeId::directory;
  std::uint64_t hash = 0;                  // of a key; a transaction's lock
  KeyMode key_mode;                        // of a key, a transaction
  RelationId relation{};                   // of a relation's two parts
  TableMode table_mode = TableMode::none;  // of everything else
  State state = State::granted;
  Path path = Path::shared_table;
  std::optional<TimePoint> waiting_since;
};

/// A row of pg_locks for a read of a serializable transaction, which excludes nothing.
struct ReadMarkRow {
  enum class Of : std::uint8_t { key, tree, everything };

  OwnerLabel label = 0;
  Of of = Of::key;
  TreeId tree = TreeId::directory;  ///< of a key, a tree
};

/// A lock that an owner holds, in a form that can be stored and taken again.
struct HeldLock {
  /// Neither `transaction` nor `relation_holders`.
  LockRow::Kind kind = LockRow::Kind::key;
  std::uint32_t place = 0;                 ///< the number of the tree, or of the relation
  std::uint64_t hash = 0;                  ///< of a key
  KeyMode key_mode;                        ///< of a key
  TableMode table_mode = TableMode::none;  ///< of everything else

  friend constexpr bool operator==(const HeldLock&, const HeldLock&) = default;
};

/// Counted on slow paths; uncontended locks are not counted.
struct LockStatistics {
  std::uint64_t waits = 0;
  std::uint64_t deadlocks = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t cancellations = 0;
  std::uint64_t escalations = 0;
  std::size_t entry_bytes = 0;
};

}  // namespace swizzle::lock

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "lock/lock_types.h"

namespace swizzle {

/// Log records of a prepared transaction besides its changes: transaction_prepared, and before it,
/// if needed, prepared_kept records. docs/log-format.md has the layout.

/// The payload of transaction_prepared.
struct PreparedRecord {
  std::int64_t prepared_at_us = 0;
  std::string gid;
  /// A note of the layer above.
  std::vector<std::byte> note;
  /// Number of items in the prepared_kept records that come right before it in the chain.
  std::uint64_t kept_items = 0;
  /// Begin of its changes in an older log, if pages have LSNs of that; none: the changes are in
  /// this log.
  Lsn began_at = Lsn::none;
};

/// Properties of a change's undo record that its log record does not have.
struct UndoTraits {
  std::uint64_t younger = 0;  ///< number of changes of the transaction that came after it
  bool is_move = false;  ///< a removal whose record continues under the key of the insert before it
  bool takes_key = false;  ///< for an update: its lock was on the key, too
};

/// The items of a prepared_kept payload.
struct PreparedKept {
  std::vector<lock::HeldLock> locks;
  std::vector<UndoTraits> traits;
  [[nodiscard]] std::size_t items() const noexcept { return locks.size() + traits.size(); }
};

namespace payload {

inline constexpr std::size_t kMostGidBytes = 199;
/// Limit by which note and identifier fit a record.
inline constexpr std::size_t kMostNoteBytes = std::size_t{256} << 10U;
std::vector<std::byte> encode_prepared(const PreparedRecord& record);
Result<PreparedRecord> decode_prepared(Bytes payload);

/// Encodes the items in portions, each the payload of a record.
std::vector<std::vector<std::byte>> encode_kept(const PreparedKept& kept);
/// Appends the items of `payload` to `into`.
Result<> decode_kept(Bytes payload, PreparedKept& into);

}  // namespace payload

}  // namespace swizzle

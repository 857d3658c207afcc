#pragma once

#include <atomic>
#include <span>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/btree/changed_trees.h"
#include "storage/btree/records.h"
#include "storage/buffer/frame.h"
#include "storage/options.h"
#include "wal/log.h"

namespace swizzle {

/// Chain of a transaction's log records. Null: a system transaction. The owner writes; checkpoints
/// read the atomics.
struct TransactionChain {
  std::atomic<TxnId> id{TxnId::none};
  std::atomic<Lsn> first{Lsn::none};
  std::atomic<Lsn> last{Lsn::none};
  /// Set while undo runs: the record to be undone next, for the compensation records.
  Lsn undo_next = Lsn::none;
  /// Changed trees, for checkpoints; null: they are not noted.
  ChangedTrees* changes = nullptr;
  std::atomic<bool> is_undoing{false};  ///< read by others, for the views
};

/// Space in the log, reserved before any latch. The unused part is given back.
using LogSpace = wal::Reservation;

/// Interface for writing the log from trees: prepare (reserve) may wait and fail, append may not.
class TreeLog {
 public:
  TreeLog() = default;
  TreeLog(const TreeLog&) = delete;
  TreeLog& operator=(const TreeLog&) = delete;
  virtual ~TreeLog() = default;

  /// Parks when the log has no room. 53100 when the disk has none.
  virtual Result<LogSpace> reserve(std::size_t payload_bytes, std::size_t records,
                                   wal::ReservePurpose purpose = wal::ReservePurpose::growth) = 0;

  struct Change {
    RecordKind kind;
    TransactionChain* transaction = nullptr;
    Frame* page = nullptr;
    Frame* page2 = nullptr;
    TreeId tree{};
  };
  /// Pre: the pages are held exclusively. Post: they carry the record's LSN and are dirty, so the
  /// caller applies the change at once.
  virtual Lsn append(LogSpace& space, const Change& change,
                     std::span<const Bytes> payload) noexcept = 0;
};

/// Writes to the log.
class WalTreeLog final : public TreeLog {
 public:
  explicit WalTreeLog(wal::Log& log) noexcept : log_(log) {}
  Result<LogSpace> reserve(std::size_t payload_bytes, std::size_t records,
                           wal::ReservePurpose purpose) override {
    return log_.reserve(payload_bytes, records, purpose);
  }
  Lsn append(LogSpace& space, const Change& change,
             std::span<const Bytes> payload) noexcept override;
#ifdef SWIZZLE_PLANTED_FAULTS
  void plant(StorageFault fault) noexcept { fault_ = fault; }
#endif

 private:
  wal::Log& log_;
#ifdef SWIZZLE_PLANTED_FAULTS
  StorageFault fault_ = StorageFault::none;
#endif
};

/// Writes no log: pages carry LSNs that grow.
class NoTreeLog final : public TreeLog {
 public:
  Result<LogSpace> reserve(std::size_t /*payload_bytes*/, std::size_t /*records*/,
                           wal::ReservePurpose /*purpose*/) override {
    return LogSpace{};
  }
  Lsn append(LogSpace& space, const Change& change,
             std::span<const Bytes> payload) noexcept override;
};

}  // namespace swizzle

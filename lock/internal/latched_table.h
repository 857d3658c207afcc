#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/runtime/spin_latch.h"
#include "lock/internal/lock_table.h"

namespace swizzle::lock {

/// The conventional lock manager: a hash table whose buckets are protected by a latch each, with a
/// queue of requests, oldest first. Has the same contract as RawTable, with which experiments and
/// tests compare it.
class LatchedTable final : public LockTable {
 public:
  explicit LatchedTable(std::size_t buckets);

  void prefetch(const LockName& /*name*/) const noexcept override {}
  void prefetch_entries(const LockName& /*name*/) const noexcept override {}
  Appended append(Entry& entry) noexcept override;
  [[nodiscard]] bool is_blocked(const Entry& entry) noexcept override;
  [[nodiscard]] std::vector<Blocker> blockers(const Entry& entry) override;
  void remove(Entry& entry, Lsn commit_lsn) noexcept override;
  void wake_waiters(const LockName& name) noexcept override;
  [[nodiscard]] bool is_free(const LockName& name, ModeCode mode,
                             const Seat* self) noexcept override;
  [[nodiscard]] bool has_followers(const Entry& entry) noexcept override;
  [[nodiscard]] Lsn tag(const LockName& name) noexcept override;
  void visit(const std::function<void(const Entry&)>& visitor) override;

 private:
  struct Bucket {
    BasicSpinLatch<NoPauses> latch;
    Entry* oldest = nullptr;  // latch; linked by Entry::next
    Entry* newest = nullptr;  // latch
    Lsn tag = Lsn::none;      // latch
  };

  [[nodiscard]] Bucket& bucket_of(const LockName& name) noexcept;
  // Pre of all: the bucket is latched.
  static bool has_blocker(const Bucket& bucket, const Entry& entry) noexcept;
  static void wake_waiters(Bucket& bucket, const LockName& name) noexcept;
  static void unlink(Bucket& bucket, Entry& entry) noexcept;
  /// Calls `visitor` with every blocker of `entry`, oldest first, until it returns false.
  template <class Visitor>
  static void visit_blockers(const Bucket& bucket, const Entry& entry, Visitor visitor);

  std::size_t mask_;
  std::unique_ptr<Bucket[]> buckets_;
};

}  // namespace swizzle::lock

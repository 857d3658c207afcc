#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "lock/internal/lock_table.h"
#include "lock/internal/reader_epochs.h"

namespace swizzle::lock {

/// Read-after-write locking without latches (Jung et al., SIGMOD 2013). A bucket is one list of
/// entries of any name. A request links its entry, then reads the older ones; a release stores
/// `obsolete`, then reads the newer ones. Each pair is a store and a later load in one total order
/// (seq_cst), so of two owners at least one sees the other: the later request waits, or it is
/// granted, or it is woken. Never none of the three.
///
/// New entries go to the head, so the list reads from a request to everything before it, and the
/// request costs one walk instead of the two of a list that grows at its tail.
///
/// Owners allocate the entries: a walk of the list must be inside `epochs`.
class RawTable final : public LockTable {
 public:
  /// `buckets` is rounded up to a power of two and never changes.
  RawTable(std::size_t buckets, ReaderEpochs& epochs);
  ~RawTable() override;

  void prefetch(const LockName& name) const noexcept override {
    __builtin_prefetch(&buckets_[name.spread() & mask_], 1);
  }
  void prefetch_entries(const LockName& name) const noexcept override {
    // The entry may be gone by now: its address is prefetched, not dereferenced.
    __builtin_prefetch(reinterpret_cast<const void*>(
        buckets_[name.spread() & mask_].newest.load(std::memory_order_relaxed)));
  }
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
    std::atomic<std::uintptr_t> newest;
    /// The highest commit LSN under which a writer released something here (rule L8).
    std::atomic<std::uint64_t> tag;
  };

  /// Zero pages of the system until touched.
  struct Unmap {
    std::size_t bytes;
    void operator()(Bucket* buckets) const noexcept;
  };

  [[nodiscard]] Bucket& bucket_of(const LockName& name) noexcept;
  /// Pre of these three: inside an epoch since before `entry` was found linked.
  static bool blocks(const Entry& earlier, const Entry& entry) noexcept;
  static bool has_blocker(const Entry& entry) noexcept;
  static void wake_later(Bucket& bucket, const LockName& name, const Entry* until) noexcept;

  static void unlink(Bucket& bucket, Entry& entry) noexcept;
  /// One try; false means that the list changed under it.
  static bool try_unlink(Bucket& bucket, const Entry& entry) noexcept;

  std::size_t mask_;
  std::unique_ptr<Bucket[], Unmap> buckets_;
  ReaderEpochs& epochs_;
};

}  // namespace swizzle::lock

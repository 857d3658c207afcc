#include "storage/txn/versions/version_index.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

#include "base/checksum.h"
#include "base/invariant.h"
#include "base/memory/huge_pages.h"
#include "base/runtime/spin_wait.h"

namespace swizzle {
namespace {

bool is_of(const UndoRecord& record, TreeId tree, Bytes key, std::uint64_t hash) noexcept {
  return record.key_hash == hash && record.tree == tree && compare(record.key(), key) == 0;
}

}  // namespace

std::uint64_t hash_of_key(TreeId tree, Bytes key) noexcept {
  if (key.empty()) return checksum(key, raw(tree));
  const Bytes front = key.first(key.size() - 1);
  return checksum(front, raw(tree)) + std::to_integer<std::uint64_t>(key.back());
}

VersionIndex::VersionIndex(std::size_t buckets)
    : mask_(std::bit_ceil(buckets) - 1),
      buckets_(static_cast<Bucket*>(std::calloc(mask_ + 1, sizeof(Bucket)))) {
  if (buckets_ == nullptr) throw std::bad_alloc{};
  prefer_huge_pages(buckets_.get(), (mask_ + 1) * sizeof(Bucket));
}

UndoRecord* VersionIndex::newest_of(Bucket& bucket, TreeId tree, Bytes key,
                                    std::uint64_t hash) noexcept {
  if (!bucket.may_have(hash)) return nullptr;
  UndoRecord* at = bucket.first.load(std::memory_order_relaxed);
  while (at != nullptr && !is_of(*at, tree, key, hash)) at = at->next_key;
  return at;
}

VersionIndex::Way VersionIndex::way_to(const UndoRecord* newest, TreeId tree, PageId leaf,
                                       Bytes key, const Viewer& viewer) noexcept {
  Way way;
  const UndoRecord* at = newest;
  if (!runs_.empty()) [[unlikely]] {
    for (; at != nullptr && at->over_run && !is_visible(*at, viewer); at = at->older)
      way.hidden = at;
    if (at == nullptr || !at->over_run)
      runs_.find(tree, leaf, key, [&](const UndoRecord& run) {
        way.run = is_visible(run, viewer) ? Way::Run::seen : Way::Run::hidden;
        way.run_writer = run.log->serial.load(std::memory_order_relaxed);
        if (way.run == Way::Run::seen && run.log != viewer.own)
          way.run_commit = Lsn{run.log->outcome.load(std::memory_order_relaxed)};
      });
    if (way.run != Way::Run::none) return way;
  }
  for (; at != nullptr && !is_visible(*at, viewer); at = at->older) {
    if (planted(PlantedFault::chain_one_too_few) && way.hidden != nullptr) break;
    way.hidden = at;
  }
  way.seen = at;
  return way;
}

void VersionIndex::add(UndoRecord& record, PageId leaf) noexcept {
  record.over_run = runs_.has(record.tree, leaf, record.key());
  Bucket& bucket = bucket_of(record.key_hash);
  const std::lock_guard hold(bucket.mutex);
  UndoRecord* before = nullptr;
  UndoRecord* at =
      bucket.may_have(record.key_hash) ? bucket.first.load(std::memory_order_relaxed) : nullptr;
  while (at != nullptr && !is_of(*at, record.tree, record.key(), record.key_hash)) {
    before = at;
    at = at->next_key;
  }
  if (at == nullptr) {
    put_in_front(bucket, record);
    return;
  }
  // The new record is the key's newest now.
  record.older = at;
  at->newer = &record;
  record.next_key = std::exchange(at->next_key, nullptr);
  if (before != nullptr)
    before->next_key = &record;
  else
    bucket.first.store(&record, std::memory_order_release);
}

void VersionIndex::add_first(UndoRecord& record) noexcept {
  INVARIANT_SLOW(!has(record.tree, record.key(), record.key_hash, PageId::none));
  push(record);
}

void VersionIndex::add_over_settled(UndoRecord& record, PageId leaf) noexcept {
  record.over_run = runs_.has(record.tree, leaf, record.key());
  push(record);
}

void VersionIndex::push(UndoRecord& record) noexcept {
  Bucket& bucket = bucket_of(record.key_hash);
  const std::lock_guard hold(bucket.mutex);
  put_in_front(bucket, record);
}

void VersionIndex::put_in_front(Bucket& bucket, UndoRecord& record) noexcept {
  bucket.note(record.key_hash);
  record.next_key = bucket.first.load(std::memory_order_relaxed);
  bucket.first.store(&record, std::memory_order_release);
}

void VersionIndex::undone(UndoRecord& record) noexcept {
  if (record.kind == UndoRecord::Kind::removed_run) {
    const RemovedRun run(record);
    run.drop_last();
    if (run.left() != 0) return;
  }
  remove(record);
}

void VersionIndex::remove(UndoRecord& record) noexcept {
  if (record.kind == UndoRecord::Kind::removed_run) {
    runs_.remove(record);
    return;
  }
  Bucket& bucket = bucket_of(record.key_hash);
  const std::lock_guard hold(bucket.mutex);
  if (record.newer != nullptr) {
    record.newer->older = record.older;
    if (record.older != nullptr) record.older->newer = record.newer;
    return;
  }
  UndoRecord* before = nullptr;
  for (UndoRecord* at = bucket.first.load(std::memory_order_relaxed); at != &record;
       at = at->next_key)
    before = at;
  UndoRecord* heir = record.older;
  UndoRecord* next = record.next_key;
  if (heir != nullptr) {
    heir->newer = nullptr;
    heir->next_key = next;
    next = heir;
  }
  if (before != nullptr)
    before->next_key = next;
  else
    bucket.first.store(next, std::memory_order_release);
  if (bucket.first.load(std::memory_order_relaxed) == nullptr) bucket.forget();
}

void VersionIndex::replace(UndoRecord& record, UndoRecord& copy) noexcept {
  Bucket& bucket = bucket_of(record.key_hash);
  const std::lock_guard hold(bucket.mutex);
  copy.older = record.older;
  copy.newer = record.newer;
  copy.next_key = record.next_key;
  copy.over_run = record.over_run;
  if (copy.older != nullptr) copy.older->newer = &copy;
  if (copy.newer != nullptr) {
    copy.newer->older = &copy;
    return;
  }
  UndoRecord* before = nullptr;
  for (UndoRecord* at = bucket.first.load(std::memory_order_relaxed); at != &record;
       at = at->next_key)
    before = at;
  if (before != nullptr)
    before->next_key = &copy;
  else
    bucket.first.store(&copy, std::memory_order_release);
}

Lsn VersionIndex::made_at(const UndoRecord& record) noexcept {
  Bucket& bucket = bucket_of(record.key_hash);
  const std::lock_guard hold(bucket.mutex);
  if (record.older == nullptr) return Lsn::none;
  return Lsn{record.older->log->outcome.load(std::memory_order_relaxed)};
}

/// Returns kActive, or the commit record's LSN. In the second case the record has been appended.
std::uint64_t VersionIndex::outcome_of(const UndoOutcome& log) noexcept {
  std::uint64_t outcome = log.outcome.load(std::memory_order_acquire);
  for (SpinWait wait; outcome == UndoLog::kCommitting;) {
    wait.once();
    outcome = log.outcome.load(std::memory_order_acquire);
  }
  return outcome;
}

/// Returns the mark that the writer of a change has on its key.
VersionIndex::Mark VersionIndex::mark_of(const UndoRecord& newest, const UndoLog* own) noexcept {
  Mark mark;
  mark.is_own = newest.log == own;
  if (!mark.is_own) {
    const std::uint64_t outcome = outcome_of(*newest.log);
    if (outcome != UndoLog::kActive) return {.commit = Lsn{outcome}};
    mark.holder = newest.log->covers.load(std::memory_order_acquire);
    if (mark.holder == lock::TransactionLock::none) return {};
  }
  mark.access = newest.access();
  return mark;
}

VersionIndex::Mark VersionIndex::mark_of(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf,
                                         const UndoLog* own) noexcept {
  Bucket& bucket = bucket_of(hash);
  if (bucket.first.load(std::memory_order_acquire) == nullptr && runs_.empty()) return {};
  const std::lock_guard hold(bucket.mutex);
  const UndoRecord* const newest = newest_of(bucket, tree, key, hash);
  Mark mark;
  if ((newest == nullptr || !newest->over_run) &&
      runs_.find(tree, leaf, key, [&](const UndoRecord& run) { mark = mark_of(run, own); }))
    return mark;
  if (newest == nullptr) return {};
  mark = mark_of(*newest, own);
  if (mark.access == lock::Access::none) return mark;
  for (const UndoRecord* at = newest; at != nullptr && at->log == newest->log; at = at->older) {
    mark.access = combine(mark.access, at->access());
    if (mark.access == lock::Access::exclusive) break;
  }
  return mark;
}

bool VersionIndex::is_visible(const UndoRecord& record, const Viewer& viewer) noexcept {
  if (record.log == viewer.own) return viewer.statement == 0 || record.statement < viewer.statement;
  const std::uint64_t outcome = outcome_of(*record.log);
  return outcome != UndoLog::kActive && Lsn{outcome} < viewer.snapshot;
}

bool VersionIndex::changed_since(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf,
                                 const Viewer& viewer) noexcept {
  Bucket& bucket = bucket_of(hash);
  const std::lock_guard hold(bucket.mutex);
  const UndoRecord* newest = newest_of(bucket, tree, key, hash);
  bool changed = false;
  const auto look = [&](const UndoRecord& run) {
    changed = run.log != viewer.own && !is_visible(run, viewer);
  };
  if ((newest == nullptr || !newest->over_run) && runs_.find(tree, leaf, key, look)) return changed;
  if (newest == nullptr) return viewer.unversioned == Viewer::Unversioned::hidden;
  return newest->log != viewer.own && !is_visible(*newest, viewer);
}

const UndoRecord* VersionIndex::first_after(const UndoRecord* newest, const Viewer& viewer,
                                            const Tree::KeyPath& path) noexcept {
  const UndoRecord* hidden = nullptr;
  for (const UndoRecord* at = newest; at != nullptr; at = at->older) {
    if (path.at != nullptr ? at == path.at : is_visible(*at, viewer)) return hidden;
    hidden = at;
  }
  return path.at != nullptr ? nullptr : hidden;
}

Error VersionIndex::conflict(TreeId tree, Bytes key, std::uint64_t hash, const Viewer& viewer) {
  const bool is_gone = fate(tree, key, hash, viewer) == Tree::Fate::gone;
  return {sqlstate::serialization_failure,
          is_gone ? "could not serialize access due to concurrent delete"
                  : "could not serialize access due to concurrent update"};
}

std::size_t VersionIndex::longest_uncommitted(TreeId tree, Bytes key, std::uint64_t hash) noexcept {
  Bucket& bucket = bucket_of(hash);
  if (bucket.first.load(std::memory_order_acquire) == nullptr) return 0;
  const std::lock_guard hold(bucket.mutex);
  std::size_t longest = 0;
  for (const UndoRecord* at = newest_of(bucket, tree, key, hash);
       at != nullptr && at->log->outcome.load(std::memory_order_relaxed) <= UndoLog::kCommitting;
       at = at->older)
    longest = std::max<std::size_t>(longest, at->old_size);
  return longest;
}

bool VersionIndex::has(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf) noexcept {
  if (runs_.has(tree, leaf, key)) return true;
  Bucket& bucket = bucket_of(hash);
  if (bucket.first.load(std::memory_order_acquire) == nullptr) return false;
  const std::lock_guard hold(bucket.mutex);
  return newest_of(bucket, tree, key, hash) != nullptr;
}

bool VersionIndex::may_have(TreeId tree, Bytes key, std::uint64_t hash, PageId leaf) noexcept {
  if (runs_.has(tree, leaf, key)) return true;
  Bucket& bucket = bucket_of(hash);
  if (bucket.first.load(std::memory_order_acquire) == nullptr) return false;
  const std::lock_guard hold(bucket.mutex);
  return bucket.may_have(hash);
}

const void* VersionIndex::find_first_swapped_out(std::uint64_t hash, PageId leaf) noexcept {
  // Older versions of the key that are checked. A reader that needs more of them waits for them
  // under the latch.
  constexpr int kVersions = 8;
  if (const void* const at = runs_.first_swapped_out(leaf)) return at;
  Bucket& bucket = bucket_of(hash);
  if (bucket.first.load(std::memory_order_acquire) == nullptr) return nullptr;
  const std::lock_guard hold(bucket.mutex);
  if (!bucket.may_have(hash)) return nullptr;
  for (const UndoRecord* key = bucket.first.load(std::memory_order_relaxed); key != nullptr;
       key = key->next_key) {
    if (const void* const at = key->first_swapped_out()) return at;
    if (key->key_hash != hash) continue;
    const UndoRecord* version = key->older;
    for (int i = 0; i < kVersions && version != nullptr; ++i, version = version->older)
      if (const void* const at = version->first_swapped_out()) return at;
  }
  return nullptr;
}

const void* VersionIndex::find_first_swapped_out_before(const UndoRecord& record) noexcept {
  if (const void* const at = record.first_swapped_out()) return at;
  if (record.kind == UndoRecord::Kind::removed_run)
    return runs_.first_swapped_out(RemovedRun(record).first_place().leaf);
  Bucket& bucket = bucket_of(record.key_hash);
  const std::lock_guard hold(bucket.mutex);
  for (const UndoRecord* const neighbour : {record.newer, record.older})
    if (swapped_out::has(neighbour)) return neighbour;
  if (record.newer != nullptr) return nullptr;
  for (const UndoRecord* at = bucket.first.load(std::memory_order_relaxed); at != &record;
       at = at->next_key)
    if (swapped_out::has(at)) return at;
  return nullptr;
}

}  // namespace swizzle

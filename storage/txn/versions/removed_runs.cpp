#include "storage/txn/versions/removed_runs.h"

#include <cstring>
#include <new>
#include <vector>

#include "base/invariant.h"
#include "base/memory/swapped_out.h"

namespace swizzle {

std::size_t RemovedRun::bytes_for(std::span<const Removal> removals) noexcept {
  std::size_t bytes = sizeof(Head) + (removals.size() + 1) * sizeof(std::uint32_t);
  for (const Removal& removal : removals) bytes += removal.key.size();
  return bytes;
}

void RemovedRun::write(UndoRecord& record, std::span<const Removal> removals, Lsn lsn) noexcept {
  const auto count = static_cast<std::uint32_t>(removals.size());
  auto* const head = new (&record + 1) Head{{}, lsn, count, count};
  head->first_place.run = &record;
  const RemovedRun run(record);
  std::uint32_t* const offsets = run.offsets();
  std::byte* const keys = run.keys();
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Bytes key = removals[i].key;
    offsets[i] = end;
    std::memcpy(keys + end, key.data(), key.size());
    end += static_cast<std::uint32_t>(key.size());
  }
  offsets[count] = end;
}

std::size_t RemovedRun::bytes() const noexcept {
  const std::uint32_t count = head().count;
  return sizeof(Head) + (count + std::size_t{1}) * sizeof(std::uint32_t) + offsets()[count];
}

Bytes RemovedRun::key(std::uint32_t number) const noexcept {
  const std::uint32_t* const at = offsets() + number;
  return {keys() + at[0], at[1] - at[0]};
}

bool RemovedRun::has(Bytes wanted) const noexcept {
  std::uint32_t begin = 0;
  std::uint32_t end = left();
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    const auto order = compare(key(middle), wanted);
    if (order == 0) return true;
    if (order < 0)
      begin = middle + 1;
    else
      end = middle;
  }
  return false;
}

const void* RemovedRun::first_swapped_out() const noexcept {
  if (const void* const at = record_.first_swapped_out()) return at;
  const void* const head_end = offsets() - 1;
  if (swapped_out::has(head_end)) return head_end;
  const std::uint32_t* const last_offset = offsets() + head().count;
  if (swapped_out::has(last_offset)) return last_offset;
  const std::byte* const last = keys() + *last_offset;
  return swapped_out::has(last) ? last : nullptr;
}

RemovedRuns::RemovedRuns() : buckets_(static_cast<Bucket*>(std::calloc(kBuckets, sizeof(Bucket)))) {
  if (buckets_ == nullptr) throw std::bad_alloc{};
}

const void* RemovedRuns::first_swapped_out(PageId leaf) noexcept {
  if (empty()) return nullptr;
  Bucket& bucket = bucket_of(leaf);
  if (bucket.first.load(std::memory_order_acquire) == nullptr) return nullptr;
  const std::lock_guard hold(bucket.mutex);
  for (const RunPlace* place = bucket.first.load(std::memory_order_relaxed); place != nullptr;
       place = place->next) {
    const void* const end = reinterpret_cast<const std::byte*>(place + 1) - 1;
    if (swapped_out::has(place)) return place;
    if (swapped_out::has(end)) return end;
    if (place->leaf != leaf) continue;
    if (const void* const at = RemovedRun(*place->run).first_swapped_out()) return at;
  }
  return nullptr;
}

void RemovedRuns::put(RunPlace& place) noexcept {
  Bucket& bucket = bucket_of(place.leaf);
  const std::lock_guard hold(bucket.mutex);
  place.next = bucket.first.load(std::memory_order_relaxed);
  bucket.first.store(&place, std::memory_order_release);
}

void RemovedRuns::take_out(const RunPlace& place) noexcept {
  Bucket& bucket = bucket_of(place.leaf);
  const std::lock_guard hold(bucket.mutex);
  RunPlace* at = bucket.first.load(std::memory_order_relaxed);
  if (at == &place) {
    bucket.first.store(place.next, std::memory_order_release);
    return;
  }
  while (at->next != &place) at = at->next;
  at->next = place.next;
}

void RemovedRuns::add(UndoRecord& run, PageId leaf) noexcept {
  RunPlace& place = RemovedRun(run).first_place();
  place.leaf = leaf;
  // Incremented before the leaf's latch is released, which publishes it.
  count_.fetch_add(1, std::memory_order_release);
  put(place);
}

void RemovedRuns::remove(UndoRecord& run) noexcept {
  const std::lock_guard hold(places_mutex_);
  RunPlace& first = RemovedRun(run).first_place();
  take_out(first);
  for (RunPlace* place = std::exchange(first.other, nullptr); place != nullptr;) {
    take_out(*place);
    extras_.erase(std::exchange(place, place->other)->own);
  }
  count_.fetch_sub(1, std::memory_order_release);
}

void RemovedRuns::records_moved(PageId from, PageId to) noexcept {
  if (empty()) return;
  const std::lock_guard hold(places_mutex_);
  copy_places(from, to);
}

/// Pre: places_mutex_ is held, so no run leaves meanwhile, nor gets a place at `to`.
void RemovedRuns::copy_places(PageId from, PageId to) noexcept {
  std::vector<UndoRecord*> there;
  const auto for_each_at = [&](PageId leaf, auto&& visit) {
    Bucket& bucket = bucket_of(leaf);
    const std::lock_guard hold(bucket.mutex);
    for (RunPlace* place = bucket.first.load(std::memory_order_relaxed); place != nullptr;
         place = place->next)
      if (place->leaf == leaf) visit(*place->run);
  };
  for_each_at(from, [&](UndoRecord& run) { there.push_back(&run); });
  if (there.empty()) return;
  for_each_at(to, [&](UndoRecord& run) { std::erase(there, &run); });
  for (UndoRecord* const run : there) {
    RunPlace& first = RemovedRun(*run).first_place();
    extras_.push_front({.next = nullptr, .other = first.other, .run = run, .leaf = to});
    first.other = &extras_.front();
    first.other->own = extras_.begin();
    put(*first.other);
  }
}

}  // namespace swizzle

#include "storage/buffer/page_table.h"

#include <bit>
#include <mutex>

#include "storage/buffer/pool_fault.h"

namespace swizzle {
namespace {

void push_front(std::atomic<Frame*>& bucket, Frame& frame) noexcept {
  frame.next_in_bucket.store(bucket.load(std::memory_order_relaxed), std::memory_order_relaxed);
  // Release: publishes the frame's page to readers without a latch.
  bucket.store(&frame, std::memory_order_release);
}

}  // namespace

PageTable::PageTable(std::uint32_t frames)
    : shift_(64U - static_cast<unsigned>(std::countr_zero(
                       std::bit_ceil(std::max<std::uint64_t>(frames, kPartitions))))),
      buckets_(std::size_t{1} << (64U - shift_)),
      partition_memory_(std::make_unique<std::array<Partition, kPartitions>>()),
      partitions_(*partition_memory_) {}

Frame* PageTable::find(PageId page) noexcept {
  const std::lock_guard hold(partition_of(page).mutex);
  return find_latched(page);
}

void PageTable::insert(Frame& frame) noexcept {
  const PageId page = frame.page_id();
  Partition& partition = partition_of(page);
  const std::lock_guard hold(partition.mutex);
  Partition::add(partition.resident, 1);
  push_front(buckets_[bucket_of(page)], frame);
}

bool PageTable::remove(Frame& frame, PageId page) noexcept {
  if (planted(PoolFault::number_read_late)) page = frame.page_id();
  Partition& partition = partition_of(page);
  const std::lock_guard hold(partition.mutex);
  std::atomic<Frame*>* link = &buckets_[bucket_of(page)];
  while (Frame* at = link->load(std::memory_order_relaxed)) {
    if (at == &frame) {
      // A frame keeps its number while it is in the table. Here it may be in the same chain for a
      // page that came later.
      if (frame.page_id() != page) return false;
      link->store(frame.next_in_bucket.load(std::memory_order_relaxed), std::memory_order_release);
      Partition::add(partition.resident, UINT32_MAX);
      return true;
    }
    link = &at->next_in_bucket;
  }
  return false;
}

PageTable::Claim PageTable::try_claim_read(PageId page) {
  Partition& partition = partition_of(page);
  const std::lock_guard hold(partition.mutex);
  if (find_latched(page) != nullptr) return Claim::resident;
  if (!partition.reads.try_emplace(raw(page), nullptr).second) return Claim::being_read;
  Partition::add(partition.being_read, 1);
  return Claim::reader;
}

Result<> PageTable::wait_for_read(PageId page) {
  Partition& partition = partition_of(page);
  Waiter self(Runtime::current().parker());
  {
    const std::lock_guard hold(partition.mutex);
    const auto read = partition.reads.find(raw(page));
    if (read == partition.reads.end()) return {};
    self.next = read->second;
    read->second = &self;
  }
  while (true) {
    self.parker->park();
    // The reader unparks us under the mutex, so once we hold it, it has released `self`.
    const std::lock_guard hold(partition.mutex);
    if (self.done) break;
  }
  if (self.error) return fail(std::move(*self.error));
  return {};
}

void PageTable::finish_read(PageId page, Frame* frame, const Error* error) noexcept {
  Partition& partition = partition_of(page);
  const std::lock_guard hold(partition.mutex);
  // In one step with the end of the claim: a thread that has found the page, and frees it under
  // latches, must not find the claim.
  if (frame != nullptr) {
    Partition::add(partition.resident, 1);
    push_front(buckets_[bucket_of(page)], *frame);
  }
  const auto entry = partition.reads.find(raw(page));
  INVARIANT(entry != partition.reads.end());
  for (Waiter* waiter = entry->second; waiter != nullptr;) {
    Waiter* next = waiter->next;
    if (error != nullptr) waiter->error = std::make_unique<Error>(error->state(), error->message());
    waiter->done = true;
    waiter->parker->unpark();
    waiter = next;
  }
  partition.reads.erase(entry);
  Partition::add(partition.being_read, UINT32_MAX);
}

PageTable::Counts PageTable::counts() const noexcept {
  Counts counts;
  for (const Partition& partition : partitions_) {
    counts.resident += partition.resident.load(std::memory_order_relaxed);
    counts.being_read += partition.being_read.load(std::memory_order_relaxed);
  }
  return counts;
}

}  // namespace swizzle

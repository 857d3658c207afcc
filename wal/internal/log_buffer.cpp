#include "wal/internal/log_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/invariant.h"

namespace swizzle::wal {
namespace {

std::byte* map_zeroed(std::size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  // Only advice: small pages serve as well, at more cost per direct write.
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  if (bytes >= kHugePage) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
  return static_cast<std::byte*>(memory);
}

std::atomic_ref<std::uint64_t> head_at(std::byte* record) noexcept {
  return std::atomic_ref{*static_cast<std::uint64_t*>(static_cast<void*>(record))};
}

}  // namespace

void LogBuffer::Unmap::operator()(std::byte* memory) const noexcept {
  static_cast<void>(munmap(memory, bytes));
}

LogBuffer::LogBuffer(std::size_t capacity, InsertMode mode, std::size_t slots,
                     std::uint64_t database_id)
    : capacity_(capacity),
      mode_(mode),
      database_id_(database_id),
      memory_(map_zeroed(capacity + kMaxRecordBytes), Unmap{capacity + kMaxRecordBytes}),
      array_(slots) {
  INVARIANT(std::has_single_bit(capacity) && capacity % kWriteUnit == 0);
}

void LogBuffer::start_at(Lsn tail) noexcept {
  tail_.store(raw(tail), std::memory_order_release);
}

LogBuffer::Placed LogBuffer::insert(const EncodedHeader& header, std::span<const Bytes> payload,
                                    std::size_t total_bytes) noexcept {
  std::uint64_t start = 0;
  switch (mode_) {
    case InsertMode::plain_mutex: {
      const std::lock_guard guard{plain_mutex_};
      start = tail_.fetch_add(total_bytes, std::memory_order_acq_rel);
      fill(start, header, payload, total_bytes);
      return {start, start + total_bytes};
    }
    case InsertMode::consolidation_array:
      start = array_.allot(tail_, total_bytes);
      break;
    case InsertMode::atomic_tail:
      // Acquire and release: see ConsolidationArray::allot.
      start = tail_.fetch_add(total_bytes, std::memory_order_acq_rel);
      break;
  }
  fill(start, header, payload, total_bytes);
  return {start, start + total_bytes};
}

void LogBuffer::fill(std::uint64_t start, const EncodedHeader& header,
                     std::span<const Bytes> payload, std::size_t total_bytes) noexcept {
  const std::size_t at = start & (capacity_ - 1);
  std::byte* const record = memory_.get() + at;
  const std::uint64_t head =
      write_body(record, header, payload, total_bytes, Lsn{start}, database_id_);
  if (at + total_bytes > capacity_) {
    std::memcpy(memory_.get(), memory_.get() + capacity_, at + total_bytes - capacity_);
  }
  // Release: a thread that sees the head sees the whole record.
  head_at(record).store(head, std::memory_order_release);
}

std::uint64_t LogBuffer::published_from(std::uint64_t from, std::uint64_t limit) const noexcept {
  // When the ring is full, bytes after the tail are not cleared yet.
  const std::uint64_t stop = std::min(limit, tail());
  while (from < stop) {
    // Acquire: with the head we see the record.
    const std::uint64_t head =
        head_at(memory_.get() + (from & (capacity_ - 1))).load(std::memory_order_acquire);
    if (head == 0) break;
    from += length_of(head);
  }
  return from;
}

MutableBytes LogBuffer::piece(std::uint64_t at, std::uint64_t end) noexcept {
  const std::size_t offset = at & (capacity_ - 1);
  return {memory_.get() + offset, std::min<std::size_t>(end - at, capacity_ - offset)};
}

void LogBuffer::copy_out(std::uint64_t from, std::uint64_t end, std::byte* into) noexcept {
  while (from < end) {
    const MutableBytes part = piece(from, end);
    std::memcpy(into, part.data(), part.size());
    into += part.size();
    from += part.size();
  }
}

void LogBuffer::clear(std::uint64_t from, std::uint64_t end) noexcept {
  while (from < end) {
    const MutableBytes part = piece(from, end);
    std::memset(part.data(), 0, part.size());
    from += part.size();
  }
}

}  // namespace swizzle::wal

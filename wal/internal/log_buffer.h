#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/bytes.h"
#include "base/ids.h"
#include "wal/internal/consolidation_array.h"
#include "wal/log_options.h"
#include "wal/record.h"

namespace swizzle::wal {

/// The ring of log bytes that are not on disk yet. LSN x lies at x modulo the capacity.
///
/// A record publishes itself: its first eight bytes are stored last. The room ahead of the tail is
/// zero, so a walk of the ring from a record's start can tell a finished record from one that is
/// still being copied. This is delegated publication: no inserter waits for another, the writer
/// walks.
class LogBuffer {
 public:
  /// Pre: `capacity` is a power of two and a multiple of kWriteUnit.
  LogBuffer(std::size_t capacity, InsertMode mode, std::size_t slots, std::uint64_t database_id);

  /// Sets the position at which the log continues. Pre: no thread uses the buffer yet.
  void start_at(Lsn tail) noexcept;

  /// The place of an inserted record.
  struct Placed {
    std::uint64_t start;
    std::uint64_t end;
  };
  /// Pre: the caller has credits for record_bytes(header, payload).
  Placed insert(const EncodedHeader& header, std::span<const Bytes> payload,
                std::size_t total_bytes) noexcept;

  /// The end of the unbroken run of finished records that begins at `from`, or the first record
  /// boundary at or after `limit`. Pre: `from` is a record boundary.
  [[nodiscard]] std::uint64_t published_from(std::uint64_t from,
                                             std::uint64_t limit) const noexcept;

  /// Returns [at, at + result.size()), the part of [at, end) that is contiguous in memory.
  [[nodiscard]] MutableBytes piece(std::uint64_t at, std::uint64_t end) noexcept;
  /// Copies [from, end) to `into`.
  void copy_out(std::uint64_t from, std::uint64_t end, std::byte* into) noexcept;
  /// Makes [from, end) room again. Pre: it is durable.
  void clear(std::uint64_t from, std::uint64_t end) noexcept;

  [[nodiscard]] std::uint64_t tail() const noexcept {
    return tail_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// Returns the statistics of the consolidation array.
  [[nodiscard]] ConsolidationArray::Statistics group_statistics() const noexcept {
    return array_.statistics();
  }

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const noexcept;
  };

  void fill(std::uint64_t start, const EncodedHeader& header, std::span<const Bytes> payload,
            std::size_t total_bytes) noexcept;

  std::size_t capacity_;
  InsertMode mode_;
  std::uint64_t database_id_;
  // The ring, and after it room for one record: a record that crosses the end is written
  // contiguously, and its part after the end is copied to the front.
  std::unique_ptr<std::byte, Unmap> memory_;
  ConsolidationArray array_;
  std::mutex plain_mutex_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

}  // namespace swizzle::wal

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/ids.h"

namespace swizzle {

/// At which LSN each page was when it was written last, as far as that was since the start. A write
/// that the device has acknowledged and lost leaves an older page in its place, whole by checksum
/// and number: by this it is known when it is read. Eight bytes for each page written, in chunks.
/// Thread-safe; who reads a page that is being written learns either.
class WrittenLsns {
 public:
  WrittenLsns() noexcept = default;
  WrittenLsns(const WrittenLsns&) = delete;
  WrittenLsns& operator=(const WrittenLsns&) = delete;
  ~WrittenLsns();

  /// It is durable in its place. What there is no memory for is not known.
  void note(PageId page, Lsn lsn) noexcept;
  /// None: it was not written since the start.
  [[nodiscard]] Lsn of(PageId page) const noexcept;

 private:
  static constexpr std::uint64_t kChunkPages = std::uint64_t{1} << 16U;
  /// Pages behind two terabytes are not known.
  static constexpr std::size_t kChunks = std::size_t{1} << 12U;
  using Chunk = std::array<std::atomic<Lsn>, kChunkPages>;

  Chunk* chunk_for(std::size_t index) noexcept;

  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
};

}  // namespace swizzle

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/io/file.h"
#include "base/memory/aligned_buffer.h"
#include "base/result.h"
#include "wal/internal/segment.h"
#include "wal/older_segments.h"
#include "wal/reader.h"

namespace swizzle::wal {

/// A part of the log in memory, moved over the segment files as needed.
class LogWindow {
 public:
  /// Loads `chunk_bytes` at a time, more if a record needs more.
  LogWindow(LogLocation location, std::size_t chunk_bytes)
      : LogWindow(std::move(location), chunk_bytes, chunk_bytes) {}
  /// The same, but decode_at() loads only `near_bytes` for a record close to the loaded part, in
  /// its direction: records of a page that changes often are close to each other.
  LogWindow(LogLocation location, std::size_t chunk_bytes, std::size_t near_bytes);

  /// Returns [at, at + size); fewer bytes if a segment file is missing. The missing end of a
  /// truncated file reads as zeros. Valid until the next call.
  Result<Bytes> bytes(std::uint64_t at, std::size_t size);
  /// As bytes(at, size), but loads bytes before `at` rather than after it, for reading backward.
  Result<Bytes> bytes_backward(std::uint64_t at, std::size_t size);

  /// Decodes the record at `at`. `needs_more`: it continues in a missing segment.
  Result<Decoding> decode_at(std::uint64_t at, Record& record);
  /// Returns the first valid record that starts in [from, limit). Tries every possible position.
  Result<std::optional<Record>> search(std::uint64_t from, std::uint64_t limit);

  /// Limits loading to the written part of the log. Drops the loaded bytes of the block with the
  /// previous limit, since it may have been read half full.
  void set_limit(std::uint64_t limit) noexcept;
  [[nodiscard]] const LogLocation& location() const noexcept { return location_; }
  /// Returns the identifier to which a record at `at` is bound.
  [[nodiscard]] std::uint64_t database_id_at(std::uint64_t at) const noexcept {
    const auto& older = location_.older;
    return older && at < raw(older->resumes_at) ? older->database_id : location_.database_id;
  }
  [[nodiscard]] const SegmentGeometry& geometry() const noexcept { return geometry_; }

 private:
  /// Bytes that a caller asks for.
  struct Wanted {
    std::uint64_t at;
    std::size_t size;
    /// Fewer will do, but not fewer than these.
    std::size_t least;
  };
  // Returns the loaded bytes from `at` on; loads first if there are none.
  Result<Bytes> rest(std::uint64_t at);
  Result<Bytes> bytes_of_record(const Wanted& wanted);
  Result<Bytes> bytes_ahead(const Wanted& wanted, std::size_t chunk);
  Result<Bytes> loaded(const Wanted& wanted, std::uint64_t load_from, std::uint64_t load_to);
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> without_absent(const Wanted& wanted,
                                                                       std::uint64_t from,
                                                                       std::uint64_t to) const;
  Result<> load_range(std::uint64_t from, std::uint64_t to);
  Result<bool> open_segment(std::uint64_t number);
  Result<bool> open_older_segment(std::uint64_t number);
  [[nodiscard]] bool is_older(std::uint64_t number) const noexcept;
  Result<> read_segment_part(std::uint64_t at, MutableBytes into);

  LogLocation location_;
  SegmentGeometry geometry_;
  std::size_t chunk_bytes_;
  std::size_t near_bytes_;
  std::optional<AlignedBuffer> memory_;
  std::uint64_t limit_ = UINT64_MAX;
  // Loaded: [start_, end_).
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
  // The segment read last.
  std::unique_ptr<File> file_;
  std::uint64_t file_number_ = 0;
  std::uint64_t file_size_ = 0;
};

}  // namespace swizzle::wal

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Bytes of the log are in segment files of equal size. Segment n has the LSNs from n *
/// segment_bytes on, after a header of one write unit. A record may cross a segment boundary.
inline constexpr std::uint64_t kSegmentHeaderBytes = kWriteUnit;
inline constexpr std::uint64_t kSmallestSegmentBytes = std::uint64_t{64} << 10U;
/// Segment 0 does not exist, so no record has LSN 0.
inline constexpr std::uint64_t kFirstSegment = 1;

class SegmentGeometry {
 public:
  SegmentGeometry() = default;
  explicit constexpr SegmentGeometry(std::uint64_t segment_bytes) : bytes_(segment_bytes) {}

  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] constexpr std::uint64_t file_bytes() const noexcept {
    return bytes_ + kSegmentHeaderBytes;
  }
  [[nodiscard]] constexpr std::uint64_t number_of(std::uint64_t lsn) const noexcept {
    return lsn / bytes_;
  }
  [[nodiscard]] constexpr std::uint64_t first_lsn(std::uint64_t number) const noexcept {
    return number * bytes_;
  }
  [[nodiscard]] constexpr std::uint64_t end_of(std::uint64_t lsn) const noexcept {
    return first_lsn(number_of(lsn) + 1);
  }
  [[nodiscard]] constexpr std::uint64_t file_offset(std::uint64_t lsn) const noexcept {
    return kSegmentHeaderBytes + lsn % bytes_;
  }

 private:
  std::uint64_t bytes_ = 0;
};

/// First block of a segment file (docs/log-format.md).
struct SegmentHeader {
  std::uint64_t segment_bytes = 0;
  std::uint64_t number = 0;
  std::uint64_t database_id = 0;
  /// Timeline in which the segment was begun.
  std::uint32_t timeline = 1;

  friend bool operator==(const SegmentHeader&, const SegmentHeader&) = default;
};

inline constexpr std::uint32_t kLogFormatVersion = 1;

void encode_segment_header(const SegmentHeader& header,
                           std::span<std::byte, kSegmentHeaderBytes> into) noexcept;
/// XX001 if the block is damaged or no header, 0A000 for another format version. `name` is for the
/// message.
Result<SegmentHeader> decode_segment_header(std::span<const std::byte, kSegmentHeaderBytes> block,
                                            std::string_view name);

/// Returns a segment's file name: sixteen hexadecimal digits and ".log".
std::string segment_name(std::uint64_t number);
std::optional<std::uint64_t> segment_number(std::string_view name);
/// Returns the name of an older log's segment (OlderLog): segment_name() and ".older".
std::string older_segment_name(std::uint64_t number);
std::optional<std::uint64_t> older_segment_number(std::string_view name);

/// Rounds to the write unit.
constexpr std::uint64_t block_floor(std::uint64_t lsn) noexcept {
  return lsn & ~(std::uint64_t{kWriteUnit} - 1);
}
constexpr std::uint64_t block_ceiling(std::uint64_t lsn) noexcept {
  return block_floor(lsn + kWriteUnit - 1);
}

}  // namespace swizzle::wal

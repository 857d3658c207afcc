#include "wal/internal/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/checksum.h"

namespace swizzle::wal {
namespace {

constexpr std::array<char, 8> kMagic{'S', 'W', 'Z', 'L', 'O', 'G', '\r', '\n'};

// Stored form of a segment's header, little-endian.
struct StoredHeader {
  std::array<char, 8> magic;
  std::uint32_t format_version;
  std::uint32_t header_bytes;
  std::uint64_t segment_bytes;
  std::uint64_t number;
  std::uint64_t database_id;
  std::uint32_t timeline;  ///< 0, as written before timelines existed, means 1
  std::uint32_t reserved;
  std::uint64_t checksum;  // of everything before it
};
static_assert(sizeof(StoredHeader) == 56);
static_assert(offsetof(StoredHeader, format_version) == 8);
static_assert(offsetof(StoredHeader, segment_bytes) == 16);
static_assert(offsetof(StoredHeader, number) == 24);
static_assert(offsetof(StoredHeader, database_id) == 32);
static_assert(offsetof(StoredHeader, timeline) == 40);
static_assert(offsetof(StoredHeader, checksum) == 48);

std::uint64_t checksum_of(const StoredHeader& header) noexcept {
  return checksum(std::as_bytes(std::span{&header, 1}).first(offsetof(StoredHeader, checksum)), 0);
}

constexpr std::string_view kSuffix = ".log";
constexpr std::string_view kOlderSuffix = ".older";
constexpr std::size_t kDigits = 16;

}  // namespace

void encode_segment_header(const SegmentHeader& header,
                           std::span<std::byte, kSegmentHeaderBytes> into) noexcept {
  StoredHeader stored{.magic = kMagic,
                      .format_version = kLogFormatVersion,
                      .header_bytes = kSegmentHeaderBytes,
                      .segment_bytes = header.segment_bytes,
                      .number = header.number,
                      .database_id = header.database_id,
                      .timeline = header.timeline,
                      .reserved = 0,
                      .checksum = 0};
  stored.checksum = checksum_of(stored);
  std::memset(into.data(), 0, into.size());
  store(into.data(), stored);
}

Result<SegmentHeader> decode_segment_header(std::span<const std::byte, kSegmentHeaderBytes> block,
                                            std::string_view name) {
  const auto stored = load<StoredHeader>(block.data());
  if (stored.magic != kMagic) {
    return fail(sqlstate::data_corrupted, fmt::format("\"{}\" is not a log segment", name));
  }
  if (stored.format_version != kLogFormatVersion) {
    return fail(sqlstate::feature_not_supported,
                fmt::format("log segment \"{}\" has format version {}, this program reads {}", name,
                            stored.format_version, kLogFormatVersion));
  }
  if (stored.checksum != checksum_of(stored) || stored.header_bytes != kSegmentHeaderBytes ||
      stored.segment_bytes < kSmallestSegmentBytes || !std::has_single_bit(stored.segment_bytes)) {
    return fail(sqlstate::data_corrupted,
                fmt::format("the header of log segment \"{}\" is damaged", name));
  }
  return SegmentHeader{stored.segment_bytes, stored.number, stored.database_id,
                       std::max(stored.timeline, std::uint32_t{1})};
}

std::string segment_name(std::uint64_t number) {
  return fmt::format("{:016x}{}", number, kSuffix);
}

std::string older_segment_name(std::uint64_t number) {
  return segment_name(number) += kOlderSuffix;
}

std::optional<std::uint64_t> older_segment_number(std::string_view name) {
  if (!name.ends_with(kOlderSuffix)) return std::nullopt;
  return segment_number(name.substr(0, name.size() - kOlderSuffix.size()));
}

std::optional<std::uint64_t> segment_number(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = name.data() + kDigits;
  const auto [stop, error] = std::from_chars(name.data(), end, number, 16);
  if (error != std::errc{} || stop != end || segment_name(number) != name) return std::nullopt;
  return number;
}

}  // namespace swizzle::wal

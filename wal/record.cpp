#include "wal/record.h"

#include <bit>
#include <cstring>

#include "base/checksum.h"
#include "base/invariant.h"

namespace swizzle::wal {
namespace {

// Offsets in a record; docs/log-format.md lists them.
constexpr std::size_t kLengthAt = 4;
constexpr std::size_t kLayoutAt = 6;
constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kKindAt = 8;
constexpr std::size_t kFlagsAt = 9;
constexpr std::size_t kPaddingAt = 10;
constexpr std::size_t kFieldsAt = 11;
constexpr std::size_t kShortestRecord = 16;

// Two bits of the layout word say how many bytes a field takes.
constexpr std::array<std::uint8_t, 4> kWidths{0, 4, 6, 8};
constexpr std::array<std::uint8_t, 4> kTreeWidths{0, 1, 2, 4};
constexpr unsigned kWideFields = 7;
constexpr unsigned kTreeShift = 2 * kWideFields;

static_assert(kFieldsAt + kWideFields * 8 + 4 + kTrailerBytes + kRecordAlignment - 1 <=
              kMaxRecordOverhead);

unsigned width_code(std::uint64_t value) noexcept {
  return static_cast<unsigned>(value != 0) + static_cast<unsigned>(value >> 32U != 0) +
         static_cast<unsigned>(value >> 48U != 0);
}

unsigned tree_width_code(std::uint32_t value) noexcept {
  return static_cast<unsigned>(value != 0) + static_cast<unsigned>(value >> 8U != 0) +
         static_cast<unsigned>(value >> 16U != 0);
}

std::uint64_t shortened(Lsn lsn) noexcept {
  return std::rotr(raw(lsn), 3);
}
Lsn lengthened(std::uint64_t stored) noexcept {
  return Lsn{std::rotl(stored, 3)};
}

// The seed identifies the place of the bytes: a record that an earlier use of the file, or another
// database, left behind does not pass. Length and layout are in it because the checksum itself
// covers only the bytes after the head.
std::uint64_t seed(Lsn lsn, std::uint64_t database_id, std::uint32_t length_and_layout) noexcept {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  return (raw(lsn) + std::rotl(database_id, 29)) ^ (length_and_layout * kOdd);
}

std::uint32_t checksum_of(const std::byte* record, std::size_t total_bytes, Lsn lsn,
                          std::uint64_t database_id, std::uint32_t length_and_layout) noexcept {
  const std::uint64_t sum = checksum(Bytes{record + kHeadBytes, total_bytes - kHeadBytes},
                                     seed(lsn, database_id, length_and_layout));
  return static_cast<std::uint32_t>(sum ^ (sum >> 32U));
}

/// Writes fields one after the other, each as wide as necessary. Stores all eight bytes, whatever
/// the width: the next field overwrites the rest.
class FieldWriter {
 public:
  explicit FieldWriter(std::byte* at) noexcept : at_(at) {}

  void put(std::uint64_t value) noexcept {
    store(at_, value);
    took(width_code(value), kWidths);
  }
  void put_tree(std::uint32_t value) noexcept {
    store(at_, value);
    took(tree_width_code(value), kTreeWidths);
  }
  /// Skips so many fields, which are 0 and take no room.
  void pass(unsigned fields) noexcept { shift_ += 2 * fields; }
  [[nodiscard]] const std::byte* at() const noexcept { return at_; }
  [[nodiscard]] std::uint16_t layout() const noexcept {
    return static_cast<std::uint16_t>(layout_);
  }

 private:
  void took(unsigned code, const std::array<std::uint8_t, 4>& widths) noexcept {
    at_ += widths[code];
    layout_ |= code << shift_;
    shift_ += 2;
  }

  std::byte* at_;
  unsigned layout_ = 0;
  unsigned shift_ = 0;
};

class FieldReader {
 public:
  FieldReader(const std::byte* at, std::uint16_t layout) noexcept : at_(at), layout_(layout) {}

  std::uint64_t next() noexcept { return take(kWidths[next_code()]); }
  std::uint32_t next_tree() noexcept {
    return static_cast<std::uint32_t>(take(kTreeWidths[next_code()]));
  }

 private:
  unsigned next_code() noexcept {
    const unsigned code = layout_ & 3U;
    layout_ = static_cast<std::uint16_t>(layout_ >> 2U);
    return code;
  }
  std::uint64_t take(std::size_t width) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, at_, width);
    at_ += width;
    return value;
  }

  const std::byte* at_;
  std::uint16_t layout_;
};

std::size_t header_bytes(unsigned layout) noexcept {
  std::size_t size = kFieldsAt + kTreeWidths[(layout >> kTreeShift) & 3U];
  for (unsigned field = 0; field < kWideFields; ++field) {
    size += kWidths[(layout >> (2 * field)) & 3U];
  }
  return size;
}

RecordHeader decode_header(const std::byte* record, std::uint16_t layout) noexcept {
  RecordHeader header;
  header.kind = RecordKind{std::to_integer<std::uint8_t>(record[kKindAt])};
  header.flags = std::to_integer<std::uint8_t>(record[kFlagsAt]);
  FieldReader fields{record + kFieldsAt, layout};
  header.txn = TxnId{fields.next()};
  header.txn_prev = lengthened(fields.next());
  header.page = PageId{fields.next()};
  header.page_prev = lengthened(fields.next());
  header.page2 = PageId{fields.next()};
  header.page2_prev = lengthened(fields.next());
  header.undo_next = lengthened(fields.next());
  header.tree = TreeId{fields.next_tree()};
  return header;
}

}  // namespace

void encode_header(const RecordHeader& header, EncodedHeader& into) noexcept {
  into.bytes[kKindAt] = std::byte{std::to_underlying(header.kind)};
  into.bytes[kFlagsAt] = std::byte{header.flags};
  FieldWriter fields{into.bytes.data() + kFieldsAt};
  fields.put(raw(header.txn));
  fields.put(shortened(header.txn_prev));
  fields.put(raw(header.page));
  fields.put(shortened(header.page_prev));
  // Most records are of one page and are no compensation records.
  if ((raw(header.page2) | raw(header.page2_prev) | raw(header.undo_next)) == 0) {
    fields.pass(3);
  } else {
    fields.put(raw(header.page2));
    fields.put(shortened(header.page2_prev));
    fields.put(shortened(header.undo_next));
  }
  fields.put_tree(raw(header.tree));
  into.layout = fields.layout();
  into.size = static_cast<std::size_t>(fields.at() - into.bytes.data());
}

std::uint64_t write_body(std::byte* to, const EncodedHeader& header, std::span<const Bytes> payload,
                         std::size_t total_bytes, Lsn lsn, std::uint64_t database_id) noexcept {
  std::byte* at = to + kHeadBytes;
  const std::size_t behind_head = header.size - kHeadBytes;
  std::memcpy(at, header.bytes.data() + kHeadBytes, behind_head);
  at += behind_head;
  for (const Bytes part : payload) {
    if (part.empty()) continue;
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  const auto length = static_cast<std::uint16_t>(total_bytes / kRecordAlignment);
  std::byte* const trailer = to + total_bytes - kTrailerBytes;
  const auto padding = static_cast<std::size_t>(trailer - at);
  INVARIANT(padding < kRecordAlignment);
  std::memset(at, 0, padding);
  store(trailer, length);
  to[kPaddingAt] = std::byte{static_cast<std::uint8_t>(padding)};

  const std::uint32_t length_and_layout = length | (std::uint32_t{header.layout} << 16U);
  const std::uint32_t sum = checksum_of(to, total_bytes, lsn, database_id, length_and_layout);
  return sum | (std::uint64_t{length_and_layout} << 32U);
}

Decoding decode(Bytes bytes, Lsn lsn, std::uint64_t database_id, Record& record) noexcept {
  record.lsn = lsn;
  if (bytes.size() < kHeadBytes) {
    record.end = Lsn{raw(lsn) + kHeadBytes};
    return Decoding::needs_more;
  }
  const std::byte* const from = bytes.data();
  const auto length = load<std::uint16_t>(from + kLengthAt);
  const auto layout = load<std::uint16_t>(from + kLayoutAt);
  const std::size_t total = length * kRecordAlignment;
  if (total < kShortestRecord) return Decoding::invalid;
  record.end = Lsn{raw(lsn) + total};
  if (bytes.size() < total) return Decoding::needs_more;
  if (load<std::uint16_t>(from + total - kTrailerBytes) != length) return Decoding::invalid;
  const auto padding = std::to_integer<std::size_t>(from[kPaddingAt]);
  const std::size_t header = header_bytes(layout);
  if (padding >= kRecordAlignment || header + padding + kTrailerBytes > total) {
    return Decoding::invalid;
  }
  const std::uint32_t sum =
      checksum_of(from, total, lsn, database_id, length | (std::uint32_t{layout} << 16U));
  if (load<std::uint32_t>(from) != sum) return Decoding::wrong_sum;

  record.header = decode_header(from, layout);
  record.payload = bytes.subspan(header, total - header - padding - kTrailerBytes);
  return Decoding::record;
}

}  // namespace swizzle::wal

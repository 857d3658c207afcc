#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/ids.h"

namespace swizzle::wal {

/// The kind of a record. Kinds below `first_for_storage` belong to the log itself; storage
/// registers the others (RecordKinds).
enum class RecordKind : std::uint8_t {
  none = 0,
  /// Ends every write, and tells how much was durable when that write began. A reader needs it to
  /// tell a torn tail from damage: see docs/log-format.md.
  flush_mark = 1,
  first_for_storage = 16,
};

/// The part of a record that the log itself reads. The caller fills it under the page latch. A
/// field that has the value `none` (or 0) takes no room in the log.
/// Pre: every Lsn in it was handed out by a Log, so that it is a multiple of kRecordAlignment.
struct RecordHeader {
  RecordKind kind = RecordKind::none;
  TxnId txn = TxnId::none;
  /// The transaction's previous record; none in system transactions.
  Lsn txn_prev = Lsn::none;
  PageId page = PageId::none;
  /// The previous record of `page`: its chain.
  Lsn page_prev = Lsn::none;
  /// The second page of a two-page system transaction, and its chain.
  PageId page2 = PageId::none;
  Lsn page2_prev = Lsn::none;
  TreeId tree = TreeId::directory;
  /// For storage, which the log does not interpret.
  std::uint8_t flags = 0;
  /// Compensation records: where undo goes on.
  Lsn undo_next = Lsn::none;

  friend bool operator==(const RecordHeader&, const RecordHeader&) = default;
};

/// A record as a reader hands it out.
struct Record {
  Lsn lsn = Lsn::none;
  /// The LSN of the next record.
  Lsn end = Lsn::none;
  RecordHeader header;
  /// Valid until the reader moves.
  Bytes payload;
};

inline constexpr std::size_t kRecordAlignment = 8;
/// The length is 16 bits of 8-byte units.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{0xffff} * kRecordAlignment;
/// More than any record needs besides its payload: 11 bytes, seven wide fields, the tree, padding,
/// and the trailing length.
inline constexpr std::size_t kMaxRecordOverhead = 88;
inline constexpr std::size_t kMaxPayloadBytes = kMaxRecordBytes - kMaxRecordOverhead;

/// A header in its stored form: `bytes[0, size)`, of which the first eight (checksum, length,
/// layout) are written last, by seal().
struct EncodedHeader {
  std::array<std::byte, 88> bytes;
  std::size_t size = 0;
  std::uint16_t layout = 0;
};

/// Fills in everything but the first eight bytes.
/// Post: result.size + kTrailerBytes + payload, rounded up, is the record's length.
void encode_header(const RecordHeader& header, EncodedHeader& into) noexcept;

inline constexpr std::size_t kTrailerBytes = 2;

inline std::size_t record_bytes(const EncodedHeader& header, std::size_t payload_bytes) noexcept {
  return (header.size + payload_bytes + kTrailerBytes + kRecordAlignment - 1) &
         ~(kRecordAlignment - 1);
}

/// Writes the whole record to `to`, which has room for record_bytes(), except for its first eight
/// bytes. Returns those: storing them makes the record one that a reader accepts.
std::uint64_t write_body(std::byte* to, const EncodedHeader& header, std::span<const Bytes> payload,
                         std::size_t total_bytes, Lsn lsn, std::uint64_t database_id) noexcept;

/// Returns the length in bytes that a record's first eight bytes contain.
inline std::size_t length_of(std::uint64_t head) noexcept {
  return ((head >> 32U) & 0xffffU) * kRecordAlignment;
}

enum class Decoding : std::uint8_t { record, invalid, wrong_sum, needs_more };

/// Decodes the record that should begin at the start of `bytes`.
/// `needs_more`: it may extend beyond the end; `record.end` is its least possible end. `invalid` is
/// no error: bytes after the end of a log look like that. `wrong_sum`: like it, but only the
/// checksum of the whole record is wrong.
Decoding decode(Bytes bytes, Lsn lsn, std::uint64_t database_id, Record& record) noexcept;

}  // namespace swizzle::wal

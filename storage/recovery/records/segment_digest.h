#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

/// The effect of a log segment's records on analysis and on the search for a recovery target. To
/// apply it is the same as to read the records (rule R22).
struct SegmentDigest {
  /// The records lie in [begin, end): those that end in the segment, so that the digest says
  /// nothing of a record whose end another segment has.
  Lsn begin = Lsn::none;
  Lsn end = Lsn::none;
  /// The last record and a checksum of it: binds the digest to the segment's content.
  Lsn last = Lsn::none;
  std::uint64_t last_sum = 0;
  std::uint64_t records = 0;

  struct Page {
    enum class Fate : std::uint8_t {
      changed,  ///< lacks records from `since` to `newest`
      whole,    ///< the record at `since` has the whole page
      freed,    ///< in no tree any more; without LSNs
    };
    PageId page;
    Fate fate = Fate::changed;
    Lsn since = Lsn::none;
    Lsn newest = Lsn::none;

    friend bool operator==(const Page&, const Page&) = default;
  };
  /// Ascending.
  std::vector<Page> pages;
  std::vector<TreeId> trees;

  /// Transactions that have records and do not end, with their first and last record here.
  std::vector<ActiveTransaction> open;
  /// Transactions that end, ascending.
  std::vector<TxnId> ended;
  TxnId next_txn{1};
  /// When the last one that has a time ended; 0: none.
  std::int64_t ended_at_us = 0;

  /// The youngest time of an event (history_event.h).
  std::optional<std::int64_t> youngest_us;
  /// End of the last event's record.
  Lsn last_event_end = Lsn::none;
  TxnId last_commit = TxnId::none;
  std::optional<std::int64_t> last_commit_us;
  /// Names of restore points, in their order.
  std::vector<std::string> restore_points;
};

/// The segment that a digest belongs to.
struct DigestOf {
  std::uint64_t database_id = 0;
  std::uint64_t segment_bytes = 0;
  std::uint64_t number = 0;
};

std::vector<std::byte> encode_digest(const SegmentDigest& digest, const DigestOf& of);
/// XX001 if the bytes are damaged or belong to another segment, 0A000 for another version.
Result<SegmentDigest> decode_digest(Bytes bytes, const DigestOf& of);

}  // namespace swizzle

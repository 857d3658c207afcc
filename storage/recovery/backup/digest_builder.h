#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/result.h"
#include "storage/recovery/records/segment_digest.h"
#include "wal/reader.h"

namespace swizzle {

/// Returns the LSN of the first record that ends behind the start of segment `number`. XX001 or
/// 58P01 if it, or the record before it, cannot be found.
Result<Lsn> first_ending_in(const wal::LogLocation& log, std::uint64_t number);

/// Reads the records that end in segment `number`, of which the first is at `begin`. Pre: the log
/// is durable up to the segment's end.
Result<SegmentDigest> make_digest(const wal::LogLocation& log, std::uint64_t number, Lsn begin);

/// Checksum of a record, for SegmentDigest::last_sum.
std::uint64_t sum_of_record(const wal::Record& record) noexcept;

}  // namespace swizzle

#include "storage/segment_closer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

#include "storage/engine_parts.h"
#include "storage/logical/logical_log.h"

namespace swizzle {
namespace {

/// A record whose loss would be noticed, as opposed to those of checkpoints and of the background.
bool is_of_use(const wal::Record& record) noexcept {
  return record.header.txn != TxnId::none ||
         record.header.kind == static_cast<wal::RecordKind>(RecordKind::restore_point);
}

/// Returns true if a transaction has written to the segment that begins at `first`, which has at
/// least a part of a record.
Result<bool> has_content(const wal::Log& log, Lsn first) {
  ASSIGN_OR_RETURN(const auto begin, wal::find_record(log.location(), first));
  wal::Reader reader = log.reader();
  reader.seek(begin ? std::min(*begin, reader.end()) : reader.end());
  // The record that crosses the boundary is not archived before this segment is.
  ASSIGN_OR_RETURN(const auto crossing, reader.previous());
  if (crossing && crossing->end > first && is_of_use(*crossing)) return true;
  if (crossing) reader.seek(crossing->end);
  while (true) {
    ASSIGN_OR_RETURN(const auto record, reader.next());
    if (!record) return false;
    if (is_of_use(*record)) return true;
  }
}

}  // namespace

Result<Lsn> Engine::close_log_segment() {
  Parts& parts = *parts_;
  if (is_standby())
    return fail(sqlstate::object_not_in_prerequisite_state, "recovery is in progress");
  if (!parts.options.logging)
    return fail(sqlstate::object_not_in_prerequisite_state,
                "a database that runs without logging has no log segments");
  wal::Log& log = *parts.log;
  log.flush_to(log.tail());
  const std::uint64_t bytes = log.location().segment_bytes;
  const std::uint64_t first = raw(log.tail()) / bytes * bytes;
  if (raw(log.tail()) == first) return Lsn{first};
  ASSIGN_OR_RETURN(const bool is_used, has_content(log, Lsn{first}));
  if (!is_used) return Lsn{first};
  const Lsn end = log.tail();
  const std::uint64_t next = first + bytes;
  // In portions, so that other writers find room between them.
  const std::vector<std::byte> zeros(std::min<std::uint64_t>(std::uint64_t{64} << 10U, bytes / 4));
  wal::RecordHeader header;
  header.kind = static_cast<wal::RecordKind>(RecordKind::segment_filled);
  while (raw(log.tail()) < next) {
    const std::uint64_t left = next - raw(log.tail());
    const auto portion = static_cast<std::size_t>(std::min<std::uint64_t>(left, zeros.size()));
    ASSIGN_OR_RETURN(wal::Reservation space, log.reserve(portion));
    log.append(space, header, Bytes{zeros}.first(portion));
  }
  log.flush_to(log.tail());
  return end;
}

void SegmentCloser::start() {
  task_.start("segment closer", [this] { run(); });
}

void SegmentCloser::set_timeout(std::chrono::seconds timeout) noexcept {
  timeout_.store(timeout.count(), std::memory_order_relaxed);
  task_.wake();
}

std::uint64_t SegmentCloser::segment() const {
  LogicalLog& log = engine_.logical_log();
  return raw(log.tail()) / log.segment_bytes();
}

void SegmentCloser::run() {
  constexpr Duration kLooksEvery = std::chrono::milliseconds{500};
  Runtime& runtime = Runtime::current();
  std::uint64_t known = segment();
  TimePoint since = runtime.now();
  while (!task_.is_stopping()) {
    const std::chrono::seconds timeout{timeout_.load(std::memory_order_relaxed)};
    if (timeout.count() == 0) {
      task_.wait();
      continue;
    }
    if (const std::uint64_t now = segment(); now != known) {
      known = now;
      since = runtime.now();
    }
    if (runtime.now() >= since + timeout) {
      since = runtime.now();
      if (auto closed = engine_.close_log_segment(); !closed)
        spdlog::warn("the log's segment is not closed: {}", closed.error().message());
    }
    task_.wait_until(std::min(runtime.now() + kLooksEvery, since + timeout));
  }
}

}  // namespace swizzle

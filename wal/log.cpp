#include "wal/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/invariant.h"
#include "wal/internal/archiver.h"
#include "wal/internal/flusher.h"
#include "wal/internal/log_budget.h"
#include "wal/internal/log_buffer.h"
#include "wal/internal/log_restore.h"
#include "wal/internal/log_scan.h"
#include "wal/internal/log_window.h"
#include "wal/internal/rollback_room.h"
#include "wal/internal/segment_keeper.h"
#include "wal/internal/segment_store.h"
#include "wal/older_segments.h"

namespace swizzle::wal {
namespace {

constexpr std::size_t kSmallestBuffer = std::size_t{64} << 10U;

Result<> check(const LogOptions& options) {
  const auto refuse = [](std::string_view what) {
    return fail(sqlstate::invalid_parameter_value, fmt::format("log: {}", what));
  };
  if (!std::has_single_bit(options.segment_bytes) || options.segment_bytes < kSmallestSegmentBytes)
    return refuse("the segment size must be a power of two, 64 KiB or more");
  if (!std::has_single_bit(options.buffer_bytes) || options.buffer_bytes < kSmallestBuffer ||
      options.buffer_bytes > std::size_t{2} << 30U)
    return refuse("the buffer size must be a power of two from 64 KiB to 2 GiB");
  if (options.consolidation_slots < 1 ||
      options.consolidation_slots > ConsolidationArray::kMaxSlots)
    return refuse("there are 1 to 16 consolidation slots");
  return {};
}

LogOptions fitted(LogOptions options, std::uint64_t segment_bytes) {
  options.segment_bytes = segment_bytes;
  // Limit the space reserved for completion to a quarter of a segment.
  options.completion_bytes = std::min(options.completion_bytes, segment_bytes / 4);
  return options;
}

FileOptions write_options([[maybe_unused]] const LogOptions& options) {
#ifdef SWIZZLE_PLANTED_FAULTS
  if (options.fault == PlantedFault::skip_sync) return {.direct = true, .dsync = false};
#endif
  return {.direct = true, .dsync = true};
}

}  // namespace

// Parts of the log, in the order of their dependencies.
struct Log::Parts {
  Parts(FileSystem& files, LogOptions given, std::uint64_t segment_bytes, std::uint32_t of_timeline)
      : timeline(of_timeline),
        options(fitted(std::move(given), segment_bytes)),
        store(files, options.directory, SegmentGeometry{segment_bytes}, options.database_id,
              write_options(options), timeline),
        buffer(options.buffer_bytes, options.insert, options.consolidation_slots,
               options.database_id),
        rollbacks({.want_files = [this] { keeper.nudge(); },
                   .is_held = [this] { return budget.holds_rollbacks(); }}),
        budget(options.buffer_bytes, options.completion_bytes, rollbacks,
               {.want_ring = [this] { flusher.flush_for_room(); },
                .want_segments = [this](std::uint64_t end) { keeper.want(end); }}),
        flusher(buffer, budget, store, options, [this] { on_new_segment(); }),
        archiver(
            store, options, [this] { return flusher.durable(); }, [this] { keeper.nudge(); }),
        shortage(options.release_patience),
        keeper(store, budget, rollbacks, shortage, options.archive ? &archiver : nullptr, options) {
  }

  void on_new_segment() noexcept {
    keeper.nudge();
    archiver.nudge();
  }

  Result<> start_at(std::uint64_t end, std::uint64_t segments_end);
  void stop() noexcept {
    archiver.stop();
    keeper.stop();
    flusher.stop();
  }

  const std::uint32_t timeline;
  LogOptions options;
  SegmentStore store;
  LogBuffer buffer;
  RollbackRoom rollbacks;
  LogBudget budget;
  Flusher flusher;
  Archiver archiver;
  Shortage shortage;
  SegmentKeeper keeper;
  Lsn begin = Lsn::none;
  std::optional<OlderLog> older;
  bool is_read_only = false;
  /// End of a read-only log.
  std::atomic<std::uint64_t> readable_end{0};
  std::atomic<std::uint32_t> readable_timeline{1};
};

Result<> Log::Parts::start_at(std::uint64_t end, std::uint64_t segments_end) {
  begin = Lsn{end};
  buffer.start_at(begin);
  const std::uint64_t block = block_floor(end);
  if (block < end) {
    // The partly filled last block is rewritten with the next records, so it must be in the ring.
    LogWindow window{{.files = &store.files(),
                      .directory = store.directory(),
                      .segment_bytes = store.geometry().bytes(),
                      .database_id = options.database_id},
                     kWriteUnit};
    ASSIGN_OR_RETURN(const Bytes started, window.bytes(block, end - block));
    INVARIANT(started.size() == end - block);
    std::memcpy(buffer.piece(block, end).data(), started.data(), started.size());
  }
  rollbacks.start_with(store.kept_files() * store.geometry().bytes());
  budget.start_at(end, block, segments_end);
  flusher.start_at(end);
  if (options.archive) RETURN_IF_ERROR(archiver.start());
  keeper.start();
  return {};
}

Log::Log(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Log::~Log() {
  if (parts_) parts_->stop();
}

Lsn Log::origin(std::uint64_t segment_bytes) noexcept {
  return Lsn{SegmentGeometry{segment_bytes}.first_lsn(kFirstSegment)};
}

std::unique_ptr<Log> Log::none() {
  return std::unique_ptr<Log>{new Log{nullptr}};
}

std::unique_ptr<Log> Log::read_only(FileSystem& files, LogOptions options, Lsn end,
                                    std::uint32_t timeline, const std::optional<OlderLog>& older) {
  options.buffer_bytes = kSmallestBuffer;
  const std::uint64_t segment_bytes = options.segment_bytes;
  std::unique_ptr<Log> log{
      new Log{std::make_unique<Parts>(files, std::move(options), segment_bytes, 1)}};
  log->parts_->is_read_only = true;
  log->parts_->older = older;
  log->extend(end, timeline);
  return log;
}

void Log::extend(Lsn end, std::uint32_t timeline) noexcept {
  INVARIANT(parts_ && parts_->is_read_only);
  parts_->readable_timeline.store(timeline, std::memory_order_relaxed);
  // Sequentially consistent with durable(), for followers that wait. Publishes the timeline.
  parts_->readable_end.store(raw(end));
  parts_->flusher.followers().tell();
}

Result<std::unique_ptr<Log>> Log::create(FileSystem& files, LogOptions options, Lsn not_before,
                                         std::uint32_t timeline) {
  RETURN_IF_ERROR(check(options));
  ASSIGN_OR_RETURN(const auto existing, list_segments(files, options.directory));
  if (!existing.empty()) {
    return fail(sqlstate::duplicate_file,
                fmt::format("there is a log in \"{}\" already", options.directory.native()));
  }
  const SegmentGeometry geometry{options.segment_bytes};
  const std::uint64_t first =
      std::max(kFirstSegment, geometry.number_of(raw(not_before) + options.segment_bytes - 1));
  std::unique_ptr<Log> log{
      new Log{std::make_unique<Parts>(files, std::move(options), geometry.bytes(), timeline)}};
  Parts& parts = *log->parts_;
  parts.store.begin_at(first);
  RETURN_IF_ERROR(parts.store.prepare_next(0));
  RETURN_IF_ERROR(parts.start_at(geometry.first_lsn(first), geometry.first_lsn(first + 1)));
  return log;
}

Result<std::unique_ptr<Log>> Log::open(FileSystem& files, LogOptions options, Lsn scan_from,
                                       OpeningVisitor* visitor, std::uint32_t timeline,
                                       const std::optional<OlderLog>& older) {
  RETURN_IF_ERROR(check(options));
  if (options.restore) RETURN_IF_ERROR(restore_segments(files, options, scan_from));
  ASSIGN_OR_RETURN(LogLocation location, find_log(files, options.directory));
  location.database_id = options.database_id;
  ASSIGN_OR_RETURN(const LogEnd found, find_end(location, raw(scan_from), visitor));
  RETURN_IF_ERROR(repair_tail(location, found));
  const SegmentGeometry geometry{location.segment_bytes};
  std::unique_ptr<Log> log{
      new Log{std::make_unique<Parts>(files, std::move(options), geometry.bytes(), timeline)}};
  Parts& parts = *log->parts_;
  RETURN_IF_ERROR(parts.store.adopt(found.first_segment, found.last_segment,
                                    geometry.number_of(block_floor(found.end))));
  parts.older = older;
  if (older && !older->segments) {
    ASSIGN_OR_RETURN(parts.older->segments, OlderSegments::open(files, parts.options.directory,
                                                                {.database_id = older->database_id,
                                                                 .segment_bytes = geometry.bytes()},
                                                                {}));
  }
  if (older) parts.store.adopt_older(parts.older->segments);
  RETURN_IF_ERROR(parts.start_at(found.end, geometry.first_lsn(found.last_segment + 1)));
  return log;
}

Result<Reservation> Log::reserve(std::size_t payload_bytes, std::size_t records,
                                 ReservePurpose purpose) {
  if (!parts_) return Reservation{*this, 0};
  if (parts_->is_read_only) [[unlikely]]
    return fail(sqlstate::read_only_transaction, "cannot write during recovery");
  const std::size_t bytes = bound(payload_bytes, records);
  ASSIGN_OR_RETURN(const Credits credits, parts_->budget.take(bytes, purpose));
  return Reservation{*this, bytes, credits};
}

Result<> Log::reserve_rollback_space(std::uint64_t bytes) {
  return parts_ && !parts_->is_read_only ? parts_->rollbacks.owe(bytes) : Result<>{};
}

void Log::release_rollback_space(std::uint64_t bytes) noexcept {
  if (!parts_ || parts_->is_read_only) return;
  parts_->rollbacks.release(bytes);
  // Space that a rollback has returned may serve a waiting writer.
  parts_->budget.give_back(0);
  const std::uint64_t spare = 2 * parts_->store.geometry().bytes();
  if (parts_->rollbacks.kept() > parts_->rollbacks.owed() + spare) parts_->keeper.nudge();
}

void Log::recovered() noexcept {
  if (parts_) parts_->rollbacks.recovered();
}

std::optional<Reservation> Log::try_reserve(std::size_t payload_bytes, std::size_t records,
                                            ReservePurpose purpose) noexcept {
  if (!parts_) return Reservation{*this, 0};
  if (parts_->is_read_only) [[unlikely]]
    return std::nullopt;
  const std::size_t bytes = bound(payload_bytes, records);
  const auto credits = parts_->budget.try_take(bytes, purpose);
  if (!credits) return std::nullopt;
  return Reservation{*this, bytes, *credits};
}

void Reservation::release() noexcept {
  log_->give_back(bytes_, records_, credits_);
}

void Log::give_back(std::size_t bytes, std::size_t records, Credits credits) noexcept {
  if (parts_) parts_->budget.give_back(bytes, records, credits);
}

Appended Log::append(Reservation& space, const RecordHeader& header,
                     std::span<const Bytes> payload) noexcept {
  std::size_t payload_bytes = 0;
  for (const Bytes part : payload) payload_bytes += part.size();
  if (!parts_) [[unlikely]] {
    // One shared counter: snapshots compare LSNs, so all threads must agree on their order, which
    // is worth a few nanoseconds.
    const std::uint64_t start =
        unlogged_tail_.fetch_add(kRecordAlignment, std::memory_order_acq_rel);
    return {Lsn{start}, Lsn{start + kRecordAlignment}};
  }
  EncodedHeader encoded;
  encode_header(header, encoded);
  const std::size_t bytes = record_bytes(encoded, payload_bytes);
  INVARIANT(bytes <= space.bytes_ && bytes <= kMaxRecordBytes);
  space.bytes_ -= bytes;
  ++space.records_;
  const auto placed = parts_->buffer.insert(encoded, payload, bytes);
  return {Lsn{placed.start}, Lsn{placed.end}};
}

void Log::end_with_mark(Lsn end) {
  if (!parts_ || parts_->is_read_only || tail() != end) return;
  if (parts_->flusher.mark_end() == raw(end)) return;
  const std::uint64_t durable_now = raw(durable());
  auto space = reserve(sizeof durable_now, 1, ReservePurpose::completion);
  // The log is full. What makes room for it writes more.
  if (!space) return;
  const RecordHeader header{.kind = RecordKind::flush_mark};
  const Appended mark = append(*space, header, std::as_bytes(std::span{&durable_now, 1}));
  flush_to(mark.end);
}

void Log::flush_to(Lsn end) noexcept {
  if (parts_ && !parts_->is_read_only) parts_->flusher.flush_to(raw(end));
}

void Log::flush_soon(Lsn end) noexcept {
  if (parts_ && !parts_->is_read_only) parts_->flusher.flush_soon(raw(end));
}

Followers* Log::followers() const noexcept {
  return parts_ ? &parts_->flusher.followers() : nullptr;
}

Lsn Log::durable() const noexcept {
  if (!parts_) return Lsn::max;
  if (parts_->is_read_only) return Lsn{parts_->readable_end.load()};
  return Lsn{parts_->flusher.durable()};
}

Lsn Log::tail() const noexcept {
  if (!parts_) return Lsn{unlogged_tail_.load(std::memory_order_acquire)};
  return parts_->is_read_only ? durable() : Lsn{parts_->buffer.tail()};
}

Lsn Log::begin() const noexcept {
  if (!parts_) return Lsn{kRecordAlignment};
  return parts_->is_read_only ? durable() : parts_->begin;
}

void Log::keep_from(Lsn lsn) noexcept {
  // Never beyond the durable end, whatever the caller asks for.
  if (parts_) parts_->keeper.keep_from(std::min(raw(lsn), parts_->flusher.durable()));
}

bool Log::lacks_room() const noexcept {
  return parts_ && parts_->shortage.is_asked();
}

void Log::released() noexcept {
  if (!parts_) return;
  parts_->shortage.answer();
  parts_->keeper.nudge();
}

Lsn Log::oldest() const noexcept {
  return parts_ ? Lsn{parts_->store.geometry().first_lsn(parts_->store.first_of_all())} : Lsn::none;
}

std::uint32_t Log::timeline() const noexcept {
  if (!parts_) return 1;
  return parts_->is_read_only ? parts_->readable_timeline.load(std::memory_order_relaxed)
                              : parts_->timeline;
}

LogLocation Log::location() const {
  INVARIANT(enabled());
  const SegmentStore& store = parts_->store;
  return {.files = &store.files(),
          .directory = store.directory(),
          .segment_bytes = store.geometry().bytes(),
          .database_id = store.database_id(),
          .older = parts_->older};
}

Reader Log::reader(ReadPattern pattern) const {
  return Reader{location(), durable(), pattern};
}

LogStatistics Log::statistics() const {
  LogStatistics result;
  result.tail = tail();
  result.durable = durable();
  if (!parts_) return result;
  const auto written = parts_->flusher.statistics();
  result.records = parts_->budget.records();
  result.waits_for_room = parts_->budget.waits();
  result.writes = written.writes;
  result.bytes_written = written.bytes_written;
  result.flushes = written.flushes;
  result.waiters_released = written.waiters_released;
  result.sync_times = written.sync_times;
  const ConsolidationArray::Statistics groups = parts_->buffer.group_statistics();
  result.insert_groups = groups.groups;
  result.grouped_inserts = groups.members;
  result.first_segment = parts_->store.first();
  result.end_segment = parts_->store.end();
  if (parts_->options.archive) {
    result.archive_backlog = parts_->archiver.backlog();
    result.archive = parts_->archiver.statistics();
  }
  return result;
}

void Log::close() noexcept {
  if (!parts_) return;
  // No thread appends any more, but the writer's flush mark moves the tail once more.
  parts_->flusher.flush_to(parts_->buffer.tail());
  parts_->stop();
}

}  // namespace swizzle::wal

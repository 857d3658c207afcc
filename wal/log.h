#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "base/runtime/duration_histogram.h"
#include "wal/archive_statistics.h"
#include "wal/log_options.h"
#include "wal/reader.h"
#include "wal/record.h"
#include "wal/reserve_purpose.h"

namespace swizzle::wal {

class Followers;
class Log;

/// Room in the log for some records. What is not used goes back when it is destroyed.
/// Short-lived: its owner neither waits for a lock nor reserves again while holding it, because
/// what it holds may be all the room there is.
class [[nodiscard]] Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept
      : log_(other.log_),
        bytes_(std::exchange(other.bytes_, 0)),
        records_(other.records_),
        credits_(other.credits_) {
    other.log_ = nullptr;
  }
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(log_, other.log_);
    std::swap(bytes_, other.bytes_);
    std::swap(records_, other.records_);
    std::swap(credits_, other.credits_);
    return *this;
  }
  ~Reservation() {
    if (log_ != nullptr) release();
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  friend class Log;
  Reservation(Log& log, std::size_t bytes, Credits credits = Credits::of_growth) noexcept
      : log_(&log), bytes_(bytes), credits_(credits) {}
  void release() noexcept;

  Log* log_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint32_t records_ = 0;  ///< appended by it
  Credits credits_ = Credits::of_growth;
};

/// The place of a record. A page or a transaction remembers `lsn`; flush_to() takes `end`.
struct Appended {
  Lsn lsn = Lsn::none;
  Lsn end = Lsn::none;
};

struct LogStatistics {
  std::uint64_t records = 0;
  /// Times that somebody waited for room in the buffer or in the files.
  std::uint64_t waits_for_room = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_written = 0;
  /// Times that records became durable together, and the sessions that had waited for it.
  std::uint64_t flushes = 0;
  std::uint64_t waiters_released = 0;
  DurationHistogram::Counts sync_times;
  /// Times that several inserts took room together, and the inserts that did.
  std::uint64_t insert_groups = 0;
  std::uint64_t grouped_inserts = 0;
  Lsn tail = Lsn::none;
  Lsn durable = Lsn::none;
  std::uint64_t first_segment = 0;
  std::uint64_t end_segment = 0;
  std::uint64_t archive_backlog = 0;
  ArchiveStatistics archive;
};

/// Sees the records that Log::open() reads to find the log's end, in their order.
class OpeningVisitor {
 public:
  OpeningVisitor() = default;
  OpeningVisitor(const OpeningVisitor&) = delete;
  OpeningVisitor& operator=(const OpeningVisitor&) = delete;
  virtual ~OpeningVisitor() = default;
  /// The records lie in [from, limit).
  virtual void begin(Lsn from, Lsn limit) = 0;
  /// `record` is valid during the call.
  virtual void visit(const Record& record) = 0;
  /// Returns false if no more records are wanted: read_to_end() stops there.
  [[nodiscard]] virtual bool wants_more() const { return true; }
};

/// The log. Appends records, and makes them durable in their order. Thread-safe.
/// durable() and every LSN that is waited for are record boundaries, so a record is durable exactly
/// if durable() is behind its start.
class Log {
 public:
  /// Begins an empty log in `options.directory`, which exists and holds no segment. Its first
  /// record will be at the first segment boundary at or behind `not_before`: a database that goes
  /// on after a restore to a point in time starts a new log behind the old one's LSNs, with a new
  /// database id.
  static Result<std::unique_ptr<Log>> create(FileSystem& files, LogOptions options,
                                             Lsn not_before = Lsn::none,
                                             std::uint32_t timeline = 1);
  /// Opens the log after a stop or a crash. Reads from `scan_from`, a record boundary such as the
  /// last checkpoint's record, to find the end: a torn tail is dropped. Refuses a log with missing,
  /// foreign or damaged segments, and says from which LSN on. With `options.restore`, archived
  /// segments take precedence over those in the directory. What `visitor` has seen, which may be
  /// null, is the log from `scan_from` to begin() if the log could be opened.
  /// New segments say `timeline`. With an `older` log, from which this one goes on, readers find
  /// the records of both.
  static Result<std::unique_ptr<Log>> open(FileSystem& files, LogOptions options, Lsn scan_from,
                                           OpeningVisitor* visitor = nullptr,
                                           std::uint32_t timeline = 1,
                                           const std::optional<OlderLog>& older = std::nullopt);
  /// Returns the LSN of the first record of a log that begins with its database.
  static Lsn origin(std::uint64_t segment_bytes) noexcept;
  /// The log of a database that is not open: a reader of its files up to `end`, a record boundary.
  /// Nothing can be appended; begin(), tail() and durable() are `end`, and waits for it end at
  /// once. reserve() fails with 25006.
  static std::unique_ptr<Log> read_only(FileSystem& files, LogOptions options, Lsn end,
                                        std::uint32_t timeline = 1,
                                        const std::optional<OlderLog>& older = std::nullopt);
  /// A log of read_only() ends at `end`, in that timeline, from now on. A reader that sees the new
  /// end sees the timeline, too.
  void extend(Lsn end, std::uint32_t timeline) noexcept;
  /// Logging off, for experiments: LSNs grow, everything is durable at once, nothing is written.
  static std::unique_ptr<Log> none();

  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  /// Without close() before it, what is not durable is lost, as in a crash.
  ~Log();

  /// Room for `records` records with `payload_bytes` of payload among them: the only step that may
  /// fail or wait. Comes before any latch and any change. 53100, only for growth: the disk is full,
  /// or the archive too far behind; completion waits until that is over. 54000: more than the
  /// buffer could ever hold.
  Result<Reservation> reserve(std::size_t payload_bytes, std::size_t records = 1,
                              ReservePurpose purpose = ReservePurpose::growth);
  /// The same without waiting, for callers under a latch; nullopt: not now.
  std::optional<Reservation> try_reserve(std::size_t payload_bytes, std::size_t records = 1,
                                         ReservePurpose purpose = ReservePurpose::growth) noexcept;

  /// Room on disk for so many bytes of records that a rollback would append: reserve() finds it for
  /// completion, whatever else fills the disk. To be asked for before the changes, beyond what a
  /// usual transaction would need, which is there anyway. Parks. 53100: there is none.
  Result<> reserve_rollback_space(std::uint64_t bytes);
  /// So much of it is not needed any more: undone, or never to be.
  void release_rollback_space(std::uint64_t bytes) noexcept;
  /// Tells that transactions from before the start have been rolled back. Until then
  /// reserve_rollback_space() does not wait: their space is reserved already.
  void recovered() noexcept;

  /// Appends one record; its payload is the parts, joined. Never waits, never fails, allocates
  /// nothing; may be called under latches.
  /// Pre:  `space` covers it; payload <= kMaxPayloadBytes.
  /// Post: LSNs that one thread gets increase, also across threads that order themselves by a
  /// latch.
  Appended append(Reservation& space, const RecordHeader& header,
                  std::span<const Bytes> payload) noexcept;
  Appended append(Reservation& space, const RecordHeader& header, Bytes payload = {}) noexcept {
    return append(space, header, std::span{&payload, 1});
  }

  /// Returns once everything before `end` survives a power cut: parks. A failed write does not
  /// return: panic. Pre: `end` is Appended::end, or any LSN if nobody minds waiting for the record
  /// that holds it.
  void flush_to(Lsn end) noexcept;
  /// For pages, which remember where a record begins: parks until the record at `start` is durable.
  void flush_record(Lsn start) noexcept { flush_to(Lsn{raw(start) + 1}); }
  /// Asynchronous commit: durable after LogOptions::lazy_flush_delay at the latest.
  void flush_soon(Lsn end) noexcept;

  /// Makes the log end with a flush mark, durably, if it ends at `end` and not with one. A follower
  /// redoes a record only once another one follows.
  void end_with_mark(Lsn end);

  [[nodiscard]] Lsn durable() const noexcept;
  /// One behind the last record that has its place.
  [[nodiscard]] Lsn tail() const noexcept;
  /// LSN at which the log began when it was opened: the end of the last run.
  [[nodiscard]] Lsn begin() const noexcept;
  /// False if nothing is written: none() made the log.
  [[nodiscard]] bool enabled() const noexcept { return parts_ != nullptr; }

  /// Segments that end at or before `lsn` may be recycled or removed. Never goes back; nothing is
  /// recycled before the first call.
  void keep_from(Lsn lsn) noexcept;
  /// No segment can be made, and writers wait for what keep_from() may let go.
  [[nodiscard]] bool lacks_room() const noexcept;
  /// Tells that everything that could be released has been: if that was not enough, writers are
  /// refused now.
  void released() noexcept;
  [[nodiscard]] std::uint32_t timeline() const noexcept;
  /// The first LSN that the files still hold; no record boundary as a rule.
  [[nodiscard]] Lsn oldest() const noexcept;
  [[nodiscard]] LogLocation location() const;
  /// A reader of what is durable now.
  [[nodiscard]] Reader reader(ReadPattern pattern = ReadPattern::sequential) const;
  [[nodiscard]] LogStatistics statistics() const;

  /// Makes everything durable and stops. Pre: nobody appends any more.
  void close() noexcept;

 private:
  friend class LogFollower;
  friend class Reservation;
  struct Parts;
  explicit Log(std::unique_ptr<Parts> parts);

  static std::size_t bound(std::size_t payload_bytes, std::size_t records) noexcept {
    return payload_bytes + records * kMaxRecordOverhead;
  }
  void give_back(std::size_t bytes, std::size_t records, Credits credits) noexcept;
  /// Null where nothing is logged.
  [[nodiscard]] Followers* followers() const noexcept;

  std::unique_ptr<Parts> parts_;
  // Without parts: the next LSN.
  std::atomic<std::uint64_t> unlogged_tail_{kRecordAlignment};
};

}  // namespace swizzle::wal

#include "storage/recovery/backup/restored_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "storage/recovery/backup/digest_archive.h"
#include "wal/log.h"
#include "wal/log_copy.h"
#include "wal/older_log.h"

namespace swizzle {
namespace {

Result<> require_no_gap(FileSystem& files, const wal::RestoreSegment& archive,
                        const wal::LogLocation& log, Lsn end) {
  ASSIGN_OR_RETURN(
      const auto later,
      wal::find_segment_behind_gap(archive, log, end, files, log.directory / "looked-for.tmp"));
  if (!later) return {};
  return fail(
      Error{sqlstate::object_not_in_prerequisite_state,
            fmt::format("the log ends at LSN {}, where the archive lacks a segment: it has "
                        "the later \"{}\"",
                        raw(end), *later)}
          .with_hint(
              "Put the missing segment into the archive. To restore without what "
              "was committed later, stop at that LSN: --target-lsn with --target-exclusive."));
}

/// Analyses the restored history, which it is shown as records and as digests, and looks for its
/// end unless that is known.
class HistoryVisitor final : public wal::OpeningVisitor {
 public:
  HistoryVisitor(const Checkpoint& checkpoint, Lsn log_end, StopSearch& search,
                 const RestoreGoesOn& goes_on)
      : HistoryVisitor(checkpoint, log_end, &search, goes_on) {}
  /// The history ends at `end`.
  HistoryVisitor(const Checkpoint& checkpoint, Lsn end, const RestoreGoesOn& goes_on)
      : HistoryVisitor(checkpoint, end, nullptr, goes_on) {}

  void begin(Lsn /*from*/, Lsn /*limit*/) override {}
  void visit(const wal::Record& record) override {
    bytes_read_ += raw(record.end) - raw(record.lsn);
    const bool belongs = search_ != nullptr ? search_->visit(record) == StopSearch::Belongs::yes
                                            : record.lsn < log_end_;
    if (!belongs) {
      is_over_ = true;
      return;
    }
    analysis_->visit(record);
    end_ = record.end;
    is_over_ = search_ != nullptr && search_->is_over();
  }
  [[nodiscard]] bool wants_more() const override {
    return !is_over_ && end_ < pause_ && (!goes_on_ || goes_on_());
  }

  /// Returns true if the history has all records of the digest's segment, and does not end in it.
  [[nodiscard]] bool takes(const SegmentDigest& digest) const {
    return search_ != nullptr ? !search_->may_stop_in(digest) : digest.end <= log_end_;
  }
  void add(const SegmentDigest& digest) {
    if (search_ != nullptr) search_->pass(digest);
    analysis_->add(digest);
    end_ = digest.end;
  }
  /// Wants no records from there on.
  void pause_at(Lsn lsn) noexcept { pause_ = lsn; }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// Returns the end of the analysed records.
  [[nodiscard]] Lsn end() const noexcept { return end_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  std::unique_ptr<LogAnalysis> take_analysis() noexcept { return std::move(analysis_); }

 private:
  HistoryVisitor(const Checkpoint& checkpoint, Lsn log_end, StopSearch* search,
                 const RestoreGoesOn& goes_on)
      : search_(search),
        log_end_(log_end),
        goes_on_(goes_on),
        analysis_(
            std::make_unique<LogAnalysis>(checkpoint, unobserved(), LogAnalysis::Lists::none)),
        end_(checkpoint.begin) {
    analysis_->begin(checkpoint.begin, log_end);
  }
  static const RecoveryObserver& unobserved() {
    static const RecoveryObserver none;
    return none;
  }

  StopSearch* const search_;
  const Lsn log_end_;
  const RestoreGoesOn& goes_on_;
  std::unique_ptr<LogAnalysis> analysis_;
  Lsn end_;
  Lsn pause_{UINT64_MAX};
  bool is_over_ = false;
  std::uint64_t bytes_read_ = 0;
};

/// Shows the log to the visitor, up to `segments_end`. Of segments that have a digest the records
/// are not read, unless the history ends among them. Returns the end of what was read.
Result<Lsn> read_history(const wal::LogLocation& log, const ArchivedDigests& digests,
                         Lsn segments_end, HistoryVisitor& history) {
  std::uint64_t number = raw(history.end()) / log.segment_bytes;
  while (++number < raw(segments_end) / log.segment_bytes) {
    ASSIGN_OR_RETURN(const auto digest, digests.fetch(number));
    if (!digest || !history.takes(*digest)) continue;
    if (history.end() < digest->begin) {
      history.pause_at(digest->begin);
      RETURN_IF_ERROR(wal::read_to_end(log, history.end(), history));
      if (history.is_over() || history.end() < digest->begin) return history.end();
    }
    if (history.end() == digest->begin)
      history.add(*digest);
    else
      spdlog::warn("digest \"{}\" of the archive is not used, since no record ends at LSN {}",
                   digest_name(number), raw(digest->begin));
  }
  history.pause_at(Lsn{UINT64_MAX});
  if (history.end() == segments_end) return segments_end;
  RETURN_IF_ERROR(wal::read_to_end(log, history.end(), history));
  return history.end();
}

}  // namespace

Result<> require_going_on(const RestoreGoesOn& goes_on) {
  if (!goes_on || goes_on()) return {};
  return fail(sqlstate::admin_shutdown, "the preparation of the restore was ended");
}

Result<> require_after_backup(const BackupChain& chain, const RecoveryTarget& target) {
  if (!target.time_us) return {};
  const Checkpoint& checkpoint = chain.control().checkpoint;
  const bool is_after = target.bound == RecoveryTarget::Bound::inclusive
                            ? *target.time_us >= checkpoint.taken_at_us
                            : *target.time_us > checkpoint.taken_at_us;
  if (is_after) return {};
  return fail(
      sqlstate::object_not_in_prerequisite_state,
      fmt::format("the recovery target, {}, is before the backup, which began at {}",
                  describe_target(target), describe_target({.time_us = checkpoint.taken_at_us})));
}

Result<WholeLog> collect_log(FileSystem& files, const BackupChain& chain,
                             const std::string& log_name, const std::filesystem::path& directory,
                             const wal::RestoreSegment& archive, const RecoveryTarget& target,
                             const RestoreGoesOn& goes_on) {
  const Checkpoint& checkpoint = chain.control().checkpoint;
  ASSIGN_OR_RETURN(const wal::LogLocation kept, wal::find_log(files, chain.newest() / log_name));
  wal::LogOptions options;
  options.directory = directory;
  options.database_id = kept.database_id;
  options.segment_bytes = kept.segment_bytes;
  options.restore = archive;
  WholeLog whole;
  ASSIGN_OR_RETURN(whole.segments_end, wal::collect_segments(files, kept,
                                                             {.from = checkpoint.keep_from,
                                                              .whole_before = checkpoint.begin,
                                                              .end = chain.end()},
                                                             options));
  whole.location = kept;
  whole.location.directory = directory;
  const ArchivedDigests digests(files, archive, whole.location);
  StopSearch search(chain.end(), target);
  HistoryVisitor history(checkpoint, whole.segments_end, search, goes_on);
  ASSIGN_OR_RETURN(whole.end, read_history(whole.location, digests, whole.segments_end, history));
  whole.bytes_read = history.bytes_read();
  RETURN_IF_ERROR(require_going_on(goes_on));
  ASSIGN_OR_RETURN(auto stop, search.finish(whole.end));
  if (archive && (!has_target(target) || !stop))
    RETURN_IF_ERROR(require_no_gap(files, archive, whole.location, whole.end));
  if (!stop) {
    return fail(
        Error{sqlstate::object_not_in_prerequisite_state,
              fmt::format("backup and archive end at LSN {}, before the recovery target, {}",
                          raw(whole.end), describe_target(target))}
            .with_hint("Without a target all of it is restored."));
  }
  whole.stop = *std::move(stop);
  whole.analysis = history.take_analysis();
  // A time ends the history before records that have been analysed.
  if (history.end() > whole.stop.end) {
    HistoryVisitor again(checkpoint, whole.stop.end, goes_on);
    RETURN_IF_ERROR(read_history(whole.location, digests, whole.segments_end, again));
    RETURN_IF_ERROR(require_going_on(goes_on));
    whole.bytes_read += again.bytes_read();
    whole.analysis = again.take_analysis();
  }
  return whole;
}

}  // namespace swizzle

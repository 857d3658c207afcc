#include "storage/recovery/backup/restored_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "wal/log.h"
#include "wal/older_log.h"

namespace swizzle {
namespace {

Result<> require_no_gap(wal::OlderSegments& segments, Lsn end) {
  ASSIGN_OR_RETURN(const auto later, segments.find_behind_gap(end));
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

/// Shows the log to the visitor, and finds the archive's last segment. Of segments that have a
/// digest the records are not read, unless the history ends among them.
class HistoryReader {
 public:
  /// The log has `least` at least: the backup's own part.
  HistoryReader(const ArchivedLog& log, HistoryVisitor& history, Lsn least,
                const RestoreGoesOn& goes_on)
      : log_(log), history_(history), least_(least), goes_on_(goes_on) {}

  /// Returns the end of what was read.
  Result<Lsn> read() {
    const std::uint64_t first = log_.segments->first();
    const std::uint64_t begin = raw(history_.end()) / log_.location.segment_bytes;
    for (std::uint64_t number = first;; ++number) {
      RETURN_IF_ERROR(require_going_on(goes_on_));
      std::optional<SegmentDigest> digest;
      if (number > begin) {
        ASSIGN_OR_RETURN(digest, log_.digests.fetch(number));
      }
      ASSIGN_OR_RETURN(const bool is_there, find(number, digest));
      if (!is_there) break;
      if (digest) RETURN_IF_ERROR(pass(number, *digest));
    }
    history_.pause_at(Lsn{UINT64_MAX});
    const Lsn segments_end{log_.segments->end() * log_.location.segment_bytes};
    if (segments_end < least_)
      return fail(sqlstate::undefined_file,
                  fmt::format("log segment \"{:016x}.log\" of the backup is missing",
                              log_.segments->end()));
    // Behind the records that a digest has there is none that ends in the segment.
    const bool is_read = passed_ + 1 == log_.segments->end() || history_.end() == segments_end;
    if (!history_.is_over() && !is_read)
      RETURN_IF_ERROR(wal::read_to_end(log_.location, history_.end(), history_));
    return history_.end();
  }

 private:
  Result<bool> find(std::uint64_t number, std::optional<SegmentDigest>& digest) const {
    wal::OlderSegments& segments = *log_.segments;
    // An archive gets a digest behind its segment.
    if (digest && segments.is_fetched(number)) {
      segments.promise(number);
    } else {
      ASSIGN_OR_RETURN(const bool is_there, segments.find(number));
      if (!is_there) return false;
    }
    if (!digest || !segments.is_here(number)) return true;
    ASSIGN_OR_RETURN(const auto segment, segments.open_segment(number));
    if (auto fits = log_.digests.require_fit(*digest, number, *segment); !fits) {
      if (fits.error().state() != sqlstate::data_corrupted) return fail(std::move(fits).error());
      spdlog::warn("{}; the segment is read", fits.error().message());
      digest.reset();
    }
    return true;
  }

  /// Has the digest's segment follow in the history, after the records before it.
  Result<> pass(std::uint64_t number, const SegmentDigest& digest) {
    if (history_.is_over() || is_cut_off_ || !history_.takes(digest)) return {};
    if (history_.end() < digest.begin) {
      history_.pause_at(digest.begin);
      RETURN_IF_ERROR(wal::read_to_end(log_.location, history_.end(), history_));
      is_cut_off_ = history_.end() < digest.begin;
      if (history_.is_over() || is_cut_off_) return {};
    }
    if (history_.end() == digest.begin) {
      history_.add(digest);
      passed_ = number;
    } else {
      spdlog::warn("digest \"{}\" of the archive is not used, since no record ends at LSN {}",
                   digest_name(number), raw(digest.begin));
    }
    return {};
  }

  const ArchivedLog& log_;
  HistoryVisitor& history_;
  const Lsn least_;
  const RestoreGoesOn& goes_on_;
  /// The last segment whose digest was used.
  std::uint64_t passed_ = 0;
  /// The records end before the last segment.
  bool is_cut_off_ = false;
};

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

Result<WholeLog> collect_log(const ArchivedLog& log, const BackupChain& chain,
                             const RecoveryTarget& target, const RestoreGoesOn& goes_on) {
  const Checkpoint& checkpoint = chain.control().checkpoint;
  WholeLog whole;
  whole.location = log.location;
  StopSearch search(chain.end(), target);
  HistoryVisitor history(checkpoint, Lsn::max, search, goes_on);
  ASSIGN_OR_RETURN(whole.end, HistoryReader(log, history, chain.end(), goes_on).read());
  whole.segments_end = Lsn{log.segments->end() * log.location.segment_bytes};
  whole.bytes_read = history.bytes_read();
  RETURN_IF_ERROR(require_going_on(goes_on));
  if (!history.is_over() && whole.end < chain.end())
    return fail(sqlstate::data_corrupted,
                fmt::format("the log of the backup is damaged at LSN {}: it should go up to {}",
                            raw(whole.end), raw(chain.end())));
  ASSIGN_OR_RETURN(auto stop, search.finish(whole.end));
  if (!has_target(target) || !stop) RETURN_IF_ERROR(require_no_gap(*log.segments, whole.end));
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
    RETURN_IF_ERROR(HistoryReader(log, again, chain.end(), goes_on).read());
    RETURN_IF_ERROR(require_going_on(goes_on));
    whole.bytes_read += again.bytes_read();
    whole.analysis = again.take_analysis();
  }
  return whole;
}

}  // namespace swizzle

#include "storage/recovery/backup/digest_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/checksum.h"
#include "storage/recovery/analysis.h"
#include "storage/recovery/records/history_event.h"
#include "storage/recovery/records/record_effects.h"
#include "wal/log.h"
#include "wal/older_log.h"

namespace swizzle {
namespace {

using Page = SegmentDigest::Page;
using To = Analysis::MapChange::To;

/// Analyses the records of a segment alone, and notes its events.
class DigestBuilder final : public wal::OpeningVisitor {
 public:
  explicit DigestBuilder(Lsn segment_end)
      : segment_end_(segment_end), analysis_(Checkpoint{}, unobserved_, LogAnalysis::Lists::none) {}

  void begin(Lsn from, Lsn /*limit*/) override {
    digest_.begin = digest_.end = from;
    analysis_.begin(from, segment_end_);
  }
  void visit(const wal::Record& record) override {
    is_over_ = record.end > segment_end_ || !outcome_;
    if (is_over_) return;
    analysis_.visit(record);
    outcome_ = note(record);
    digest_.last = record.lsn;
    digest_.end = record.end;
    ++digest_.records;
  }
  [[nodiscard]] bool wants_more() const override { return !is_over_; }

  Result<SegmentDigest> finish() {
    RETURN_IF_ERROR(std::move(outcome_));
    if (digest_.records == 0 || (!is_over_ && digest_.end != segment_end_))
      return fail(sqlstate::data_corrupted,
                  fmt::format("the log ends at LSN {}, before the segment", raw(digest_.end)));
    ASSIGN_OR_RETURN(Analysis analysis, analysis_.finish(digest_.end));
    RETURN_IF_ERROR(add_pages(analysis));
    for (const auto& [id, transaction] : analysis.losers) digest_.open.push_back(transaction);
    digest_.trees.assign(analysis.trees.begin(), analysis.trees.end());
    digest_.next_txn = analysis.next_txn;
    digest_.ended_at_us = analysis.ended_at_us;
    std::ranges::sort(digest_.ended);
    const auto twice = std::ranges::unique(digest_.ended);
    digest_.ended.erase(twice.begin(), twice.end());
    return std::move(digest_);
  }

 private:
  Result<> note(const wal::Record& record) {
    using Kind = HistoryEvent::Kind;
    ASSIGN_OR_RETURN(HistoryEvent event, event_of(record));
    if (event.kind == Kind::other) return {};
    digest_.last_event_end = record.end;
    if (event.time_us)
      digest_.youngest_us = std::max(*event.time_us, digest_.youngest_us.value_or(*event.time_us));
    const bool is_end = event.kind == Kind::commit || event.kind == Kind::rollback;
    if (is_end && record.header.txn != TxnId::none) digest_.ended.push_back(record.header.txn);
    if (event.kind == Kind::commit) {
      digest_.last_commit = record.header.txn;
      digest_.last_commit_us = event.time_us;
    }
    if (event.kind == Kind::restore_point) digest_.restore_points.push_back(std::move(event.name));
    return {};
  }

  /// The last change of the space map tells what became of a page.
  Result<> add_pages(const Analysis& analysis) {
    std::unordered_map<PageId, To> last;
    for (const Analysis::MapChange& change : analysis.map_changes)
      last.insert_or_assign(change.page, change.to);
    for (const auto& [page, pending] : analysis.dirty) {
      const auto change = last.find(page);
      if (change != last.end() && change->second == To::free)
        return fail(sqlstate::data_corrupted,
                    fmt::format("page {} has a change after it was freed", raw(page)));
      const bool is_whole = change != last.end();
      digest_.pages.push_back({page, is_whole ? Page::Fate::whole : Page::Fate::changed,
                               pending.since, pending.newest});
    }
    for (const auto& [page, to] : last)
      if (to == To::free && page != PageId::none)
        digest_.pages.push_back({.page = page, .fate = Page::Fate::freed});
    std::ranges::sort(digest_.pages, {}, &Page::page);
    return {};
  }

  const Lsn segment_end_;
  const RecoveryObserver unobserved_;
  LogAnalysis analysis_;
  SegmentDigest digest_;
  Result<> outcome_;
  bool is_over_ = false;
};

}  // namespace

Result<Lsn> first_ending_in(const wal::LogLocation& log, std::uint64_t number) {
  const Lsn start{number * log.segment_bytes};
  ASSIGN_OR_RETURN(const auto found, wal::find_record(log, start));
  if (!found)
    return fail(sqlstate::data_corrupted,
                fmt::format("no record begins behind LSN {}", raw(start)));
  if (*found == start) return *found;
  // The one before it crosses the segment's start.
  wal::Reader reader(log, *found);
  reader.seek(*found);
  ASSIGN_OR_RETURN(const auto crossing, reader.previous());
  if (crossing && crossing->lsn < start) return crossing->lsn;
  return fail(sqlstate::data_corrupted,
              fmt::format("the record that crosses LSN {} is not there", raw(start)));
}

Result<SegmentDigest> make_digest(const wal::LogLocation& log, std::uint64_t number, Lsn begin) {
  DigestBuilder builder(Lsn{(number + 1) * log.segment_bytes});
  RETURN_IF_ERROR(wal::read_to_end(log, begin, builder));
  ASSIGN_OR_RETURN(SegmentDigest digest, builder.finish());
  wal::Reader reader(log, digest.end);
  ASSIGN_OR_RETURN(const wal::Record last, reader.read(digest.last));
  digest.last_sum = sum_of_record(last);
  return digest;
}

std::uint64_t sum_of_record(const wal::Record& record) noexcept {
  return checksum(record.payload, raw(record.lsn) ^ (raw(record.header.txn) << 1U));
}

}  // namespace swizzle

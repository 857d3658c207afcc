#include "storage/standby/sent_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/standby/lsn_words.h"

namespace swizzle {

SentLog::SentLog(LogicalLog& log, std::uint32_t timeline, Lsn from)
    : log_(log),
      reader_(log.bytes()),
      timeline_(timeline == 0 ? log.timeline() : timeline),
      position_(from) {}

Lsn SentLog::limit() const noexcept {
  return std::min(reader_->durable(), until_);
}

Result<> SentLog::follow_timeline() {
  const std::uint32_t present = log_.timeline();
  if (timeline_ == present || next_timeline_ != 0) return {};
  ASSIGN_OR_RETURN(const wal::TimelineHistory history, log_.history(present));
  const auto end = history.end_of(timeline_);
  if (!end) {
    return fail(sqlstate::internal_error,
                fmt::format("requested timeline {} is not in this server's history", timeline_));
  }
  if (position_ > *end) {
    return fail(
        Error{sqlstate::internal_error,
              fmt::format("requested starting point {} on timeline {} is not in this server's "
                          "history",
                          lsn_words(position_), timeline_)}
            .with_detail(fmt::format("This server's history forked from timeline {} at {}.",
                                     timeline_, lsn_words(*end))));
  }
  until_ = *end;
  next_timeline_ = present;
  for (const wal::TimelineEnd& older : history.older())
    if (older.timeline > timeline_) next_timeline_ = std::min(next_timeline_, older.timeline);
  return {};
}

Result<> SentLog::check_start() {
  RETURN_IF_ERROR(follow_timeline());
  if (position_ <= reader_->durable()) return {};
  return fail(sqlstate::internal_error,
              fmt::format("requested starting point {} is ahead of the WAL flush position of this "
                          "server {}",
                          lsn_words(position_), lsn_words(reader_->durable())));
}

Result<> SentLog::check_kept() {
  if (!is_at_end()) RETURN_IF_ERROR(reader_->read(position_, limit()));
  return {};
}

Result<std::optional<SentLog::Piece>> SentLog::next() {
  // In this order: who sees the end of a timeline's log sees the timeline, too (Log::extend()).
  const Lsn durable = reader_->durable();
  RETURN_IF_ERROR(follow_timeline());
  const Lsn end = std::min(durable, until_);
  if (position_ >= end) return std::optional<Piece>{};
  ASSIGN_OR_RETURN(const Bytes bytes, reader_->read(position_, end));
  const Piece piece{.at = position_, .bytes = bytes, .end = end};
  position_ = Lsn{raw(position_) + bytes.size()};
  return std::optional{piece};
}

void SentLog::end_with_mark() {
  if (is_at_end()) log_.end_with_mark(position_);
}

}  // namespace swizzle

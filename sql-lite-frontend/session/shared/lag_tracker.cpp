#include "sql-lite-frontend/session/shared/lag_tracker.h"

#include <algorithm>

namespace swizzle::sql {

void LagTracker::note_sent(Lsn end, TimePoint now) {
  if (!samples_.empty() && samples_.back().at >= end) return;
  // A follower that is far behind has fewer samples: the last one moves.
  if (samples_.size() == kSamples) samples_.pop_back();
  samples_.push_back({end, now});
  for (Reader& reader : readers_) reader.next = std::min(reader.next, samples_.size() - 1);
}

std::optional<Duration> LagTracker::read(Kind kind, Lsn position, TimePoint now) {
  Reader& reader = readers_[static_cast<std::size_t>(kind)];
  std::optional<TimePoint> sent_at;
  while (reader.next < samples_.size() && samples_[reader.next].at <= position) {
    reader.last = samples_[reader.next++];
    sent_at = reader.last->sent_at;
  }
  const bool is_at_end = reader.next == samples_.size();
  if (is_at_end) reader.last.reset();
  if (!sent_at && is_at_end) return std::nullopt;
  if (!sent_at) {
    const Sample& next = samples_[reader.next];
    // A follower that had everything has the first part of a burst before it: it lags at least so
    // much.
    sent_at = next.sent_at;
    if (reader.last) {
      if (position < reader.last->at) return std::nullopt;
      const double share = static_cast<double>(raw(position) - raw(reader.last->at)) /
                           static_cast<double>(raw(next.at) - raw(reader.last->at));
      const Duration between = next.sent_at - reader.last->sent_at;
      sent_at = reader.last->sent_at +
                Duration{static_cast<Duration::rep>(static_cast<double>(between.count()) * share)};
    }
  }
  forget_read();
  return now - *sent_at;
}

void LagTracker::forget_read() {
  const std::size_t read = std::ranges::min_element(readers_, {}, &Reader::next)->next;
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(read));
  for (Reader& reader : readers_) reader.next -= read;
}

}  // namespace swizzle::sql

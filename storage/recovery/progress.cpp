#include "storage/recovery/progress.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace swizzle {
namespace {

// The observer is called at most so often, so that it need not be fast.
constexpr Duration kTellEvery = std::chrono::milliseconds{100};
constexpr Duration kWriteEvery = std::chrono::seconds{2};

double seconds(Duration duration) {
  return std::chrono::duration<double>{duration}.count();
}

}  // namespace

Progress::Progress(std::string phase, std::uint64_t total, const RecoveryObserver& observer,
                   std::uint64_t look_every)
    : observer_(observer),
      begin_(Runtime::current().now()),
      told_at_(begin_),
      written_at_(begin_),
      look_every_(look_every) {
  progress_.phase = std::move(phase);
  progress_.total = total;
  if (observer_) observer_(progress_);
}

Progress::~Progress() {
  progress_.done = progress_.total;
  progress_.seconds_left = 0;
  if (observer_) observer_(progress_);
  // The end of a phase is logged if the phase was.
  if (written_at_ != begin_) write_line();
}

void Progress::reached(std::uint64_t done, Lsn position) {
  progress_.done = std::min(done, progress_.total);
  progress_.position = position;
  if (++calls_ % look_every_ == 0) tell();
}

void Progress::tell() {
  const TimePoint now = Runtime::current().now();
  if (now - told_at_ < kTellEvery) return;
  told_at_ = now;
  if (progress_.done != 0) {
    const auto done = static_cast<double>(progress_.done);
    const auto left = static_cast<double>(progress_.total - progress_.done);
    progress_.seconds_left = seconds(now - begin_) / done * left;
  }
  if (observer_) observer_(progress_);
  if (now - written_at_ < kWriteEvery) return;
  written_at_ = now;
  write_line();
}

void Progress::write_line() {
  constexpr std::uint64_t kPercent = 100;
  const std::uint64_t percent =
      progress_.total == 0 ? kPercent : progress_.done * kPercent / progress_.total;
  spdlog::info("{}: {} %, at {}, {} pages, {} transactions, {:.0f} s left", progress_.phase,
               percent, raw(progress_.position), progress_.pages, progress_.transactions,
               progress_.seconds_left.value_or(0));
}

}  // namespace swizzle

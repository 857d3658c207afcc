#pragma once

#include <string>

#include "base/ids.h"
#include "storage/options.h"

namespace swizzle {

/// Tells an observer now and then how far a pass over the log has come.
class Progress {
 public:
  Progress(std::string phase, Lsn begin, Lsn end, const RecoveryObserver& observer)
      : begin_(raw(begin)), observer_(observer) {
    progress_.phase = std::move(phase);
    progress_.total = raw(end) > begin_ ? raw(end) - begin_ : 0;
    tell();
  }
  ~Progress() {
    progress_.done = progress_.total;
    tell();
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void reached(Lsn lsn) {
    progress_.done = raw(lsn) > begin_ ? raw(lsn) - begin_ : 0;
    if (progress_.done < told_ + kEvery) return;
    tell();
  }

 private:
  static constexpr std::uint64_t kEvery = std::uint64_t{16} << 20U;
  void tell() {
    told_ = progress_.done;
    if (observer_) observer_(progress_);
  }
  const std::uint64_t begin_;
  std::uint64_t told_ = 0;
  RecoveryProgress progress_;
  const RecoveryObserver& observer_;
};

}  // namespace swizzle

#pragma once

#include <string>

#include "base/ids.h"
#include "base/runtime/runtime.h"
#include "storage/options.h"

namespace swizzle {

/// Reports the progress of a phase to an observer and to the server's log. A phase that takes no
/// time is reported to the observer only.
class Progress {
 public:
  /// `look_every` for callers that call reached() for every record, since reading the clock takes
  /// as long as a record.
  static constexpr std::uint64_t kRecords = 64;
  /// `total` is in the unit of reached(), usually bytes of log. The clock is read at every
  /// `look_every`th call of reached().
  Progress(std::string phase, std::uint64_t total, const RecoveryObserver& observer,
           std::uint64_t look_every = kRecords);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void reached(std::uint64_t done, Lsn position);
  void set_pages(std::uint64_t pages) noexcept { progress_.pages = pages; }
  void set_transactions(std::uint64_t transactions) noexcept {
    progress_.transactions = transactions;
  }

 private:
  void tell();
  void write_line();

  const RecoveryObserver& observer_;
  const TimePoint begin_;
  TimePoint told_at_;
  TimePoint written_at_;
  std::uint64_t calls_ = 0;
  std::uint64_t look_every_;
  RecoveryProgress progress_;
};

}  // namespace swizzle

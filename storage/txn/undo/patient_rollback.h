#pragma once

#include "base/result.h"
#include "base/runtime/runtime.h"

namespace swizzle {

/// Lets a rollback wait until it can go on. What it lacks is held by others and becomes available
/// again: a replaceable page of the pool, room on the disk, a device that reads. Until then the
/// transaction's locks keep others from the changes that are not undone, and everything else
/// continues.
class PatientRollback {
 public:
  PatientRollback() noexcept : warn_at_(Runtime::current().now()) {}
  /// Parks for a moment. Ends the process after an error that waiting does not cure.
  void wait_out(const Error& error) noexcept;

 private:
  TimePoint warn_at_;
};

/// Calls `step` until it succeeds.
template <class Step>
void patiently(Step&& step) noexcept {
  PatientRollback patience;
  while (true) {
    const Result<> done = step();
    if (done) return;
    patience.wait_out(done.error());
  }
}

}  // namespace swizzle

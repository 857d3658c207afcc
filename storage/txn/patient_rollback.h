#pragma once

#include "base/result.h"
#include "base/runtime/runtime.h"

namespace swizzle {

/// Waits out what keeps a rollback from going on. A missing resource is held by others and comes
/// back: a page of the pool that may be replaced, room on the disk, a device that reads. Until then
/// the transaction's locks exclude others from what is not undone, and all else goes on.
class PatientRollback {
 public:
  PatientRollback() noexcept : warn_at_(Runtime::current().now()) {}
  /// Parks for a moment. Ends the process after an error that does not pass.
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

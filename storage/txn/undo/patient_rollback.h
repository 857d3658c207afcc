#pragma once

#include <concepts>

#include "base/result.h"
#include "base/runtime/runtime.h"

namespace swizzle {

/// Lets a rollback wait until it can go on. What it lacks is held by others and becomes available
/// again: a replaceable page of the pool, room on the disk, a device that reads. After any other
/// error it waits as well, and says so as an error: until somebody has mended the cause, or until
/// the next start, the transaction's locks keep others from the changes that are not undone, and
/// everything else continues. Ending the process would not undo them either, since the restart
/// meets the same error. (A log that cannot be written ends the process by itself.)
class PatientRollback {
 public:
  PatientRollback() noexcept : warn_at_(Runtime::current().now()) {}
  /// Parks for a moment, a longer one if waiting alone does not help.
  void wait_out(const Error& error) noexcept;
  /// True if what is lacking becomes available by itself.
  [[nodiscard]] static bool passes(const Error& error) noexcept;

 private:
  TimePoint warn_at_;
};

/// Calls `step` until it succeeds. Returns false if `goes_on(error)` is false after an error.
template <class Step, std::predicate<const Error&> GoesOn>
bool patiently(Step&& step, GoesOn&& goes_on) noexcept {
  PatientRollback patience;
  while (true) {
    const Result<> done = step();
    if (done) return true;
    if (!goes_on(done.error())) return false;
    patience.wait_out(done.error());
  }
}

}  // namespace swizzle

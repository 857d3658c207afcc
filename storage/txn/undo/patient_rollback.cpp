#include "storage/txn/undo/patient_rollback.h"

#include <spdlog/spdlog.h>

namespace swizzle {

bool PatientRollback::passes(const Error& error) noexcept {
  return error.state() == sqlstate::disk_full || error.state() == sqlstate::out_of_memory ||
         error.state() == sqlstate::io_error;
}

void PatientRollback::wait_out(const Error& error) noexcept {
  constexpr Duration kPause = std::chrono::milliseconds{100};
  constexpr Duration kLongPause = std::chrono::seconds{1};
  constexpr Duration kWarnEvery = std::chrono::minutes{1};
  Runtime& runtime = Runtime::current();
  const bool passes_by_itself = passes(error);
  if (runtime.now() >= warn_at_) {
    if (passes_by_itself)
      spdlog::warn("a rollback waits until it can go on: {}", error.message());
    else
      spdlog::error(
          "a rollback cannot go on, and is tried again until the server is stopped: {}{}{}",
          error.message(), error.hint().empty() ? "" : "; ", error.hint());
    warn_at_ = runtime.now() + kWarnEvery;
  }
  runtime.sleep_until(runtime.now() + (passes_by_itself ? kPause : kLongPause));
}

}  // namespace swizzle

#include "storage/txn/undo/patient_rollback.h"

#include <spdlog/spdlog.h>

#include "storage/engine_parts.h"

namespace swizzle {

void PatientRollback::wait_out(const Error& error) noexcept {
  constexpr Duration kPause = std::chrono::milliseconds{100};
  constexpr Duration kWarnEvery = std::chrono::minutes{1};
  const bool may_pass = error.state() == sqlstate::disk_full ||
                        error.state() == sqlstate::out_of_memory ||
                        error.state() == sqlstate::io_error;
  if (!may_pass) panic("a rollback cannot go on", error);
  Runtime& runtime = Runtime::current();
  if (runtime.now() >= warn_at_) {
    spdlog::warn("a rollback waits until it can go on: {}", error.message());
    warn_at_ = runtime.now() + kWarnEvery;
  }
  runtime.sleep_until(runtime.now() + kPause);
}

}  // namespace swizzle

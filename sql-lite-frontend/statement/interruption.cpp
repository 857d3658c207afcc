#include "sql-lite-frontend/statement/interruption.h"

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

void Interruption::cancel(std::optional<Diagnostic> reason) {
  const std::lock_guard lock{mutex_};
  is_cancelled_ = true;
  cancel_reason_ = std::move(reason);
  is_asked_.store(true, std::memory_order_relaxed);
}

void Interruption::terminate(const Diagnostic& reason) {
  const std::lock_guard lock{mutex_};
  termination_ = reason;
  is_asked_.store(true, std::memory_order_relaxed);
}

std::optional<Diagnostic> Interruption::termination() const {
  if (!is_asked_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::lock_guard lock{mutex_};
  return termination_;
}

void Interruption::forget_cancel() noexcept {
  const std::lock_guard lock{mutex_};
  is_cancelled_ = false;
  cancel_reason_.reset();
  is_asked_.store(termination_.has_value(), std::memory_order_relaxed);
}

void Interruption::act(Afterwards afterwards) {
  std::optional<Diagnostic> reason = termination();
  if (!reason) {
    const std::lock_guard lock{mutex_};
    if (!is_cancelled_) return;
    // Keep the reason for explain(): the cancelled lock wait is reported first, then this.
    if (afterwards == Afterwards::forgotten) is_cancelled_ = false;
    reason = cancel_reason_;
  }
  if (reason) {
    throw SqlError{reason->state, reason->message}
        .with_detail(reason->detail)
        .with_hint(reason->hint);
  }
  throw SqlError{sqlstate::query_canceled, "canceling statement due to user request"};
}

void Interruption::explain(Diagnostic& failure) const {
  if (failure.state != sqlstate::query_canceled) return;
  const std::lock_guard lock{mutex_};
  const auto& reason = termination_ ? termination_ : cancel_reason_;
  if (!reason) return;
  failure.state = reason->state;
  failure.message = reason->message;
  failure.detail = reason->detail;
  failure.hint = reason->hint;
}

}  // namespace swizzle::sql

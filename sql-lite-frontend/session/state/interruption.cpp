#include "sql-lite-frontend/session/state/interruption.h"

#include "sql-lite-frontend/bound/session_services.h"
#include "sql-lite-frontend/session/state/session_state.h"

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
    // The reason stays for explain(): the cancelled wait of a lock is found first, this second.
    if (afterwards == Afterwards::forgotten) is_cancelled_ = false;
    reason = cancel_reason_;
  }
  if (reason) throw SqlError{reason->state, reason->message};
  throw SqlError{sqlstate::query_canceled, "canceling statement due to user request"};
}

void Interruption::explain(Diagnostic& failure) const {
  if (failure.state != sqlstate::query_canceled) return;
  const std::lock_guard lock{mutex_};
  const auto& reason = termination_ ? termination_ : cancel_reason_;
  if (!reason) return;
  failure.state = reason->state;
  failure.message = reason->message;
}

// ---- Of a session

void check_cancelled(Session::State& session) {
  session.interruption.check();
}

void Session::cancel() noexcept {
  state_->interruption.cancel(std::nullopt);
  state_->transaction.interrupt_wait();
}

void Session::cancel(const Diagnostic& reason) {
  state_->interruption.cancel(reason);
  state_->transaction.interrupt_wait();
}

bool Session::end_transaction(TxnId transaction, const Diagnostic& reason) {
  if (!state_->transaction.is_numbered(transaction)) return false;
  const bool is_idle =
      state_->activity.state.load(std::memory_order_relaxed) != Activity::State::active;
  // A request may begin or end meanwhile. One that begins fails, as always after terminate(); for
  // one that ends there is nothing left to cancel, and a repeated call finds an idle session.
  if (is_idle) {
    terminate(reason);
  } else {
    cancel(reason);
  }
  return true;
}

void Session::terminate(const Diagnostic& reason) {
  state_->interruption.terminate(reason);
  state_->transaction.interrupt_wait();
  // It may wait for its client.
  if (state_->options.end) state_->options.end();
}

std::optional<Diagnostic> Session::termination() const {
  return state_->interruption.termination();
}

}  // namespace swizzle::sql

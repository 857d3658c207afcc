#pragma once

#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// Runs one request of the client: its errors become the outcome, and undo its changes. `text` is
/// the text in which error positions count; `body` may set another one.
template <class Body>
Outcome guarded(Session::State& state, ResultSink& sink, const std::string_view& text,
                const Body& body) {
  state.sink_for_notices = &sink;
  state.session_context.statement_timestamp = SessionContext::system_clock_now();
  std::optional<Diagnostic> failure;
  state.interruption.begin_request();
  try {
    const OversightScope oversight{state.interruption};
    state.enter_gate();
    if (state.transaction) state.transaction->clear_cancel();
    state.check_cancelled();
    body();
    if (state.was_promoted) [[unlikely]]
      state.follow_promotion(sink);
  } catch (const SqlError& error) {
    failure = to_diagnostic(error, text);
  } catch (const std::bad_alloc&) {
    failure.emplace();
    failure->state = sqlstate::out_of_memory;
    failure->message = "out of memory";
  } catch (const std::exception& error) {
    // A bug of ours ends one request of one client, not the server.
    failure.emplace();
    failure->state = sqlstate::internal_error;
    failure->message = error.what();
  }
  // From here on no exception is in flight, so rolling back may wait.
  if (failure) {
    // Undone at its own time, too: it may not have been let in.
    state.enter_gate_to_end();
    state.interruption.explain(*failure);
    state.note_failure(failure->state, failure->message);
    state.transaction.fail();
  }
  if (state.shared.engine.salvages()) [[unlikely]]
    state.transaction.tell_passed_over(sink);
  state.sink_for_notices = nullptr;
  state.bound_formats.reset();
  state.note_rest();
  if (state.is_inside_gate.load(std::memory_order_relaxed)) [[unlikely]]
    state.leave_gate();
  if (failure) return std::unexpected{std::move(*failure)};
  return {};
}

}  // namespace swizzle::sql

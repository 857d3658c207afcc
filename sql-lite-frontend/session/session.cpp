#include "sql-lite-frontend/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/triggers/event_triggers.h"
#include "sql-lite-frontend/login_triggers.h"
#include "sql-lite-frontend/session/guarded_request.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/log_class.h"
#include "sql-lite-frontend/statement/rights/session_user.h"
#include "sql-lite-frontend/types/long_values.h"
#include "storage/logical/logical_log.h"
#include "storage/replay_gate.h"

namespace swizzle::sql {
Session::State::State(Database::Shared& shared_database, SessionOptions session_options)
    : StatementContext({shared_database, transaction, variables, *this},
                       std::move(session_options)),
      shared(shared_database) {
  const RolePtr role = catalog.role(options.user);
  if (!role) {
    throw_error(SqlState{"28000"}, "role \"{}\" does not exist", options.user);
  }
  login = session_user = user = role->oid;
  rights.require_connect();
  activity.connected_at = SessionContext::system_clock_now();
  activity.state_change.store(activity.connected_at, std::memory_order_relaxed);
  variables.apply_stored();
  for (const auto& [name, value] : options.parameters) {
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
      return static_cast<char>(std::tolower(letter));
    });
    const std::string cleaned = variables.canonical_value(lower, value);
    if (lower == "role" && cleaned != "none") name_current_user(*this, cleaned);
    if (lower == "session_authorization") name_session_user(*this, cleaned);
    value_of(settings.set_at_start(name, cleaned, SettingSource::client));
  }
  variables.changed(nullptr);
}

Session::State::~State() {
  // Their statements' plans refer to `plans`.
  routine_codes.reset();
  trigger_codes.reset();
}

void Session::State::enter_gate(ReplayGate& gate) {
  if (is_inside_gate.load(std::memory_order_relaxed)) return;
  if (!gate.enter()) {
    check_cancelled();
    throw SqlError{SqlState{"57P01"}, "terminating connection due to administrator command"};
  }
  is_inside_gate.store(true, std::memory_order_relaxed);
}

void Session::State::enter_gate_to_end() noexcept {
  ReplayGate* const gate = shared.engine.replay_gate();
  if (gate == nullptr || is_inside_gate.load(std::memory_order_relaxed)) return;
  if (gate->enter_to_end()) is_inside_gate.store(true, std::memory_order_relaxed);
}

void Session::State::leave_gate() noexcept {
  const bool has_cursors = std::ranges::any_of(portals.all(), [](const auto& entry) {
    return entry.second->is_cursor || entry.second->state == Portal::State::running;
  });
  if (transaction.keeps_view(has_cursors)) return;
  is_inside_gate.store(false, std::memory_order_relaxed);
  shared.engine.own_replay_gate()->leave();
}

bool Session::State::await_promotion(Duration longest) {
  constexpr Duration kLooksEvery = std::chrono::milliseconds{20};
  Runtime& runtime = Runtime::current();
  const TimePoint end = runtime.now() + longest;
  const auto is_over = [&] { return !shared.engine.is_standby() || runtime.now() >= end; };
  is_inside_gate.store(false, std::memory_order_relaxed);
  shared.engine.own_replay_gate()->leave();
  while (!is_over() && !interruption.is_asked())
    runtime.sleep_until(std::min(end, runtime.now() + kLooksEvery));
  // The statement goes on, or is undone, in its transaction.
  enter_gate_to_end();
  check_cancelled();
  return !shared.engine.is_standby();
}

void Session::State::follow_promotion(ResultSink& sink) {
  was_promoted = false;
  variables.changed(&sink);
}

/// Adds the session's usage to that of the ended sessions.
void Session::State::leave() {
  const std::lock_guard lock{shared.sessions_mutex};
  const auto self = shared.sessions.find(options.backend_pid);
  if (self == shared.sessions.end() || self->second != owner) return;
  shared.sessions.erase(self);
  add_usage(shared.ended_sessions.by_database[catalog.of_database().database()].usage);
}

void Session::State::add_usage(DatabaseUsage& to) const {
  const bool is_clients = !options.is_maintenance && !options.is_replication;
  if (!is_clients || usage.end() == SessionEnd::refused) return to.add_use(usage);
  const std::int64_t lasted = SessionContext::system_clock_now() - activity.connected_at;
  to.add_session(usage, static_cast<std::uint64_t>(std::max<std::int64_t>(lasted, 0)));
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}

Session::~Session() {
  state_->enter_gate_to_end();
  state_->transaction.rollback();
  if (state_->advisory_locks_used) {
    state_->shared.advisory_locks.unlock_all(backend_pid(), AdvisoryScope::session);
  }
  if (state_->slots_used) state_->shared.engine.logical_log().slots().drop_all_of(backend_pid());
  state_->portals.close_all();
  if (!state_->shared.engine.is_standby()) state_->drop_owned_temporaries();
  if (state_->is_inside_gate.load(std::memory_order_relaxed)) state_->leave_gate();
  state_->leave();
}

MemoryAccount& Session::memory() noexcept {
  return state_->memory;
}

SessionUsage& usage_of(Session& session) noexcept {
  return session.state().usage;
}

Outcome Session::simple_query(std::string_view text, ResultSink& sink) {
  // Data that a COPY reads reuse the message's memory, so a text that may have a COPY is copied.
  std::string script;
  std::string_view counted = text;
  return guarded(*state_, sink, counted, [&] {
    state_->note_query(text);
    if (const auto unnamed = state_->statements.find(""); unnamed != state_->statements.end()) {
      state_->statements.erase(unnamed);
    }
    state_->tell_of_long_names(text, sink);
    if (state_->run_shape(text, sink)) return;
    script = for_bytes(text.size(), [&] { return std::string{text}; });
    counted = script;
    state_->run_script(script, sink);
  });
}

Outcome Session::run_request(std::string_view text, ResultSink& sink,
                             const std::function<void()>& body) {
  return guarded(*state_, sink, text, [&] {
    state_->note_query(text);
    body();
  });
}

TransactionStatus Session::transaction_status() const noexcept {
  if (!state_->transaction.in_explicit_block()) return TransactionStatus::idle;
  return state_->transaction.is_failed() ? TransactionStatus::failed : TransactionStatus::in_block;
}

std::vector<std::pair<std::string, std::string>> Session::reported_settings() const {
  return {state_->variables.reported().begin(), state_->variables.reported().end()};
}

std::optional<std::string> Session::setting(std::string_view name) const {
  const auto value = state_->variables.shown_value(name);
  if (!value) return std::nullopt;
  return *value;
}

const EncodingTable* Session::client_encoding() const noexcept {
  return state_->session_context.format.client_encoding;
}

std::string_view Session::portal_text(std::string_view portal) const noexcept {
  const PortalPtr found = state_->portals.find(portal);
  return found ? std::string_view{found->statement->text()} : std::string_view{};
}

LogClass log_class(Session& session, std::string_view script) {
  return log_class_of(script, [&session](std::string_view name) -> const ast::Node* {
    const auto& statements = session.state().statements;
    const auto found = statements.find(name);
    return found == statements.end() ? nullptr : found->second->node;
  });
}

std::string Session::current_query() const {
  return state_->activity.query.load();
}

std::size_t Session::describe_work(std::span<char> into) const noexcept {
  const auto end = fmt::format_to_n(into.data(), into.size(),
                                    "session {} of {} in {}: ", state_->options.backend_pid,
                                    state_->options.user, state_->options.database);
  const std::size_t used = std::min(static_cast<std::size_t>(end.size), into.size());
  return used + state_->activity.query.peek(into.subspan(used));
}

std::int32_t Session::backend_pid() const noexcept {
  return state_->options.backend_pid;
}

bool Session::has_worked_for(std::chrono::nanoseconds at_least) const noexcept {
  const Activity& activity = state_->activity;
  if (activity.state.load(std::memory_order_relaxed) != Activity::State::active) return false;
  const std::int64_t worked =
      SessionContext::system_clock_now() - activity.query_start.load(std::memory_order_relaxed);
  return std::chrono::microseconds{worked} >= at_least;
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
  // The session may be waiting for its client.
  if (state_->options.end) state_->options.end();
}

std::optional<Diagnostic> Session::termination() const {
  return state_->interruption.termination();
}

void Session::send_first_notices(ResultSink& sink) {
  warn_of_database_collation(*state_, sink);
}

Outcome run_login_triggers(Session& session, ResultSink& sink) {
  Session::State& state = session.state();
  // A damaged database must let its superuser in.
  if (state.shared.engine.salvages() || state.options.is_replication) return {};
  if (!has_login_triggers(state)) return {};
  Outcome outcome = session.run_request("", sink, [&] {
    state.transaction.begin(SessionTransaction::Block::implicit);
    state.transaction.begin_statement();
    fire_login(state);
  });
  if (outcome) outcome = session.sync(sink);
  return outcome;
}

}  // namespace swizzle::sql

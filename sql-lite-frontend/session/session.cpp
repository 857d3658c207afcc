#include "sql-lite-frontend/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "sql-lite-frontend/session/functions/session_user.h"
#include "sql-lite-frontend/session/results/execute_sink.h"
#include "sql-lite-frontend/session/results/row_view.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/utility.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/null_values.h"
#include "storage/logical/logical_log.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kProtocolViolation{"08P01"};

/// Runs one request of the client: its errors become the outcome, and undo what it did. `text` is
/// what error positions count in; `body` may put it elsewhere.
template <class Body>
Outcome guarded(Session::State& state, ResultSink& sink, const std::string_view& text,
                const Body& body) {
  state.sink_for_notices = &sink;
  state.session_context.statement_timestamp = SessionContext::system_clock_now();
  std::optional<SessionTransaction::Savepoint> start;
  if (state.transaction && state.transaction.in_explicit_block() && !state.transaction.is_failed())
    start = state.transaction.mark();
  std::optional<Diagnostic> failure;
  state.interruption.begin_request();
  if (state.transaction) state.transaction->clear_cancel();
  try {
    const OversightScope oversight{state.interruption};
    check_cancelled(state);
    body();
  } catch (const SqlError& error) {
    failure = to_diagnostic(error, text);
  } catch (const std::bad_alloc&) {
    failure.emplace();
    failure->state = sqlstate::out_of_memory;
    failure->message = "out of memory";
  } catch (const std::exception& error) {
    // A mistake of ours ends one request of one client.
    failure.emplace();
    failure->state = sqlstate::internal_error;
    failure->message = error.what();
  }
  // From here on no exception is in flight, so rolling back may wait.
  if (failure) {
    state.interruption.explain(*failure);
    state.note_failure(failure->state, failure->message);
    if (state.transaction && state.transaction.in_explicit_block()) {
      if (start) {
        state.transaction.fail_statement(*start);
      } else {
        state.transaction.set_failed();
      }
    } else {
      state.transaction.rollback();
    }
  }
  state.sink_for_notices = nullptr;
  state.bound_formats.reset();
  state.note_rest();
  if (failure) return std::unexpected{std::move(*failure)};
  return {};
}

std::string_view select_name(const ast::SelectStmt& select) noexcept {
  if (select.locking_clause.empty()) return "SELECT";
  const auto* locking = ast::try_as<ast::LockingClause>(select.locking_clause[0]);
  using Strength = ast::LockClauseStrength;
  switch (locking == nullptr ? Strength::undefined : locking->strength) {
    case Strength::forkeyshare:
      return "SELECT FOR KEY SHARE";
    case Strength::forshare:
      return "SELECT FOR SHARE";
    case Strength::fornokeyupdate:
      return "SELECT FOR NO KEY UPDATE";
    default:
      return "SELECT FOR UPDATE";
  }
}

}  // namespace

std::string_view statement_name(const ast::Node* node) noexcept {
  switch (node->node_kind) {
    case ast::NodeKind::select_stmt:
      return select_name(ast::as<ast::SelectStmt>(node));
    case ast::NodeKind::insert_stmt:
      return "INSERT";
    case ast::NodeKind::update_stmt:
      return "UPDATE";
    case ast::NodeKind::delete_stmt:
      return "DELETE";
    default:
      return ast::node_name(node->node_kind);
  }
}

namespace {

Oid database_oid(Database::Shared& shared, std::string_view name) {
  const DatabasePtr database = shared.catalogs->shared().database(name);
  if (!database)
    throw_error(sqlstate::invalid_catalog_name, "database \"{}\" does not exist", name);
  return database->oid;
}

}  // namespace

Session::State::State(Database::Shared& shared_database, SessionOptions session_options)
    : shared(shared_database),
      options(std::move(session_options)),
      settings(shared_database.settings,
               [this] {
                 return rights.is_superuser(user) ? SessionSettings::Power::superuser
                                                  : SessionSettings::Power::ordinary;
               }),
      database_use(*shared_database.catalogs, database_oid(shared_database, options.database)),
      catalog(database_use.catalog()),
      temporary_files(shared_database.temporary_files->counted_in(usage)),
      memory(shared_database.memory) {
  const RolePtr role = catalog.role(options.user);
  if (!role) {
    throw_error(SqlState{"28000"}, "role \"{}\" does not exist", options.user);
  }
  login = session_user = user = role->oid;
  rights.require_connect();
  session_context.names = &names;
  memory.files = &temporary_files;
  activity.connected_at = SessionContext::system_clock_now();
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

Session::State::~State() = default;

/// What it has used counts with that of the others that are over.
void Session::State::leave() {
  const std::lock_guard lock{shared.sessions_mutex};
  const auto self = shared.sessions.find(options.backend_pid);
  if (self == shared.sessions.end() || self->second != owner) return;
  shared.sessions.erase(self);
  add_usage(shared.ended_sessions.by_database[catalog.shared().database()].usage);
}

void Session::State::add_usage(DatabaseUsage& to) const {
  const bool is_clients = !options.is_maintenance && !options.is_replication;
  if (!is_clients || usage.end() == SessionEnd::refused) return to.add_use(usage);
  const std::int64_t lasted = SessionContext::system_clock_now() - activity.connected_at;
  to.add_session(usage, static_cast<std::uint64_t>(std::max<std::int64_t>(lasted, 0)));
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}

Session::~Session() {
  state_->transaction.rollback();
  if (state_->advisory_locks_used) {
    state_->shared.advisory_locks.unlock_all(backend_pid(), AdvisoryScope::session);
  }
  if (state_->slots_used) state_->shared.engine.logical_log().slots().drop_all_of(backend_pid());
  state_->portals.close_all();
  state_->drop_owned_temporaries();
  state_->leave();
}

SessionUsage& usage_of(Session& session) noexcept {
  return session.state().usage;
}

Outcome Session::simple_query(std::string_view text, ResultSink& sink) {
  // Data that a COPY reads come into the memory of the message: what may hold one is copied.
  std::string script;
  std::string_view counted = text;
  return guarded(*state_, sink, counted, [&] {
    state_->note_query(text);
    if (const auto unnamed = state_->statements.find(""); unnamed != state_->statements.end()) {
      state_->statements.erase(unnamed);
    }
    tell_of_long_names(*state_, text, sink);
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

namespace {

/// What a Parse message without a name is known by: its text, which has no zero byte, and the types
/// that it gives.
std::string parsed_key(std::string_view text, std::span<const std::uint32_t> type_oids) {
  std::string key{text};
  if (!type_oids.empty()) key += '\0';
  key.append(as_text(std::as_bytes(type_oids)));
  return key;
}

StatementPtr parse_and_plan(Session::State& state, std::string_view text,
                            std::span<const std::uint32_t> type_oids) {
  StatementPtr statement = state.plans.parse(std::string{text}, type_oids);
  if (statement->node != nullptr) state.check_not_failed(statement->node);
  state.plans.analyze(*statement);
  return statement;
}

StatementPtr parse_unnamed(Session::State& state, std::string_view text,
                           std::span<const std::uint32_t> type_oids, ResultSink& sink) {
  const bool is_kept = text.size() <= kLongestKeptText;
  const std::string key = is_kept ? parsed_key(text, type_oids) : std::string{};
  if (is_kept) {
    // Of a text that came before: neither parsed nor planned again while that would give the same.
    if (StatementPtr known = state.plans.known_parse(key)) {
      state.check_not_failed(known->node);
      return known;
    }
  }
  const bool was_told = tell_of_long_names(state, text, sink);
  StatementPtr statement = parse_and_plan(state, text, type_oids);
  if (is_kept && !was_told && statement->plan && !statement->plan->plan->single_use)
    state.plans.keep_parse(key, statement);
  return statement;
}

}  // namespace

Outcome Session::parse(std::string_view name, std::string_view text,
                       std::span<const std::uint32_t> type_oids, ResultSink& sink) {
  return guarded(*state_, sink, text, [&] {
    State& state = *state_;
    if (name.empty()) {
      // The unnamed one goes even if what should replace it is wrong.
      state.statements.erase(std::string{});
      state.statements.emplace(std::string{}, parse_unnamed(state, text, type_oids, sink));
      return;
    }
    tell_of_long_names(state, text, sink);
    StatementPtr statement = parse_and_plan(state, text, type_oids);
    if (!state.statements.try_emplace(std::string{name}, std::move(statement)).second) {
      throw_error(sqlstate::duplicate_prepared_statement,
                  "prepared statement \"{}\" already exists", name);
    }
  });
}

namespace {

StatementPtr find_statement(Session::State& state, std::string_view name) {
  const auto found = state.statements.find(name);
  if (found == state.statements.end()) {
    if (name.empty()) {
      throw SqlError{sqlstate::invalid_sql_statement_name,
                     "unnamed prepared statement does not exist"};
    }
    throw_error(sqlstate::invalid_sql_statement_name, "prepared statement \"{}\" does not exist",
                name);
  }
  return found->second;
}

PortalPtr find_portal(Session::State& state, std::string_view name) {
  PortalPtr portal = state.portals.find(name);
  if (!portal) throw_error(sqlstate::invalid_cursor_name, "portal \"{}\" does not exist", name);
  return portal;
}

/// Result columns of statements without a plan: SHOW, EXPLAIN, FETCH.
std::vector<OutputColumn> utility_columns(Session::State& state, const ast::Node* node,
                                          std::span<const Format> formats) {
  std::vector<OutputColumn> columns;
  if (const auto* show = ast::try_as<ast::VariableShowStmt>(node)) {
    if (show->name == "all") {
      for (const std::string_view name : {"name", "setting", "description"}) {
        columns.push_back({name, 0, 0, raw(TypeId::text), -1, -1, Format::text});
      }
    } else {
      columns.push_back({show->name, 0, 0, raw(TypeId::text), -1, -1, Format::text});
    }
  } else if (const auto* explain = ast::try_as<ast::ExplainStmt>(node)) {
    columns.push_back(explain_column(*explain));
  } else if (const auto* fetch = ast::try_as<ast::FetchStmt>(node)) {
    columns = state.portals.fetch_columns(*fetch, formats);
  } else if (const auto* execute = ast::try_as<ast::ExecuteStmt>(node)) {
    const StatementPtr prepared = find_statement(state, execute->name);
    if (prepared->returns_rows) columns = output_columns(prepared->columns(), formats);
  }
  return columns;
}

Value read_parameter(FunctionContext& context, TypeId type, Format format, Bytes bytes) {
  if (format == Format::binary) return receive_binary(context, type, kNoTypmod, bytes);
  if (format != Format::text)
    throw_error(kProtocolViolation, "unsupported format code: {}", static_cast<int>(format));
  return input_text(context, type, kNoTypmod, as_text(bytes));
}

}  // namespace

Outcome Session::bind(const BindRequest& request, ResultSink& sink) {
  return guarded(*state_, sink, {}, [&] {
    State& state = *state_;
    const StatementPtr statement = find_statement(state, request.statement);
    const std::size_t expected = statement->parameter_types.size();
    if (request.values.size() != expected) {
      throw_error(kProtocolViolation,
                  "bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
                  request.values.size(), request.statement, expected);
    }
    if (request.formats.size() > 1 && request.formats.size() != request.values.size()) {
      throw_error(kProtocolViolation, "bind message has {} parameter formats but {} parameters",
                  request.formats.size(), request.values.size());
    }
    if (statement->node != nullptr) state.check_not_failed(statement->node);
    if (!request.portal.empty() && state.portals.find(request.portal)) {
      throw_error(sqlstate::duplicate_cursor, "cursor \"{}\" already exists", request.portal);
    }
    PortalPtr portal = state.portals.make_empty();
    portal->name = request.portal;
    portal->opened_at = state.session_context.statement_timestamp;
    portal->statement = statement;
    FunctionContext context{portal->arena, state.session_context, {}};
    for (std::size_t i = 0; i < expected; ++i) {
      if (!request.values[i]) {
        portal->parameters.push_back(null_of(context, statement->parameter_types[i]));
        continue;
      }
      Format format = Format::text;
      if (!request.formats.empty()) {
        format = request.formats.size() == 1 ? request.formats[0] : request.formats[i];
      }
      // The bytes are the message's; what refers to them must not outlive this call.
      portal->parameters.push_back(
          read_parameter(context, statement->parameter_types[i], format, *request.values[i])
              .copy_to(portal->arena));
    }
    if (is_plannable(statement->node)) {
      portal->use = state.plans.plan_for(*statement, portal->parameters);
      SessionPortals::require_runnable(portal->plan());
    }
    portal->formats.assign(request.result_formats.begin(), request.result_formats.end());
    if (portal->formats.size() > 1) {
      const std::size_t columns = portal->use ? statement->columns().size()
                                              : utility_columns(state, statement->node, {}).size();
      if (portal->formats.size() != columns) {
        throw_error(kProtocolViolation,
                    "bind message has {} result formats but query has {} columns",
                    portal->formats.size(), columns);
      }
    }
    if (!state.transaction) state.transaction.begin(SessionTransaction::Block::implicit);
    state.portals.open(std::move(portal));
  });
}

namespace {

void describe(Session::State& state, const Statement& statement, std::span<const Format> formats,
              ResultSink& sink) {
  if (statement.returns_rows) {
    sink.row_description(output_columns(statement.columns(), formats));
    return;
  }
  if (statement.node != nullptr && !is_plannable(statement.node)) {
    const auto columns = utility_columns(state, statement.node, formats);
    if (!columns.empty()) {
      sink.row_description(columns);
      return;
    }
  }
  sink.no_data();
}

}  // namespace

Outcome Session::describe_statement(std::string_view name, ResultSink& sink) {
  return guarded(*state_, sink, {}, [&] {
    const StatementPtr statement = find_statement(*state_, name);
    if (state_->transaction.is_failed() && statement->returns_rows)
      state_->check_not_failed(statement->node);
    if (is_plannable(statement->node)) state_->plans.analyze(*statement);
    std::vector<std::uint32_t> types;
    for (const TypeId type : statement->parameter_types) types.push_back(raw(type));
    sink.parameter_description(types);
    describe(*state_, *statement, {}, sink);
  });
}

Outcome Session::describe_portal(std::string_view name, ResultSink& sink) {
  return guarded(*state_, sink, {}, [&] {
    const PortalPtr portal = find_portal(*state_, name);
    if (state_->transaction.is_failed() && portal->statement->returns_rows) {
      state_->check_not_failed(portal->statement->node);
    }
    describe(*state_, *portal->statement, portal->formats, sink);
  });
}

Outcome Session::execute(std::string_view name, std::uint64_t max_rows, ResultSink& sink) {
  const PortalPtr portal = state_->portals.find(name);
  // Keeps the text for error positions.
  const StatementPtr executed = portal ? portal->statement : nullptr;
  const std::string_view text = executed ? std::string_view{executed->text()} : std::string_view{};
  return guarded(*state_, sink, text, [&] {
    State& state = *state_;
    if (!portal) find_portal(state, name);
    const StatementPtr statement = portal->statement;
    state.note_query(statement->text());
    if (statement->node == nullptr) {
      sink.empty_query();
      return;
    }
    state.check_not_failed(statement->node);
    if (const auto* control = ast::try_as<ast::TransactionStmt>(statement->node)) {
      state.transaction.run(*control, sink);
      return;
    }
    if (!state.transaction) state.transaction.begin(SessionTransaction::Block::implicit);
    if (portal->use) {
      state.portals.run(*portal, max_rows, sink);
    } else {
      state.bound_formats = portal->formats;
      ExecuteSink undescribed{sink};
      run_utility(state, statement->node, *statement, portal->parameters, undescribed);
    }
  });
}

Outcome Session::close_statement(std::string_view name) {
  if (const auto found = state_->statements.find(name); found != state_->statements.end()) {
    state_->statements.erase(found);
  }
  return {};
}

Outcome Session::close_portal(std::string_view name) {
  state_->portals.close(name);
  return {};
}

Outcome Session::sync(ResultSink& sink) {
  if (!state_->transaction || state_->transaction.in_explicit_block()) return {};
  return guarded(*state_, sink, {}, [&] { state_->transaction.commit(); });
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

std::string_view Session::portal_text(std::string_view portal) const noexcept {
  const PortalPtr found = state_->portals.find(portal);
  return found ? std::string_view{found->statement->text()} : std::string_view{};
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

}  // namespace swizzle::sql

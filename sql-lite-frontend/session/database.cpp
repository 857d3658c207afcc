#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/partition_functions.h"
#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/auto_analyze.h"
#include "sql-lite-frontend/session/functions/listening.h"
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/transactions/two_phase.h"
#include "sql-lite-frontend/session/views/providers.h"
#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "storage/replay_gate.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidAuthorization{"28000"};

/// Name of the folder in the data directory.
constexpr const char* kTemporaryFolder = "temporary";

/// Inside of the gate for its lifetime, on a standby.
class ReplayStay {
 public:
  explicit ReplayStay(ReplayGate* gate) noexcept : gate_(gate) {
    is_refused_ = gate_ != nullptr && !gate_->enter();
  }
  ReplayStay(const ReplayStay&) = delete;
  ReplayStay& operator=(const ReplayStay&) = delete;
  ~ReplayStay() {
    if (gate_ != nullptr && !is_refused_) gate_->leave();
  }
  [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }

 private:
  ReplayGate* const gate_;
  bool is_refused_ = false;
};

/// VALID UNTIL ends a role's password, not its other ways in.
bool has_expired(const Role& role) {
  if (role.valid_until.empty()) return false;
  SessionContext standard;
  Arena arena;
  FunctionContext context{arena, standard, {}};
  const Value end = input_text(context, TypeId::timestamptz, kNoTypmod, role.valid_until);
  const std::int64_t now = Runtime::current().wall_clock_us() - kUnixEpochDays * kMicrosPerDay;
  return end.as_int8() < now;
}

}  // namespace

Database::Shared::Shared(Engine& the_engine) : ServerContext(the_engine) {
  database_dropped = [this](Oid database) { forget_usage(database); };
  end_sessions_of = [this](StatementContext& asking, Oid database) {
    end_other_sessions(*this, asking, database);
  };
}
Database::Shared::~Shared() = default;

std::map<Oid, EndedSessions::Entry> Database::Shared::usage_by_database() {
  const std::lock_guard lock{sessions_mutex};
  std::map<Oid, EndedSessions::Entry> all = ended_sessions.by_database;
  for (const auto& [pid, session] : sessions) {
    const Session::State& state = session->state();
    state.add_usage(all[state.catalog.of_database().database()].usage);
  }
  for (auto& [database, entry] : all) entry.usage = entry.usage.since(entry.before_reset);
  return all;
}

void Database::Shared::reset_usage(Oid database) {
  const DatabaseUsage so_far = usage_by_database()[database].usage;
  const std::lock_guard lock{sessions_mutex};
  EndedSessions::Entry& entry = ended_sessions.by_database[database];
  entry.before_reset.add(so_far);
  entry.reset_at = SessionContext::system_clock_now();
}

void Database::Shared::forget_usage(Oid database) {
  const std::lock_guard lock{sessions_mutex};
  ended_sessions.by_database.erase(database);
}

Database::Database(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}
Database::~Database() {
  // First, since it opens sessions.
  shared_->auto_analyze->stop();
}

Result<std::unique_ptr<Database>> Database::open(Engine& engine) {
  auto shared = std::make_unique<Shared>(engine);
  std::optional<Error> failure;
  try {
    set_native_functions(native_function_of);
    provide_system_relations();
    add_notification_sets();
    add_partition_sets();
    add_acl_functions();
    add_text_query_functions();
    add_xml_row_functions();
    add_session_functions();
    add_replication_sets();
    add_log_file_sets();
    add_view_functions();
    add_server_views();
    define_session_settings(shared->settings, engine.is_standby() ? "on" : "off");
    shared->catalogs = Catalogs::open(engine);
    // Read now, so that damage shows before sessions are let in.
    const Catalogs::Use first{*shared->catalogs, kPostgresDatabase};
    shared->statistics = StatisticsStore::open(engine, first.catalog().tree());
    shared->temporary_files =
        value_of(TemporaryFiles::open(engine.files(), engine.directory() / kTemporaryFolder));
    add_two_phase_sets();
    if (!engine.is_standby()) take_up_advisory_locks(*shared);
    shared->started_at = SessionContext::system_clock_now();
    shared->transaction_numbers.begin_at(shared->started_at.load());
  } catch (SqlError& error) {
    failure = std::move(error).take_error();
  }
  if (failure) return fail(std::move(*failure));
  std::unique_ptr<Database> database{new Database{std::move(shared)}};
  database->shared().auto_analyze = std::make_unique<AutoAnalyze>(*database);
  if (!engine.salvages() && !engine.is_standby()) database->shared().auto_analyze->start();
  return database;
}

std::expected<std::unique_ptr<Session>, Diagnostic> Database::connect(SessionOptions options) {
  std::optional<Diagnostic> failure;
  const auto refuse = [&](SqlState state, std::string message) {
    failure.emplace();
    failure->severity = Severity::fatal;
    failure->state = state;
    failure->message = std::move(message);
  };
  const SharedObjects& objects = shared_->catalogs->shared_objects();
  const RolePtr role = objects.role(options.user);
  if (!role) {
    refuse(kInvalidAuthorization, fmt::format("role \"{}\" does not exist", options.user));
  } else if (!role->can_login) {
    refuse(kInvalidAuthorization,
           fmt::format("role \"{}\" is not permitted to log in", options.user));
  } else if (shared_->engine.salvages() && !role->superuser) {
    refuse(SqlState{"42501"},
           "must be superuser to connect while the server salvages a damaged database");
  } else if (const DatabasePtr database = objects.database(options.database); !database) {
    refuse(sqlstate::invalid_catalog_name,
           fmt::format("database \"{}\" does not exist", options.database));
  } else if (!database->allow_connections) {
    refuse(SqlState{"55000"},
           fmt::format("database \"{}\" is not currently accepting connections", options.database));
  }
  if (failure) return std::unexpected{std::move(*failure)};
  std::unique_ptr<Session> session;
  const ReplayStay stay{shared_->engine.replay_gate()};
  if (stay.is_refused()) {
    refuse(SqlState{"57P03"}, "the database system is shutting down");
    return std::unexpected{std::move(*failure)};
  }
  try {
    session.reset(new Session{std::make_unique<Session::State>(*shared_, std::move(options))});
  } catch (const SqlError& error) {
    failure = to_diagnostic(error, {});
    failure->severity = Severity::fatal;
  } catch (const std::bad_alloc&) {
    refuse(sqlstate::out_of_memory, "out of memory");
  }
  if (failure) return std::unexpected{std::move(*failure)};
  session->state_->owner = session.get();
  failure = admit(*session);
  if (failure) return std::unexpected{std::move(*failure)};
  return session;
}

std::optional<Diagnostic> Database::admit(Session& session) {
  const Session::State& state = session.state();
  const RolePtr role = state.catalog.role(state.login);
  const DatabasePtr database = state.catalog.database(state.catalog.of_database().database());
  // Limits do not apply to superusers and to the server's own sessions.
  const bool is_limited = role && database && !role->superuser && !state.options.is_maintenance;
  std::optional<Diagnostic> failure;
  const auto refuse = [&](std::string_view what, const std::string& name) {
    failure.emplace();
    failure->severity = Severity::fatal;
    failure->state = SqlState{"53300"};
    failure->message = fmt::format("too many connections for {} \"{}\"", what, name);
  };
  if (state.options.is_replication && !(role && (role->superuser || role->replication))) {
    failure.emplace();
    failure->severity = Severity::fatal;
    failure->state = sqlstate::insufficient_privilege;
    failure->message = "must be superuser or replication role to start walsender";
    return failure;
  }
  const std::lock_guard lock{shared_->sessions_mutex};
  if (state.options.is_replication) {
    const auto senders = std::ranges::count_if(shared_->sessions, [](const auto& entry) {
      return entry.second->state().options.is_replication;
    });
    const std::int64_t most = state.settings.integer("max_wal_senders");
    if (senders >= most) {
      failure.emplace();
      failure->severity = Severity::fatal;
      failure->state = SqlState{"53300"};
      failure->message = fmt::format(
          "number of requested standby connections exceeds max_wal_senders (currently {})", most);
      return failure;
    }
  }
  if (is_limited) {
    std::int32_t of_role = 0;
    std::int32_t of_database = 0;
    for (const auto& [pid, other] : shared_->sessions) {
      const Session::State& seen = other->state();
      if (seen.options.is_maintenance) continue;
      if (seen.login == state.login) ++of_role;
      if (&seen.catalog.of_database() == &state.catalog.of_database()) ++of_database;
    }
    const auto is_full = [](std::int32_t limit, std::int32_t count) {
      return limit >= 0 && count >= limit;
    };
    if (is_full(role->connection_limit, of_role)) {
      refuse("role", role->name);
    } else if (is_full(database->connection_limit, of_database)) {
      refuse("database", database->name);
    }
  }
  if (!failure) shared_->sessions[session.backend_pid()] = &session;
  return failure;
}

Result<> Database::moved(const std::set<TreeId>& changed) {
  std::optional<Error> failure;
  try {
    shared_->sequences.forget_read();
    // Statistics are few, and in a tree of their own.
    shared_->statistics->forget_known();
    if (changed.contains(Catalog::kTree) && shared_->catalogs->read_again()) {
      shared_->plans.clear();
      end_sessions_of_dropped();
    }
  } catch (SqlError& error) {
    failure = std::move(error).take_error();
  }
  if (failure) return fail(std::move(*failure));
  return {};
}

void Database::let_go_of_engine() noexcept {
  const Lsn received = shared_->standby.received();
  const Lsn replayed = shared_->standby.replayed();
  const std::int64_t replayed_at_us = shared_->standby.replayed_at_us();
  shared_->standby = {};
  shared_->standby.received = [received] { return received; };
  shared_->standby.replayed = [replayed] { return replayed; };
  shared_->standby.replayed_at_us = [replayed_at_us] { return replayed_at_us; };
  const std::lock_guard lock{shared_->sessions_mutex};
  for (const auto& [pid, session] : shared_->sessions)
    session->state().transaction.let_go_of_engine();
}

void Database::end_senders() {
  constexpr Duration kLooksEvery = std::chrono::milliseconds{2};
  Diagnostic reason;
  reason.severity = Severity::fatal;
  reason.state = SqlState{"57P01"};
  reason.message = "terminating walsender process because the standby is promoted";
  // One that begins to wait just now hears of it the next time.
  while (shared_->streams.load() != 0) {
    {
      const std::lock_guard lock{shared_->sessions_mutex};
      for (const auto& [pid, session] : shared_->sessions)
        if (session->state().options.is_replication) session->terminate(reason);
    }
    Runtime::current().sleep_until(Runtime::current().now() + kLooksEvery);
  }
}

Result<> Database::go_on_promoted() {
  std::optional<Error> failure;
  Engine& engine = shared_->engine;
  try {
    shared_->catalogs->open_promoted();
    const Catalogs::Use first{*shared_->catalogs, kPostgresDatabase};
    shared_->statistics = StatisticsStore::open(engine, first.catalog().tree());
    shared_->sequences.forget_read();
    shared_->plans.clear();
    take_up_advisory_locks(*shared_);
    shared_->transaction_numbers.begin_at(SessionContext::system_clock_now());
    shared_->settings.change_preset("in_hot_standby", "off");
    end_sessions_of_dropped();
    const std::lock_guard lock{shared_->sessions_mutex};
    for (const auto& [pid, session] : shared_->sessions) {
      session->state().transaction.go_on_promoted();
      session->state().was_promoted = true;
    }
  } catch (SqlError& error) {
    failure = std::move(error).take_error();
  }
  if (failure) return fail(std::move(*failure));
  if (!engine.salvages()) shared_->auto_analyze->start();
  return {};
}

namespace {

Diagnostic conflict_of(Severity severity, SqlState state, std::string_view what,
                       std::string_view detail) {
  Diagnostic conflict;
  conflict.severity = severity;
  conflict.state = state;
  conflict.message = fmt::format("{} due to conflict with recovery", what);
  conflict.detail = detail;
  if (severity == Severity::fatal) {
    conflict.hint =
        "In a moment you should be able to reconnect to the database and repeat your command.";
  }
  return conflict;
}

}  // namespace

void Database::end_sessions_of_dropped() {
  const std::lock_guard lock{shared_->sessions_mutex};
  for (const auto& [pid, session] : shared_->sessions) {
    const Oid database = session->state().catalog.of_database().database();
    if (shared_->catalogs->shared_objects().database(database)) continue;
    session->terminate(conflict_of(Severity::fatal, SqlState{"57P04"}, "terminating connection",
                                   "User was connected to a database that must be dropped."));
  }
}

void Database::cancel_conflicting() {
  constexpr std::string_view kDetail =
      "User query might have needed to see row versions that must be removed.";
  const std::lock_guard lock{shared_->sessions_mutex};
  for (const auto& [pid, session] : shared_->sessions) {
    Session::State& state = session->state();
    if (!state.is_inside_gate.load(std::memory_order_relaxed)) continue;
    const bool is_active =
        state.activity.state.load(std::memory_order_relaxed) == Activity::State::active;
    if (is_active) {
      session->cancel(conflict_of(Severity::error, sqlstate::serialization_failure,
                                  "canceling statement", kDetail));
    } else {
      session->terminate(conflict_of(Severity::fatal, sqlstate::serialization_failure,
                                     "terminating connection", kDetail));
    }
  }
}

SessionCounts Database::session_counts() const {
  SessionCounts counts;
  const std::lock_guard lock{shared_->sessions_mutex};
  for (const auto& [pid, session] : shared_->sessions) {
    switch (session->state().activity.state.load(std::memory_order_relaxed)) {
      case Activity::State::active:
        ++counts.active;
        break;
      case Activity::State::idle:
        ++counts.idle;
        break;
      case Activity::State::idle_in_transaction:
      case Activity::State::idle_in_failed:
        ++counts.idle_in_transaction;
        break;
    }
  }
  return counts;
}

std::optional<std::string> Database::password_verifier(std::string_view role) const {
  const RolePtr found = shared_->catalogs->shared_objects().role(role);
  if (!found || !found->can_login || has_expired(*found)) return std::nullopt;
  return found->password_verifier;
}

Result<> Database::set_superuser_verifier(std::string_view role, std::string_view verifier) {
  std::optional<Error> failure;
  try {
    const Catalogs::Use use{*shared_->catalogs, kPostgresDatabase};
    CatalogView view{use.catalog()};
    auto transaction = shared_->engine.begin();
    transaction->begin_statement();
    const RolePtr old = view.role(kBootstrapRole);
    Role changed = *old;
    changed.name = role;
    changed.password_verifier = verifier;
    view.replace(*transaction, *old, changed);
    value_of(transaction->commit());
    view.commit();
  } catch (SqlError& error) {
    failure = std::move(error).take_error();
  }
  if (failure) return fail(std::move(*failure));
  return {};
}

Result<> check_icu_locale(const std::string& locale) {
  try {
    IcuCollator::check(locale);
  } catch (SqlError& error) {
    return fail(std::move(error).take_error());
  }
  return {};
}

Result<> Database::set_icu_locale(const std::string& locale) {
  std::optional<Error> failure;
  try {
    const Catalogs::Use use{*shared_->catalogs, kPostgresDatabase};
    CatalogView view{use.catalog()};
    auto transaction = shared_->engine.begin();
    transaction->begin_statement();
    for (const DatabasePtr& database : view.databases()) {
      DatabaseEntry changed = *database;
      changed.icu_locale = locale;
      changed.locale_orders_all = true;
      // Databases made of template0 get the version of the time of their creation.
      if (changed.name != "template0") changed.collation_version = icu_version(locale);
      view.replace(*transaction, *database, std::move(changed));
    }
    value_of(transaction->commit());
    view.commit();
  } catch (SqlError& error) {
    failure = std::move(error).take_error();
  }
  if (failure) return fail(std::move(*failure));
  return {};
}

}  // namespace swizzle::sql

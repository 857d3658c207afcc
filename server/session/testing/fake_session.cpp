// A session that understands a few commands, instead of the SQL engine: tests the protocol around a
// session without a database.

#include <atomic>
#include <charconv>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "base/settings/settings.h"
#include "server/auth/scram_verifier.h"
#include "server/session/reports.h"
#include "sql-lite-frontend/login_triggers.h"
#include "sql-lite-frontend/publisher.h"
#include "sql-lite-frontend/replication.h"
#include "sql-lite-frontend/script.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/shared/log_senders.h"
#include "sql-lite-frontend/session_usage.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kSyntaxError{"42601"};
constexpr SqlState kDivisionByZero{"22012"};
constexpr SqlState kInFailedTransaction{"25P02"};
constexpr SqlState kCanceled{"57014"};
constexpr SqlState kNoStatement{"26000"};
constexpr SqlState kNoPortal{"34000"};

std::unexpected<Diagnostic> error(SqlState state, std::string message) {
  return std::unexpected{server::error_report(state, std::move(message))};
}

class TextRow final : public OutputRow {
 public:
  explicit TextRow(std::string value) : value_(std::move(value)) {}
  [[nodiscard]] std::size_t size() const noexcept override { return 1; }
  void append_data_row(std::string& buffer) const override {
    const auto length = std::byteswap(static_cast<std::uint32_t>(value_.size()));
    buffer.append("\0\1", 2);
    buffer.append(reinterpret_cast<const char*>(&length), 4);
    buffer += value_;
  }
  [[nodiscard]] std::optional<std::string> text(std::size_t) const override { return value_; }

 private:
  std::string value_;
};

std::size_t number_in(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  std::size_t number = 0;
  if (at != std::string_view::npos) {
    std::from_chars(text.data() + at, text.data() + text.size(), number);
  }
  return number;
}

}  // namespace

LogClass log_class(Session& /*session*/, std::string_view /*script*/) {
  return LogClass::other;
}

std::string_view statement_after(std::string_view script, std::size_t /*others*/) {
  return script;
}

struct Session::State {
  struct Portal {
    std::string text;
    std::size_t position = 0;
  };
  TransactionStatus status = TransactionStatus::idle;
  std::map<std::string, std::string, std::less<>> statements;
  std::map<std::string, Portal, std::less<>> portals;
  std::map<std::string, std::string, std::less<>> settings{{"is_superuser", "on"}};
  const EncodingTable* client_encoding = nullptr;
  MemoryAccount memory;
  std::atomic<bool> cancelled{false};
  /// Reason to end the running request; acts once.
  std::atomic<const Diagnostic*> reason{nullptr};
  Diagnostic reason_storage;
  /// Reason to end the session.
  std::atomic<const Diagnostic*> ending{nullptr};
  Diagnostic ending_storage;
  bool implicit_failed = false;
  std::int32_t pid = 0;
  std::string system_user;
  std::string said;
  std::atomic<bool> sleeps{false};
  std::function<void()> end;
  SessionUsage usage;

  Outcome fail(Outcome outcome) {
    if (status == TransactionStatus::in_block) status = TransactionStatus::failed;
    return outcome;
  }

  [[nodiscard]] bool is_asked_to_stop() const noexcept {
    return cancelled || reason.load() != nullptr || ending.load() != nullptr;
  }

  Outcome stopped() {
    if (const Diagnostic* why = ending.load()) return fail(std::unexpected{*why});
    if (const Diagnostic* why = reason.exchange(nullptr)) return fail(std::unexpected{*why});
    cancelled = false;
    return fail(error(kCanceled, "canceling statement due to user request"));
  }

  Outcome copy_in(ResultSink& sink) {
    sink.copy_in_begin({Format::text, 1});
    std::size_t bytes = 0;
    for (;;) {
      auto piece = sink.copy_in_data();
      if (!piece) return fail(std::unexpected{piece.error()});
      if (!*piece) break;
      bytes += (*piece)->size();
      if (as_text(**piece).find("bad") != std::string_view::npos) {
        return fail(error(kDivisionByZero, "bad row"));
      }
    }
    sink.command_complete("COPY " + std::to_string(bytes));
    return {};
  }

  Outcome rows(std::string_view text, std::size_t& position, std::uint64_t limit,
               ResultSink& sink) {
    const std::size_t all = number_in(text);
    const std::string filler = text.starts_with("wide") ? std::string(1000, 'x') : "";
    for (std::uint64_t sent = 0; position < all; ++position, ++sent) {
      if (limit != 0 && sent == limit) {
        sink.portal_suspended();
        return {};
      }
      if (is_asked_to_stop()) return stopped();
      sink.data_row(TextRow{std::to_string(position) + filler});
    }
    sink.command_complete("SELECT " + std::to_string(all));
    return {};
  }

  Outcome run(std::string_view text, std::size_t& position, std::uint64_t limit, ResultSink& sink) {
    if (status == TransactionStatus::failed && text != "rollback" && text != "commit") {
      return error(kInFailedTransaction,
                   "current transaction is aborted, commands ignored until end of transaction "
                   "block");
    }
    if (text.empty()) {
      sink.empty_query();
    } else if (text == "begin") {
      status = TransactionStatus::in_block;
      sink.command_complete("BEGIN");
    } else if (text == "commit" || text == "rollback") {
      const bool failed = status == TransactionStatus::failed;
      status = TransactionStatus::idle;
      sink.command_complete(failed || text == "rollback" ? "ROLLBACK" : "COMMIT");
    } else if (text == "error") {
      return fail(error(kDivisionByZero, "division by zero"));
    } else if (text.starts_with("notify ")) {
      said = text.substr(7);
      sink.command_complete("NOTIFY");
    } else if (text == "notice") {
      sink.notice(server::make_report(Severity::notice, SqlState{"00000"}, "hello"));
      sink.command_complete("DO");
    } else if (text == "sleep") {
      sleeps = true;
      while (!is_asked_to_stop()) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
      }
      return stopped();
    } else if (text.starts_with("set ")) {
      const std::size_t equals = text.find('=');
      settings[std::string{text.substr(4, equals - 4)}] = std::string{text.substr(equals + 1)};
      sink.parameter_status(text.substr(4, equals - 4), text.substr(equals + 1));
      sink.command_complete("SET");
    } else if (text == "copy in") {
      return copy_in(sink);
    } else if (text.starts_with("copy out")) {
      sink.copy_out_begin({Format::text, 1});
      for (std::size_t i = 0; i < number_in(text); ++i) sink.copy_out_data(as_bytes("row\n"));
      sink.copy_out_end();
      sink.command_complete("COPY " + std::to_string(number_in(text)));
    } else if (text.starts_with("SELECT abalance")) {
      sink.data_row(TextRow{"0"});
      sink.command_complete("SELECT 1");
    } else if (text == "system user") {
      sink.data_row(TextRow{system_user.empty() ? "nobody" : system_user});
      sink.command_complete("SELECT 1");
    } else if (text.starts_with("rows") || text.starts_with("wide")) {
      return rows(text, position, limit, sink);
    } else {
      return fail(error(kSyntaxError, "syntax error"));
    }
    return {};
  }
};

// Aligned as the real one is, which the server's code was compiled with.
struct alignas(64) Database::Shared {
  std::string verifier = server::ScramVerifier::derive("secret").text();
};

// No subscription is ever there.
std::vector<ApplyJob> find_apply_jobs(Database&) {
  return {};
}
bool have_subscriptions_changed(Database&) {
  return false;
}
void stop_apply_workers(Database&) {}
ApplyEnd run_apply_worker(Database&, PublisherDoor&, const ApplyJob&) {
  return ApplyEnd::over;
}

Database::Database(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::open(Engine&) {
  return std::unique_ptr<Database>{new Database{std::make_unique<Shared>()}};
}

std::expected<std::unique_ptr<Session>, Diagnostic> Database::connect(SessionOptions options) {
  if (options.database == "absent") {
    return error(SqlState{"3D000"}, "database \"absent\" does not exist");
  }
  auto state = std::make_unique<Session::State>();
  state->pid = options.backend_pid;
  state->system_user = options.system_user;
  state->end = std::move(options.end);
  if (options.user == "plain") state->settings["is_superuser"] = "off";
  return std::unique_ptr<Session>{new Session{std::move(state)}};
}

Result<> Database::moved(const std::set<TreeId>& /*changed*/) {
  return {};
}
void Database::cancel_conflicting() {}
void Database::end_senders() {}
std::vector<LogSenders::Sender> LogSenders::list() const {
  return {};
}
void Database::let_go_of_engine() noexcept {}
Result<> Database::go_on_promoted() {
  return {};
}

SessionCounts Database::session_counts() const {
  return {};
}

std::optional<std::string> Database::password_verifier(std::string_view role) const {
  if (role == "nobody") return std::nullopt;
  return shared_->verifier;
}

Result<> Database::set_superuser_verifier(std::string_view /*role*/, std::string_view verifier) {
  shared_->verifier = std::string(verifier);
  return {};
}

Result<> check_icu_locale(const std::string&) {
  return {};
}
Result<> Database::set_icu_locale(const std::string&) {
  return {};
}
void Session::send_first_notices(ResultSink&) {}
Outcome run_login_triggers(Session&, ResultSink&) {
  return {};
}

/// Servers that follow, and those that are followed, are no part of these tests.
void define_session_settings(Settings& settings, std::string_view in_hot_standby);
void define_session_settings(Settings& /*settings*/, std::string_view /*in_hot_standby*/) {}
Result<SyncRule> SyncRule::parse(std::string_view /*text*/) {
  return SyncRule{};
}
void LogSenders::set_rule(SyncRule /*rule*/) {}

SessionUsage& usage_of(Session& session) noexcept {
  return session.state().usage;
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

namespace {
const OutputColumn kColumn = [] {
  OutputColumn column;
  column.name = "n";
  column.type_oid = 25;
  return column;
}();

bool returns_rows(std::string_view text) {
  return text.starts_with("rows") || text.starts_with("wide") || text.starts_with("SELECT");
}
}  // namespace

/// Sessions here have no log to follow: all commands are SQL.
ReplicationCommands::ReplicationCommands(Session& session, For whom)
    : session_(session), for_(whom) {}
ReplicationCommands::~ReplicationCommands() = default;
bool ReplicationCommands::takes(std::string_view) const noexcept {
  return false;
}
Outcome ReplicationCommands::run(std::string_view text, ResultSink& sink, ChangeSender&) {
  return session_.simple_query(text, sink);
}
void ReplicationCommands::end_export() noexcept {}

Outcome Session::simple_query(std::string_view text, ResultSink& sink) {
  do {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view statement = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (returns_rows(statement)) sink.row_description({&kColumn, 1});
    std::size_t position = 0;
    if (auto outcome = state_->run(statement, position, 0, sink); !outcome) return outcome;
  } while (!text.empty());
  return {};
}

Outcome Session::parse(std::string_view name, std::string_view text, std::span<const std::uint32_t>,
                       ResultSink&) {
  if (text == "refused" || text == "syntax")
    return state_->fail(error(kSyntaxError, "syntax error"));
  state_->statements[std::string{name}] = std::string{text};
  return {};
}

Outcome Session::bind(const BindRequest& request, ResultSink&) {
  const auto statement = state_->statements.find(request.statement);
  if (statement == state_->statements.end()) {
    return state_->fail(error(kNoStatement, "prepared statement does not exist"));
  }
  std::string text = statement->second;
  for (const auto& value : request.values) text += value ? as_text(*value) : "NULL";
  state_->portals[std::string{request.portal}] = {std::move(text), 0};
  return {};
}

Outcome Session::describe_statement(std::string_view name, ResultSink& sink) {
  const auto statement = state_->statements.find(name);
  if (statement == state_->statements.end()) {
    return state_->fail(error(kNoStatement, "prepared statement does not exist"));
  }
  sink.parameter_description({});
  if (returns_rows(statement->second)) {
    sink.row_description({&kColumn, 1});
  } else {
    sink.no_data();
  }
  return {};
}

Outcome Session::describe_portal(std::string_view name, ResultSink& sink) {
  const auto portal = state_->portals.find(name);
  if (portal == state_->portals.end()) {
    return state_->fail(error(kNoPortal, "portal does not exist"));
  }
  if (returns_rows(portal->second.text)) {
    sink.row_description({&kColumn, 1});
  } else {
    sink.no_data();
  }
  return {};
}

Outcome Session::execute(std::string_view portal, std::uint64_t max_rows, ResultSink& sink) {
  const auto found = state_->portals.find(portal);
  if (found == state_->portals.end()) {
    return state_->fail(error(kNoPortal, "portal does not exist"));
  }
  return state_->run(found->second.text, found->second.position, max_rows, sink);
}

/// Gives the first argument back.
Outcome Session::call_function(const FunctionCallRequest& request, ResultSink&,
                               std::string& value) {
  if (request.arguments.empty() || !request.arguments[0])
    return state_->fail(error(kNoPortal, "no argument"));
  std::byte length[sizeof(std::uint32_t)];
  store_big_endian(length, static_cast<std::uint32_t>(request.arguments[0]->size()));
  value = as_text(Bytes{length});
  value += as_text(*request.arguments[0]);
  return {};
}

Outcome Session::close_statement(std::string_view name) {
  state_->statements.erase(std::string{name});
  return {};
}
Outcome Session::close_portal(std::string_view name) {
  state_->portals.erase(std::string{name});
  return {};
}
Outcome Session::sync(ResultSink&) {
  if (state_->status == TransactionStatus::idle) state_->portals.clear();
  return {};
}

std::string Session::current_query() const {
  return {};
}

TransactionStatus Session::transaction_status() const noexcept {
  return state_->status;
}
std::vector<std::pair<std::string, std::string>> Session::reported_settings() const {
  return {{"server_version", "15.0"}, {"client_encoding", "UTF8"}};
}
std::optional<std::string> Session::setting(std::string_view name) const {
  const auto found = state_->settings.find(name);
  if (found == state_->settings.end()) return std::nullopt;
  return found->second;
}
const EncodingTable* Session::client_encoding() const noexcept {
  return state_->client_encoding;
}
MemoryAccount& Session::memory() noexcept {
  return state_->memory;
}
std::string_view Session::portal_text(std::string_view) const noexcept {
  return {};
}

std::size_t Session::describe_work(std::span<char> /*into*/) const noexcept {
  return 0;
}
std::int32_t Session::backend_pid() const noexcept {
  return state_->pid;
}

bool Session::has_worked_for(std::chrono::nanoseconds) const noexcept {
  return state_->sleeps;
}

void Session::cancel() noexcept {
  state_->cancelled = true;
}
void Session::cancel(const Diagnostic& reason) {
  state_->reason_storage = reason;
  state_->reason = &state_->reason_storage;
}
bool Session::end_transaction(TxnId /*transaction*/, const Diagnostic& reason) {
  if (state_->status == TransactionStatus::idle) return false;
  terminate(reason);
  return true;
}
void Session::terminate(const Diagnostic& reason) {
  state_->ending_storage = reason;
  state_->ending = &state_->ending_storage;
  if (state_->end) state_->end();
}
std::optional<Diagnostic> Session::termination() const {
  const Diagnostic* const reason = state_->ending.load();
  return reason == nullptr ? std::nullopt : std::optional{*reason};
}
void Session::send_notifications(ResultSink& sink) {
  if (state_->said.empty() || state_->status != TransactionStatus::idle) return;
  sink.notification(state_->pid, "channel", std::exchange(state_->said, {}));
}

}  // namespace swizzle::sql

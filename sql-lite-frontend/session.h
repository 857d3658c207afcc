#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "sql-lite-frontend/diagnostic.h"
#include "sql-lite-frontend/result_sink.h"

namespace swizzle {
class EncodingTable;
class Engine;
}  // namespace swizzle

namespace swizzle::sql {

class MemoryAccount;
class Session;

/// One end of a TCP connection.
struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
};

/// Encryption of a connection, for pg_stat_ssl.
struct Encryption {
  std::string version;  ///< "TLSv1.3"
  std::string cipher;
  int bits = 0;
};

/// A client's start-up parameters, and the server's part in the session; values are UTF-8.
struct SessionOptions {
  std::string user = "postgres";
  std::string database = "postgres";
  /// SYSTEM_USER: the method of authentication and the name that it proved, "scram-sha-256:name".
  /// Empty if the client was trusted.
  std::string system_user;
  /// Other parameters of the start-up packet (application_name, client_encoding, DateStyle, …):
  /// they become the session's defaults, which RESET restores.
  std::vector<std::pair<std::string, std::string>> parameters;
  /// Number that pg_backend_pid() returns; unique among live sessions.
  std::int32_t backend_pid = 0;
  /// For inet_client_addr(), inet_server_addr() and pg_stat_activity; absent for a local
  /// connection.
  std::optional<Endpoint> client;
  std::optional<Endpoint> server;
  std::optional<Encryption> encryption;
  /// True for a session of the server itself, for maintenance of tables.
  bool is_maintenance = false;
  /// True if it may stream changes, as replication=database requests: its role must have the right.
  bool is_replication = false;
  /// Called, from any thread, when the session has an unsolicited message for its client:
  /// send_notifications(). Neither waits nor calls back. May be empty.
  std::function<void()> wake;
  /// Called, from any thread, when the session must end: every wait for its client then ends, also
  /// in the middle of a COPY or of a result. Neither waits nor calls back. May be empty.
  std::function<void()> end;
};

struct SessionCounts {
  std::uint64_t active = 0;
  std::uint64_t idle = 0;
  std::uint64_t idle_in_transaction = 0;
};

/// 22023 if ICU has no rules for the locale.
Result<> check_icu_locale(const std::string& locale);

/// The SQL side of one data directory: catalog, plans and settings over one engine. Thread-safe;
/// outlives its sessions.
class Database {
 public:
  /// Reads the catalog; creates it in an empty engine.
  static Result<std::unique_ptr<Database>> open(Engine& engine);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  /// Refuses an unknown role (28000) or database (3D000), or a bad parameter.
  std::expected<std::unique_ptr<Session>, Diagnostic> connect(SessionOptions options);

  /// The stored verifier of a role (SCRAM-SHA-256$… or empty when it has no password), or nullopt
  /// when there is no such role or it may not log in.
  [[nodiscard]] std::optional<std::string> password_verifier(std::string_view role) const;
  /// Gives the first superuser its name and its verifier, or none if that is empty, as `init` does.
  Result<> set_superuser_verifier(std::string_view role, std::string_view verifier);
  /// Makes the first databases use a collation of ICU. Pre: the locale exists, and no session has
  /// connected yet.
  Result<> set_icu_locale(const std::string& locale);

  /// Returns the numbers of sessions by their present state.
  [[nodiscard]] SessionCounts session_counts() const;

  // On a standby, for StandbyReaders. Of the thread that redoes.

  /// Another state of the database is replayed, in which these trees differ. Pre: no session is
  /// inside the engine's replay gate.
  Result<> moved(const std::set<TreeId>& changed);
  /// Ends the statements, or else the sessions, that replay waits for.
  void cancel_conflicting();

  // A promotion, while no session is inside the engine's replay gate.

  /// Ends the sessions that stream the log, and waits until they have let go of it.
  void end_senders();
  /// Before Engine::close_for_promotion(). The sessions stay, and wait at the gate.
  void let_go_of_engine() noexcept;
  /// In Engine::open_promoted(): sessions go on with what is there now, and may write.
  Result<> go_on_promoted();

  struct Shared;
  [[nodiscard]] Shared& shared() noexcept { return *shared_; }

 private:
  explicit Database(std::unique_ptr<Shared> shared);
  /// Counts the session, or returns the limit of its role or database that refuses it.
  std::optional<Diagnostic> admit(Session& session);
  void end_sessions_of_dropped();
  std::unique_ptr<Shared> shared_;
};

/// Status, with the letters of ReadyForQuery.
enum class TransactionStatus : char { idle = 'I', in_block = 'T', failed = 'E' };

/// Parameters as Bind carries them: `formats` and `result_formats` hold none (all text), one (for
/// all) or one each. A nullopt value is NULL. The bytes need to live only during the call.
struct BindRequest {
  std::string_view portal;
  std::string_view statement;
  std::span<const Format> formats;
  std::span<const std::optional<Bytes>> values;
  std::span<const Format> result_formats;
};

/// A call of a function by its number, with its arguments as in BindRequest.
struct FunctionCallRequest {
  std::uint32_t function = 0;
  std::span<const Format> formats;
  std::span<const std::optional<Bytes>> arguments;
  Format result = Format::text;
};

/// One client's session. Belongs to one thread or fiber at a time; only cancel() and terminate()
/// may be called from others. Every request either succeeds or returns the one error for the
/// client; after an error in the extended protocol the server skips messages until Sync. Output
/// sent to the sink before the error stays sent.
class Session {
 public:
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Rolls back the open transaction and drops the session's temporary objects.
  ~Session();

  /// Runs a Query message: any number of statements, one implicit transaction unless they begin
  /// another. The server sends ReadyForQuery, whatever the outcome.
  Outcome simple_query(std::string_view text, ResultSink& sink);
  /// Runs a request that is not SQL, in `body`. An SqlError that `body` throws is the outcome, and
  /// undoes the request's changes in a transaction.
  Outcome run_request(std::string_view text, ResultSink& sink, const std::function<void()>& body);

  /// `type_oids` may be shorter than the parameters; 0 means "infer". 42P05 when a named statement
  /// exists; the unnamed one is replaced.
  Outcome parse(std::string_view name, std::string_view text,
                std::span<const std::uint32_t> type_oids, ResultSink& sink);
  Outcome bind(const BindRequest& request, ResultSink& sink);
  /// Sends parameter_description, then row_description or no_data.
  Outcome describe_statement(std::string_view name, ResultSink& sink);
  Outcome describe_portal(std::string_view name, ResultSink& sink);
  /// 0 rows is "all". Ends with command_complete, empty_query or portal_suspended.
  Outcome execute(std::string_view portal, std::uint64_t max_rows, ResultSink& sink);
  /// Calls a function outside of any statement. `value` gets the result as in a message: its
  /// length, -1 for NULL, and its bytes.
  Outcome call_function(const FunctionCallRequest& request, ResultSink& sink, std::string& value);
  /// Closing a statement or portal that does not exist is no error.
  Outcome close_statement(std::string_view name);
  Outcome close_portal(std::string_view name);
  /// Ends the implicit transaction of the messages since the last Sync: commits it, or rolls back
  /// when one of them failed. The commit itself may fail.
  Outcome sync(ResultSink& sink);

  /// Returns the running statement, or the last one; the beginning of a long text. From its own
  /// thread.
  [[nodiscard]] std::string current_query() const;
  [[nodiscard]] TransactionStatus transaction_status() const noexcept;
  /// Sends the notifications that have arrived on the session's channels. Outside of a transaction;
  /// inside one they wait.
  void send_notifications(ResultSink& sink);
  /// Sends the notices due before a new session's first request.
  void send_first_notices(ResultSink& sink);
  /// Reason why the session must end, once terminate() was called.
  [[nodiscard]] std::optional<Diagnostic> termination() const;

  /// Name and value of every setting that the protocol reports at start-up.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> reported_settings() const;
  /// Returns the current value of a setting, or nullopt if it does not exist: for settings that the
  /// server enforces, such as idle_in_transaction_session_timeout.
  [[nodiscard]] std::optional<std::string> setting(std::string_view name) const;
  /// Returns the encoding of the client's texts (client_encoding); null is UTF-8.
  [[nodiscard]] const EncodingTable* client_encoding() const noexcept;
  [[nodiscard]] std::int32_t backend_pid() const noexcept;
  /// Returns the account that session_memory_limit bounds.
  [[nodiscard]] MemoryAccount& memory() noexcept;
  /// Writes the session's user and statement as text; returns the number of bytes. Takes no memory
  /// and no lock.
  std::size_t describe_work(std::span<char> into) const noexcept;
  /// Returns the text of the statement that execute() would run for this portal; empty if there is
  /// none.
  [[nodiscard]] std::string_view portal_text(std::string_view portal) const noexcept;

  /// True if a request has been running for that long. From any thread.
  [[nodiscard]] bool has_worked_for(std::chrono::nanoseconds at_least) const noexcept;
  /// Makes the running request end with 57014; does nothing without one. From any thread.
  void cancel() noexcept;
  /// The same with another error: a time limit's.
  void cancel(const Diagnostic& reason);
  /// Ends the transaction that writes under this number, if it is still the session's. A statement
  /// that runs in it fails with `reason`. A session that waits for its client ends, since no later
  /// request might roll the transaction back. False: that transaction has ended. From any thread.
  bool end_transaction(TxnId transaction, const Diagnostic& reason);
  /// Makes the session end, for `reason` (57P01 on shutdown): the running request fails with it,
  /// and so does every later one. A wait for the client is ended through SessionOptions::end. From
  /// any thread.
  void terminate(const Diagnostic& reason);

  struct State;
  [[nodiscard]] State& state() noexcept { return *state_; }

 private:
  friend class Database;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace swizzle::sql

#include "server/main/server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <sstream>
#include <thread>

#include "server/auth/scram_verifier.h"
#include "server/main/backup.h"
#include "server/main/closed_door.h"
#include "server/main/offline.h"
#include "server/main/process_signals.h"
#include "server/main/restore.h"
#include "server/main/service_notice.h"
#include "server/main/service_user.h"
#include "server/main/settings_files.h"
#include "server/main/text_file.h"
#include "server/standby/standby_server.h"
#include "server/standby/standby_settings.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/types/fulltext/stop_words.h"
#include "storage/logical/logical_log.h"
#include "storage/replay_gate.h"
#include "storage/standby/standby.h"

namespace swizzle::server {
namespace {

namespace asio = boost::asio;

/// Raises the limit of descriptors to the maximum: each connection needs one.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string resolve(const DataDirectory& directory, const std::string& file) {
  return (directory.path() / file).string();  // an absolute path replaces the directory
}

/// Refuses a file with maps of user names; comments are all that may stand in it.
Result<> require_no_maps(const DataDirectory& directory, const std::string& ident_file) {
  if (ident_file.empty()) return {};
  const std::string path = resolve(directory, ident_file);
  ASSIGN_OR_RETURN(const std::string text, read_text_file(path));
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    return fail(sqlstate::feature_not_supported,
                fmt::format("maps of user names are not supported, and \"{}\" has one", path));
  }
  return {};
}

std::optional<sql::Database::Shared::Standby::Receiver> receiver_row(StandbyControl& control) {
  const auto now = control.receiving();
  if (!now) return std::nullopt;
  const LogReceiver::Connection& connection = now->connection;
  return sql::Database::Shared::Standby::Receiver{.started_at = connection.started_at,
                                                  .started_timeline = connection.started_timeline,
                                                  .written = now->status.received,
                                                  .flushed = now->status.durable,
                                                  .timeline = now->status.timeline,
                                                  .sent_us = connection.sent_us,
                                                  .heard_us = connection.heard_us,
                                                  .latest_end = connection.latest_end,
                                                  .latest_end_us = connection.latest_end_us,
                                                  .slot = connection.slot,
                                                  .host = connection.address.host,
                                                  .port = connection.address.port,
                                                  .conninfo = connection.address.conninfo};
}

/// Adds a hint about `salvage` to an error of damaged definitions.
Error with_way_out(Error&& error) {
  if (error.state() != sqlstate::data_corrupted) return std::move(error);
  return std::move(error).with_hint(
      "Restore the database from a backup. To copy out what can be read, start the server with "
      "\"-c salvage=on\".");
}

}  // namespace

/// Events for which the main thread waits: connections, signals and its timer.
struct Server::Events {
  asio::io_context context{1};
  ProcessSignals signals{context};
  asio::steady_timer turn{context};
};

/// Lets readers in while the server is a standby. Has a thread and an io_context of its own: what
/// waits at the sockets goes with the context.
struct Server::ReadersDoor {
  ReadersDoor(FiberRuntime& runtime, ServerContext& context, std::vector<ListeningSocket> sockets)
      : acceptor(std::make_unique<Acceptor>(events, runtime, context, std::move(sockets))),
        letting_in([this] { events.run(); }) {}
  ReadersDoor(const ReadersDoor&) = delete;
  ReadersDoor& operator=(const ReadersDoor&) = delete;
  ~ReadersDoor() { stop(); }
  /// Lets no more clients in; they wait at the sockets.
  void stop() {
    events.stop();
    if (letting_in.joinable()) letting_in.join();
  }

  asio::io_context events{1};
  std::unique_ptr<Acceptor> acceptor;
  std::thread letting_in;
};

Server::Server(DataDirectory directory, std::vector<SettingAssignment> overrides,
               std::shared_ptr<ServerLog> log)
    : directory_(std::move(directory)),
      overrides_(std::move(overrides)),
      events_(std::make_unique<Events>()),
      log_(std::move(log)) {}

Server::~Server() = default;

void Server::block_signals() {
  ProcessSignals::block();
  // A closed connection must not end the server.
  std::signal(SIGPIPE, SIG_IGN);
}

/// ALTER SYSTEM: writes the new file beside the old one and renames it over that.
Result<> Server::store_setting(const std::optional<std::string>& name,
                               const std::optional<std::string>& value) {
  const std::lock_guard lock{altered_mutex_};
  const std::filesystem::path file = directory_.altered_file();
  std::vector<SettingAssignment> kept;
  if (name && std::filesystem::exists(file)) {
    ASSIGN_OR_RETURN(const std::string text, read_text_file(file.string()));
    ASSIGN_OR_RETURN(kept, parse_settings_file(text, "swizzle.auto.conf"));
    std::erase_if(kept, [&](const SettingAssignment& old) { return old.name == *name; });
  }
  if (name && value) kept.push_back({*name, *value, {}});
  std::string text = "# Written by ALTER SYSTEM; edited by hand it may be overwritten.\n";
  for (const SettingAssignment& assignment : kept) {
    std::string quoted;
    for (const char letter : assignment.value) {
      if (letter == '\n') {
        quoted += "\\n";  // a value must be a single line of the file
        continue;
      }
      if (letter == '\'' || letter == '\\') quoted += letter == '\'' ? '\'' : '\\';
      quoted += letter;
    }
    text += fmt::format("{} = '{}'\n", assignment.name, quoted);
  }
  return write_text_file(file.string(), text);
}

Result<DoorPolicy> Server::make_policy(const ServerSettings& settings,
                                       const DataDirectory& directory) {
  DoorPolicy policy;
  policy.authentication_timeout = settings.authentication_timeout;
  policy.send_timeout = settings.client_send_timeout;
  policy.client_check_interval = settings.client_check_interval;
  policy.transaction_log_bytes = settings.transaction_log_bytes;
  policy.console_login = settings.console_login;
  ASSIGN_OR_RETURN(const std::string rules, read_text_file(resolve(directory, settings.hba_file)));
  ASSIGN_OR_RETURN(policy.rules, HbaRules::parse(rules));
  RETURN_IF_ERROR(require_no_maps(directory, settings.ident_file));
  if (!settings.tls.certificate_file.empty()) {
    TlsOptions options = settings.tls;
    options.certificate_file = resolve(directory, options.certificate_file);
    options.key_file = resolve(directory, options.key_file);
    ASSIGN_OR_RETURN(policy.tls, TlsContext::load(options));
  }
  return policy;
}

Result<std::unique_ptr<Server>> Server::start(const DataDirectory& directory,
                                              std::vector<SettingAssignment> overrides,
                                              std::shared_ptr<ServerLog> log,
                                              const RestoreRequest* request) {
  std::unique_ptr<Server> server{new Server{directory, std::move(overrides), std::move(log)}};
  if (request == nullptr) {
    RETURN_IF_ERROR(directory.check_usable());
  } else {
    ASSIGN_OR_RETURN(server->restore_, ServerRestore::begin(directory, *request));
  }
  RETURN_IF_ERROR(server->open());
  return server;
}

Result<Server::Configuration> Server::read_configuration() const {
  const DataDirectory from = restore_ ? restore_->settings_directory() : directory_;
  Configuration read;
  ASSIGN_OR_RETURN(read.file, read_settings_files(from));
  ASSIGN_OR_RETURN(read.settings, early_settings({read.file, overrides_}));
  ServerSettings for_policy = read.settings;
  if (restore_ && !restore_->is_prepared()) {
    // A backup has no such files. Until the restore is prepared clients only learn that it is not.
    for_policy.ident_file.clear();
    if (!std::filesystem::exists(resolve(from, for_policy.tls.certificate_file)))
      for_policy.tls = {};
  }
  ASSIGN_OR_RETURN(DoorPolicy policy, make_policy(for_policy, from));
  read.policy = std::make_shared<const DoorPolicy>(std::move(policy));
  return read;
}

Result<> Server::open() {
  // Report errors in the files before anything else happens.
  ASSIGN_OR_RETURN(Configuration read, read_configuration());
  const ServerSettings& settings = read.settings;
  log_->set_format(settings.log_format, settings.log_line_prefix);
  raise_descriptor_limit();
  const std::string socket_directory =
      settings.unix_socket_directories.empty() ? "" : settings.unix_socket_directories.front();
  const std::string address =
      settings.listen_addresses.empty() ? "" : settings.listen_addresses.front();
  ASSIGN_OR_RETURN(pid_file_, PidFile::take(directory_, {.process = ::getpid(),
                                                         .port = std::to_string(settings.port),
                                                         .socket_directory = socket_directory,
                                                         .address = address}));
  ASSIGN_OR_RETURN(std::vector<ListeningSocket> sockets, open_listening_sockets(settings));
  std::vector<ListeningSocket> metrics_sockets;
  if (settings.metrics_port != 0) {
    ASSIGN_OR_RETURN(metrics_sockets,
                     open_tcp_sockets(settings.metrics_address, settings.metrics_port));
  }
  RETURN_IF_ERROR(leave_root(settings.user, sockets));
  for (const ListeningSocket& socket : sockets) spdlog::info("listening on {}", socket.name);
  std::optional<ClosedDoor> door;
  door.emplace(std::move(sockets), read.policy, settings.limits);
  RETURN_IF_ERROR(prepare_restore(*door, read));
  if (is_stopping_) return {};
  RETURN_IF_ERROR(read_stop_words(settings.stop_words_directory));
  if (std::filesystem::exists(directory_.standby_signal())) {
    auto followed = follow({metrics_sockets, settings, read.file, read.policy, door});
    if (!followed) {
      end_readers();
      return followed;
    }
    if (is_stopping_) return {};
    if (!readers_door_) door->tell(ClosedDoor::Why::starts);
  }
  auto opened = open_for_writing(settings, read.file, read.policy);
  if (!opened) {
    end_readers();
    return opened;
  }
  if (!engine_->salvages()) apply_launcher_ = std::make_unique<ApplyLauncher>(*database_);
  open_metrics(std::move(metrics_sockets));
  // After a promotion the readers' door lets everybody in.
  if (!readers_door_)
    acceptor_ = std::make_unique<Acceptor>(events_->context, *runtime_, *context_, door->open());
  spdlog::info("database system is ready to accept connections");
  notify_service_manager("READY=1");
  return {};
}

Result<> Server::prepare_restore(ClosedDoor& door, Configuration& configuration) {
  if (!restore_ || restore_->is_prepared()) return {};
  door.tell(ClosedDoor::Why::prepares_restore);
  ASSIGN_OR_RETURN(const ServerRestore::End end,
                   restore_->prepare(events_->context, events_->signals));
  is_stopping_ = end == ServerRestore::End::stopped;
  if (is_stopping_) {
    notify_service_manager("STOPPING=1");
    return {};
  }
  door.tell(ClosedDoor::Why::starts);
  // Now the directory has files of its own.
  ASSIGN_OR_RETURN(configuration, read_configuration());
  return {};
}

Result<> Server::open_for_writing(const ServerSettings& settings,
                                  const std::vector<SettingAssignment>& file,
                                  std::shared_ptr<const DoorPolicy> policy) {
  if (engine_) return open_promoted(settings);
  RETURN_IF_ERROR(promote_left_standby());
  RETURN_IF_ERROR(open_database(settings, file));
  return open_context(settings, std::move(policy));
}

/// Makes the state that all sessions share, and the threads that they run on.
Result<> Server::open_context(const ServerSettings& settings,
                              std::shared_ptr<const DoorPolicy> policy) {
  ASSIGN_OR_RETURN(std::string secret, read_text_file(directory_.secret_file().string()));
  context_ = std::make_unique<ServerContext>(*database_, settings.limits, std::move(secret), log_);
  context_->set_policy(std::move(policy));
  context_->set_copy_server([this](FileSystem& files, const RecoveryObserver& observer) {
    return send_server(directory_, *engine_, files, observer);
  });
  runtime_ = std::make_unique<FiberRuntime>(FiberRuntime::Options{
      .reactors = settings.reactor_threads, .longest_spin = settings.reactor_spin});
  turn_watch_ = std::make_unique<TurnWatch>(*runtime_, STDERR_FILENO);
  return {};
}

/// Checks the settings as open_database() will: an error in a file must not surface after a
/// promotion.
Result<StandbySettings> Server::read_standby_settings() const {
  ASSIGN_OR_RETURN(const std::vector<SettingAssignment> file, read_settings_files(directory_));
  Settings known;
  RETURN_IF_ERROR(define_all_settings(known, directory_, {file, overrides_}));
  return standby_settings(known);
}

/// Promotes if standby.signal has been removed by hand: from now on this server's history differs
/// from its primary's.
Result<> Server::promote_left_standby() {
  ASSIGN_OR_RETURN(const bool is_left, Standby::is_in(files_, directory_.engine()));
  if (!is_left) return {};
  spdlog::warn("file \"{}\" has been removed: the standby is promoted",
               directory_.standby_signal().string());
  ASSIGN_OR_RETURN(const auto standby, Standby::open(files_, directory_.engine()));
  return standby->promote();
}

Result<> Server::follow(const Following& with) {
  ASSIGN_OR_RETURN(const StandbySettings standby_now, read_standby_settings());
  with.door->tell(standby_now.serves_readers ? ClosedDoor::Why::is_no_reader_yet
                                             : ClosedDoor::Why::is_standby);
  StandbySessions sessions;
  StandbyControl* control = nullptr;
  Standby* followed = nullptr;
  sessions.open = [&](Standby& standby) {
    followed = &standby;
    return open_standby(standby, *control, with);
  };
  sessions.let_in = [&] {
    readers_door_ = std::make_unique<ReadersDoor>(*runtime_, *context_, with.door->open());
    spdlog::info("database system is ready to accept read-only connections");
  };
  sessions.close = [&] { close_standby(*followed); };
  sessions.hold = [&] { hold_sessions(*followed); };
  sessions.reload = [this] { on_hangup(); };
  StandbyServer standby{events_->context, events_->signals,
                        [this] { return read_standby_settings(); }, std::move(sessions)};
  control = &standby.control();
  ASSIGN_OR_RETURN(const StandbyServer::End end,
                   standby.run(files_, directory_, with.metrics_sockets));
  is_stopping_ = end == StandbyServer::End::stopped;
  if (is_stopping_) {
    notify_service_manager("STOPPING=1");
    return {};
  }
  // Remove the file last: a server that ends before this is still a standby.
  if (std::error_code failure; !std::filesystem::remove(directory_.standby_signal(), failure)) {
    return fail(sqlstate::io_error,
                fmt::format("could not remove \"{}\": {}", directory_.standby_signal().string(),
                            failure.message()));
  }
  return files_.sync_directory(directory_.path());
}

/// By the thread that redoes, before any session is there.
Result<> Server::open_standby(Standby& standby, StandbyControl& control, const Following& with) {
  StandbyReaders readers;
  readers.patience = [&control]() -> std::optional<Duration> {
    const std::int64_t patience = control.patience.load();
    return patience < 0 ? std::nullopt : std::optional{Duration{patience}};
  };
  readers.cancel = [this] { database_->cancel_conflicting(); };
  readers.moved = [this](const std::set<TreeId>& changed) { return database_->moved(changed); };
  ASSIGN_OR_RETURN(engine_, standby.open_engine(with.settings.engine, std::move(readers)));
  auto opened = open_sql(with.settings, with.file);
  if (opened) {
    database_->shared().standby = {
        .received = [&standby] { return standby.received(); },
        .replayed = [&standby] { return standby.replayed(); },
        .replayed_at_us = [&standby] { return standby.replayed_at_us(); },
        .receiver = [&control] { return receiver_row(control); },
        .is_paused = [&control] { return control.is_paused.load(); },
        .pause = [&control](bool pauses) { control.is_paused.store(pauses); },
        .promote = [] { ::kill(::getpid(), SIGUSR1); }};
    opened = open_context(with.settings, with.policy);
  }
  if (opened) return {};
  close_sessions();
  engine_.reset();
  standby.forget_engine();
  return opened;
}

/// Pre: nothing is redone any more.
void Server::close_standby(Standby& standby) {
  end_readers();
  standby.forget_engine();
}

void Server::hold_sessions(Standby& standby) {
  // Long ones must not keep the service away.
  constexpr Duration kPatience = std::chrono::milliseconds{500};
  standby.keep_readers_out(kPatience);
  database_->end_senders();
  database_->let_go_of_engine();
  engine_->close_for_promotion();
  standby.forget_engine();
}

Result<> Server::open_promoted(const ServerSettings& settings) {
  const TimePoint begin = Runtime::current().now();
  // A backup of the time before is of another history.
  EngineOptions options = settings.engine;
  options.repair_backups.clear();
  RETURN_IF_ERROR(engine_->open_promoted(files_, directory_.engine(), options, [this] {
    limit_slots();
    return database_->go_on_promoted();
  }));
  close_segments(settings);
  apply_limits(settings);
  recovery_ = Runtime::current().now() - begin;
  return {};
}

void Server::end_readers() {
  if (!context_) return;
  if (readers_door_) readers_door_->stop();
  // Ends the waits for replay to go on.
  if (ReplayGate* const gate = engine_->replay_gate()) gate->shut();
  context_->registry().end_all(EndReason::administrator);
  constexpr Duration kLooksEvery = std::chrono::milliseconds{2};
  while (context_->registry().size() != 0)
    Runtime::current().sleep_until(Runtime::current().now() + kLooksEvery);
  close_sessions();
  readers_door_.reset();
  engine_.reset();
}

void Server::close_sessions() {
  apply_launcher_.reset();
  turn_watch_.reset();
  runtime_.reset();
  metrics_server_.reset();
  console_.reset();
  metrics_.reset();
  acceptor_.reset();
  context_.reset();
  database_.reset();
}

Result<> Server::leave_root(const std::string& name,
                            const std::vector<ListeningSocket>& sockets) const {
  if (name.empty()) {
    if (::geteuid() == 0) {
      spdlog::warn("the server runs as root: give it a user of its own with --user NAME");
    }
    return {};
  }
  ASSIGN_OR_RETURN(const ServiceUser user, ServiceUser::find(name));
  struct stat status{};
  if (::stat(directory_.path().c_str(), &status) == 0 && status.st_uid != user.id()) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("data directory \"{}\" does not belong to user \"{}\"",
                                  directory_.path().string(), name)}
                    .with_hint(fmt::format("chown -R {} {}", name, directory_.path().string())));
  }
  // Give the files that root has created to the user, so that it can remove them.
  RETURN_IF_ERROR(user.give(directory_.pid_file()));
  for (const ListeningSocket& socket : sockets) {
    if (socket.is_unix) RETURN_IF_ERROR(user.give(socket.name));
  }
  return user.become();
}

Result<> Server::read_stop_words(const std::string& directory) const {
  if (directory.empty()) return {};
  std::error_code failure;
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator{resolve(directory_, directory), failure}) {
    if (entry.path().extension() == ".stop") files.push_back(entry.path());
  }
  if (failure) {
    return fail(SqlState{"F0000"}, fmt::format("could not read stop_words_directory \"{}\": {}",
                                               directory, failure.message()));
  }
  for (const std::filesystem::path& file : files) {
    ASSIGN_OR_RETURN(const std::string text, read_text_file(file.string()));
    RETURN_IF_ERROR(sql::add_stop_words(file.stem().string(), text));
  }
  spdlog::info("{} lists of stop words read", files.size());
  return {};
}

void Server::open_metrics(std::vector<ListeningSocket> sockets) {
  if (sockets.empty()) return;
  metrics_ = std::make_unique<ServerMetrics>(
      ServerMetrics::Sources{*engine_, *database_, context_->registry(),
                             context_->statement_metrics(), *runtime_, recovery_});
  std::vector<Descriptor> descriptors;
  for (ListeningSocket& socket : sockets) {
    spdlog::info("metrics at http://{}/", socket.name);
    descriptors.push_back(std::move(socket.descriptor));
  }
  console_ = std::make_unique<Console>(
      *context_, [this] { metrics_server_->run_aside([this] { console_->close_unused(); }); });
  metrics_server_ = std::make_unique<HttpServer>(
      events_->context, std::move(descriptors),
      [this](std::string_view path) { return metrics_answer(*metrics_, path); },
      [this](const HttpRequest& request) { return console_->answer(request); });
}

/// Returns the engine's options with what the repair of pages needs. Refuses a backup of another
/// database here, where the setting is read; later on the engine goes on without it.
Result<EngineOptions> Server::repair_options(const ServerSettings& settings) {
  EngineOptions options = settings.engine;
  if (options.repair_backups.empty()) return options;
  auto checked = check_repair_backups(files_, directory_.engine(), options.repair_backups);
  if (!checked)
    return fail(Error{sqlstate::invalid_parameter_value,
                      "invalid value for parameter \"page_repair_backup\""}
                    .with_detail(checked.error().message())
                    .with_hint("Name a backup of this database with its absolute path, or the "
                               "full one and the incremental ones after it, or none."));
  ASSIGN_OR_RETURN(const StandbySettings standby, read_standby_settings());
  options.restore_command = standby.restore_command;
  return options;
}

Result<> Server::open_database(const ServerSettings& settings,
                               const std::vector<SettingAssignment>& file) {
  std::string phase;
  const auto report = [&phase](const RecoveryProgress& progress) {
    if (progress.phase == phase) return;
    phase = progress.phase;
    spdlog::info("recovery: {}", phase);
  };
  ASSIGN_OR_RETURN(const EngineOptions options, repair_options(settings));
  const TimePoint begin = Runtime::current().now();
  ASSIGN_OR_RETURN(engine_, Engine::open(files_, directory_.engine(), options, report));
  recovery_ = Runtime::current().now() - begin;
  return open_sql(settings, file);
}

Result<> Server::open_sql(const ServerSettings& settings,
                          const std::vector<SettingAssignment>& file) {
  auto database = sql::Database::open(*engine_);
  if (!database) return fail(with_way_out(std::move(database).error()));
  database_ = std::move(*database);
  database_->shared().store_server_setting = [this](const auto& name, const auto& value) {
    return store_setting(name, value);
  };
  database_->shared().stored_password = ScramVerifier::stored_form;
  database_->shared().back_up = [this](const std::string& target, const std::string& since,
                                       const RecoveryObserver& observer) {
    return back_up_server(directory_, *engine_, target, since, observer);
  };
  database_->shared().publishers = &publishers_;
  database_->shared().request_reload = [] { ::kill(::getpid(), SIGHUP); };
  // From here on there is one registry: SHOW and pg_settings show the server's settings too.
  Settings& registry = database_->shared().settings;
  define_server_settings(registry);
  define_file_locations(registry, directory_.path(), directory_.config_file());
  RETURN_IF_ERROR(apply_settings(registry, {file, overrides_}));
  close_segments(settings);
  apply_limits(settings);
  return {};
}

/// Begins to close segments of the log after archive_timeout, where they are archived.
void Server::close_segments(const ServerSettings& settings) {
  if (engine_->is_standby() || settings.engine.archive_command.empty()) return;
  segment_closer_ = std::make_unique<SegmentCloser>(*engine_);
  segment_closer_->start();
}

void Server::apply_limits(const ServerSettings& settings) {
  database_->shared().memory.set_limit(settings.memory_bytes);
  database_->shared().catalogs->shared_objects().definition_memory()->set_limit(
      settings.memory_bytes / 2);
  sql::TemporaryFiles& temporary = *database_->shared().temporary_files;
  std::uint64_t bytes = settings.temporary_file_bytes;
  if (bytes == 0) {
    std::error_code error;
    const auto space = std::filesystem::space(directory_.path(), error);
    bytes =
        error ? sql::TemporaryFiles::kNoLimit : (space.available + temporary.server_bytes()) / 2;
  }
  temporary.set_server_limit(bytes);
  limit_slots();
  if (segment_closer_ != nullptr)
    segment_closer_->set_timeout(
        std::chrono::seconds{database_->shared().settings.integer("archive_timeout")});
  auto rule = sql::SyncRule::parse(database_->shared().settings.text("synchronous_standby_names"));
  INVARIANT(rule.has_value());
  database_->shared().log_senders.set_rule(*std::move(rule));
}

void Server::limit_slots() {
  const Settings& settings = database_->shared().settings;
  const std::int64_t megabytes = settings.integer("max_slot_wal_keep_size");
  LogicalLog& log = engine_->logical_log();
  log.keep_at_most(megabytes < 0 ? 0 : static_cast<std::uint64_t>(megabytes) << 20U);
  log.keep_at_least(static_cast<std::uint64_t>(settings.integer("wal_keep_size")) << 20U);
}

Result<> Server::reload() {
  ASSIGN_OR_RETURN(const std::vector<SettingAssignment> file, read_settings_files(directory_));
  Settings& registry = database_->shared().settings;
  RETURN_IF_ERROR(registry.reload(file));
  ASSIGN_OR_RETURN(const ServerSettings settings, server_settings(registry));
  ASSIGN_OR_RETURN(DoorPolicy policy, make_policy(settings, directory_));
  context_->set_policy(std::move(policy));
  log_->set_format(settings.log_format, settings.log_line_prefix);
  apply_limits(settings);
  return {};
}

void Server::on_hangup() {
  if (auto done = reload(); !done) {
    return spdlog::error("nothing reloaded: {}", done.error().message());
  }
  spdlog::info("settings and rules reloaded");
}

int Server::run() {
  if (engine_ == nullptr) {
    spdlog::info("the database system is shut down");
    return 0;
  }
  events_->signals.read(
      {.reload = [this] { on_hangup(); },
       .promote = [] { spdlog::info("asked to promote a server that is no standby"); },
       .stop = [this](StopMode mode) { begin_stop(mode); }});
  await_turn();
  events_->context.run();
  return close();
}

void Server::await_turn() {
  constexpr Duration kWhileStopping = std::chrono::milliseconds{10};
  events_->turn.expires_after(is_stopping_ ? kWhileStopping : turn_between_looks());
  events_->turn.async_wait([this](const boost::system::error_code&) {
    look_for_clients();
    end_long_transactions();
    look_after_console();
    if (is_stopping_) end_followers();
    if (is_stopping_ && context_->registry().size() == 0) return events_->context.stop();
    await_turn();
  });
}

Duration Server::turn_between_looks() const {
  constexpr Duration kLongest = std::chrono::milliseconds{500};
  const Duration interval = context_->policy()->client_check_interval;
  return interval == Duration::zero() ? kLongest : std::min(interval, kLongest);
}

void Server::end_followers() {
  SessionRegistry& registry = context_->registry();
  const std::set<std::uint32_t> followers = registry.followers();
  // Readers of changes go on at their slots, from the next start on.
  const std::size_t readers = registry.change_readers();
  if (readers != 0 && registry.size() == followers.size() + readers)
    registry.end_all(EndReason::administrator, SessionRegistry::Whom::change_readers);
  if (followers.empty() || registry.size() != followers.size()) return;
  const TimePoint now = Runtime::current().now();
  if (!followers_end_at_) {
    followers_end_at_ =
        now + std::chrono::milliseconds{database_->shared().settings.integer("wal_sender_timeout")};
  }
  if (now >= *followers_end_at_ || have_followers_all(followers))
    registry.end_all(EndReason::administrator);
}

bool Server::have_followers_all(const std::set<std::uint32_t>& followers) {
  LogicalLog& log = engine_->logical_log();
  log.flush();
  const Lsn end = log.durable();
  return std::ranges::all_of(database_->shared().log_senders.list(), [&](const auto& sender) {
    return sender.flushed >= end || !followers.contains(static_cast<std::uint32_t>(sender.pid));
  });
}

void Server::look_for_clients() {
  const Duration interval = context_->policy()->client_check_interval;
  const TimePoint now = Runtime::current().now();
  if (interval == Duration::zero() || now < next_look_) return;
  next_look_ = now + interval;
  context_->registry().cancel_abandoned(interval);
}

void Server::look_after_console() {
  const TimePoint now = Runtime::current().now();
  if (!console_ || !console_->has_sessions() || now < next_look_at_console_) return;
  next_look_at_console_ = now + std::chrono::seconds{10};
  metrics_server_->run_aside([this] { console_->close_unused(); });
}

void Server::end_long_transactions() {
  const std::uint64_t most = context_->policy()->transaction_log_bytes;
  if (most == 0) return;
  for (const WritingTransaction& writer : engine_->writers()) {
    if (writer.log_bytes <= most || writer.state != WritingTransaction::State::running) continue;
    context_->registry().end_transaction(static_cast<std::uint32_t>(writer.label), writer.id);
  }
}

void Server::begin_stop(StopMode mode) {
  notify_service_manager("STOPPING=1");
  // The console's sessions count as connections, for whose end the server waits.
  if (console_) metrics_server_->run_aside([this] { console_->close_all(); });
  switch (mode) {
    case StopMode::smart:
      context_->registry().close_door();
      break;
    case StopMode::fast:
      context_->registry().end_all(EndReason::administrator, SessionRegistry::Whom::clients);
      break;
  }
  is_stopping_ = true;
  // From now on the timer has short turns.
  events_->turn.cancel();
}

int Server::close() {
  if (readers_door_) readers_door_->stop();
  (acceptor_ ? *acceptor_ : *readers_door_->acceptor).stop();
  close_sessions();
  segment_closer_.reset();
  readers_door_.reset();
  if (auto closed = engine_->close(); !closed) {
    spdlog::error("the database could not be closed: {}", closed.error().message());
    return 1;
  }
  engine_.reset();
  spdlog::info("the database system is shut down");
  return 0;
}

}  // namespace swizzle::server

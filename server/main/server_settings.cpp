#include "server/main/server_settings.h"

#include <string_view>

#include "server/main/data_directory.h"
#include "server/main/system_memory.h"

namespace swizzle::server {
namespace {

constexpr std::int64_t kMaxConnections = 262'143;
constexpr std::int64_t kBlockBytes = 8192;

std::vector<std::string> parse_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

void define_connections(Settings& settings) {
  const char* const category = "Connections and Authentication";
  const auto at_start = SettingContext::postmaster;
  const auto at_reload = SettingContext::sighup;
  settings.define(integer_setting("port", 5432, {1, 65'535}, SettingUnit::none, at_start, category,
                                  "TCP port, and the number in the unix socket's name."));
  settings.define(string_setting("listen_addresses", "localhost", at_start, category,
                                 "Host names or addresses to listen on; '*' for all."));
  settings.define(string_setting("unix_socket_directories", "/tmp", at_start, category,
                                 "Directories for unix sockets."));
  settings.define(integer_setting("max_connections", 10'000, {1, kMaxConnections},
                                  SettingUnit::none, at_start, category,
                                  "How many sessions there may be at once."));
  settings.define(integer_setting("superuser_reserved_connections", 3, {0, kMaxConnections},
                                  SettingUnit::none, at_start, category,
                                  "How many of these are kept for superusers."));
  settings.define(integer_setting("max_authenticating_connections", 1'000, {1, kMaxConnections},
                                  SettingUnit::none, at_start, category,
                                  "How many connections may be logging in at once, beside them."));
  settings.define(integer_setting("authentication_timeout", 10, {1, 600}, SettingUnit::seconds,
                                  at_reload, category, "How long a login may take."));
  settings.define(integer_setting("client_send_timeout", 900'000, {1, INT32_MAX},
                                  SettingUnit::milliseconds, at_reload, category,
                                  "How long a client may refuse to read what it asked for."));
  settings.define(integer_setting(
      "client_connection_check_interval", 1'000, {0, INT32_MAX}, SettingUnit::milliseconds,
      at_reload, category,
      "How often to look whether clients whose statements run are still there; 0 is never."));
  settings.define(string_setting("hba_file", "swizzle_hba.conf", at_reload, category,
                                 "Who may connect, and how they prove who they are."));
  settings.define(string_setting("ident_file", "", at_reload, category,
                                 "A file without maps of user names, for tools that name one; "
                                 "maps are not supported."));
  settings.define(string_setting("ssl_cert_file", "", at_reload, category,
                                 "The server's certificate; with ssl_key_file, TLS is offered."));
  settings.define(
      string_setting("ssl_key_file", "", at_reload, category, "The certificate's private key."));
  settings.define(string_setting("ssl_ciphers", TlsOptions::kCiphers, at_reload, category,
                                 "Ciphers for TLS 1.2, as OpenSSL lists them."));
  settings.define(enumeration_setting("ssl_min_protocol_version", "TLSv1.2", {"TLSv1.2", "TLSv1.3"},
                                      at_reload, category, "The oldest TLS that is spoken."));
  settings.define(string_setting("user", "", SettingContext::postmaster, category,
                                 "Whose the server becomes when root starts it, once its sockets "
                                 "are open; empty: it stays root's."));
}

wal::InsertMode insert_mode(std::string_view name) noexcept {
  if (name == "mutex") return wal::InsertMode::plain_mutex;
  return name == "atomic_tail" ? wal::InsertMode::atomic_tail
                               : wal::InsertMode::consolidation_array;
}

ConsoleLogin console_login(std::string_view name) noexcept {
  if (name == "off") return ConsoleLogin::off;
  return name == "on" ? ConsoleLogin::on : ConsoleLogin::loopback;
}

void define_resources(Settings& settings) {
  const char* const category = "Resource Usage";
  const auto at_start = SettingContext::postmaster;
  const MemoryDefaults defaults = memory_defaults(system_memory_bytes());
  settings.define(integer_setting(
      "shared_buffers", static_cast<std::int64_t>(defaults.pool_bytes / kBlockBytes),
      {128, INT32_MAX}, SettingUnit::blocks, at_start, category,
      "Memory for pages; by default at most a quarter of what there is."));
  settings.define(boolean_setting("prefault_buffers", false, at_start, category,
                                  "Has the system give all of shared_buffers at the start."));
  settings.define(boolean_setting("buffer_preload", true, at_start, category,
                                  "Reads the pages that were in memory before a stop or a crash "
                                  "ahead after the start, those used most first."));
  settings.define(boolean_setting(
      "salvage", false, at_start, category,
      "Passes over what is damaged, with a WARNING for each page, so that the rest can be copied "
      "out. Lets superusers in alone, and only reads."));
  settings.define(integer_setting("version_store_size",
                                  static_cast<std::int64_t>(defaults.version_store_bytes >> 20U),
                                  {1, INT32_MAX}, SettingUnit::megabytes, at_start, category,
                                  "Memory for old row versions; beyond it the oldest go to files. "
                                  "By default at most an eighth of what there is."));
  settings.define(integer_setting(
      "version_store_file_limit", std::int64_t{16} << 10U, {0, INT32_MAX}, SettingUnit::megabytes,
      at_start, category,
      "Most that files of old row versions take; beyond it the oldest snapshots fail (72000)."));
  settings.define(integer_setting(
      "server_memory_limit", 0, {0, INT32_MAX}, SettingUnit::kilobytes, SettingContext::sighup,
      category,
      "Memory that the statements of all sessions may keep together; 0 is half of what "
      "shared_buffers leaves of the machine's, or of the control group's."));
  settings.define(integer_setting(
      "server_temp_file_limit", 0, {0, INT32_MAX}, SettingUnit::kilobytes, SettingContext::sighup,
      "Resource Usage / Disk",
      "What the temporary files of all sessions may take together (53400); 0 is half of what is "
      "free on the disk when the server starts."));
  settings.define(integer_setting("row_lock_limit", 10'000, {0, INT32_MAX}, SettingUnit::none,
                                  at_start, "Lock Management",
                                  "Changed rows up to which a transaction locks each; beyond it "
                                  "what is kept of the old row says whose it is."));
  settings.define(integer_setting("reactor_threads", 0, {0, 1024}, SettingUnit::none, at_start,
                                  category,
                                  "Threads that serve sessions; 0 is one per processor, as the "
                                  "control group allows."));
  settings.define(integer_setting(
      "reactor_spin", 100, {0, 1'000'000}, SettingUnit::none, at_start, category,
      "How long a thread that serves one busy session polls before it sleeps, when waits are that "
      "short, in microseconds. (PostgreSQL has no such unit, and monitors stumble over one.)"));
  const char* const log = "Write-Ahead Log";
  settings.define(integer_setting(
      "max_transaction_wal_size", 0, {0, INT32_MAX}, SettingUnit::megabytes, SettingContext::sighup,
      log,
      "Log kept for one transaction beyond which it is ended (53400), an idle session with it; 0 "
      "is no limit."));
  settings.define(integer_setting("wal_buffers", 1024, {32, INT32_MAX}, SettingUnit::blocks,
                                  at_start, log, "Memory for log records that are not written."));
  settings.define(enumeration_setting(
      "wal_insert", "atomic_tail", {"atomic_tail", "consolidation_array", "mutex"}, at_start, log,
      "How those who write to the log at once agree on who writes where; the other two are for "
      "comparison."));
  settings.define(integer_setting("max_wal_size", 1024, {2, INT32_MAX}, SettingUnit::megabytes,
                                  at_start, log,
                                  "Log since the oldest change that is not on disk; at most 64 MB "
                                  "of log lie between two checkpoints."));
  settings.define(integer_setting("checkpoint_timeout", 300, {30, 86'400}, SettingUnit::seconds,
                                  at_start, log, "Time that makes a checkpoint begin."));
  settings.define(string_setting("archive_command", "", at_start, log,
                                 "Shell command that archives a finished log segment: %p is its "
                                 "path, %f its name."));
  settings.define(integer_setting("archive_timeout", 0, {0, INT32_MAX / 2}, SettingUnit::seconds,
                                  SettingContext::sighup, log,
                                  "Time after which a log segment is archived though it is not "
                                  "full, if a transaction has written to it; 0: only full ones."));
  settings.define(string_setting(
      "page_repair_backup", "", at_start, log,
      "Backup from which damaged pages are rebuilt if the log that is kept does not reach, with "
      "restore_command for the log since: a full one, and incremental ones after commas. Not used "
      "by a standby."));
}

void define_observability(Settings& settings) {
  const char* const metrics = "Statistics / Monitoring";
  const auto at_start = SettingContext::postmaster;
  settings.define(integer_setting("metrics_port", 0, {0, 65'535}, SettingUnit::none, at_start,
                                  metrics,
                                  "TCP port of /metrics and of the console; 0: there is none."));
  settings.define(string_setting("metrics_address", "127.0.0.1", at_start, metrics,
                                 "Address for metrics_port. Whoever reaches it may read it."));
  settings.define(enumeration_setting(
      "console_login", "loopback", {"off", "loopback", "on"}, SettingContext::sighup, metrics,
      "Where from users may log in to the page at metrics_port. Passwords and answers are not "
      "encrypted there: on is for a network, or a proxy, that protects them."));
  const char* const where = "Reporting and Logging / Where to Log";
  const char* const what = "Reporting and Logging / What to Log";
  const char* const when = "Reporting and Logging / When to Log";
  const auto at_reload = SettingContext::sighup;
  const auto superuser = SettingContext::superuser;
  const auto at_login = SettingContext::superuser_backend;
  settings.define(enumeration_setting("log_format", "plain", {"plain", "json"}, at_reload, where,
                                      "Lines as PostgreSQL's stderr log, or as its jsonlog."));
  settings.define(string_setting("log_line_prefix", "%m [%p] ", at_reload, what,
                                 "What begins each line of the plain log."));
  settings.define(integer_setting("log_min_duration_statement", -1, {-1, INT32_MAX},
                                  SettingUnit::milliseconds, superuser, when,
                                  "Statements that take so long are logged; -1: none."));
  const std::vector<std::string> levels{"debug5", "debug4",  "debug3", "debug2", "debug1", "info",
                                        "notice", "warning", "error",  "log",    "fatal",  "panic"};
  settings.define(enumeration_setting(
      "log_min_messages", "warning", levels, superuser, when,
      "Errors of statements are logged unless this is log, fatal or panic; those that end the "
      "session unless it is panic."));
  settings.define(enumeration_setting(
      "log_min_error_statement", "error", levels, superuser, when,
      "Logged errors bring their statement unless this is log, fatal or panic; those that end the "
      "session unless it is panic."));
  settings.define(enumeration_setting("log_statement", "none", {"none", "ddl", "mod", "all"},
                                      superuser, what, "Which statements are logged."));
  settings.define(boolean_setting("log_duration", false, superuser, what,
                                  "Logs how long each statement takes."));
  settings.define(boolean_setting("log_connections", false, at_login, what, "Logs logins."));
  settings.define(
      boolean_setting("log_disconnections", false, at_login, what, "Logs the ends of sessions."));
}

}  // namespace

void define_server_settings(Settings& settings) {
  define_connections(settings);
  define_resources(settings);
  define_observability(settings);
  settings.define(string_setting(
      "stop_words_directory", "", SettingContext::postmaster,
      "Client Connection Defaults / Locale and Formatting",
      "Where further lists of stop words for text search lie: NAME.stop, one word per line."));
}

void define_file_locations(Settings& settings, const std::filesystem::path& data_directory,
                           const std::filesystem::path& settings_file) {
  const auto define = [&](const char* name, const std::filesystem::path& path, const char* about) {
    settings.define(string_setting(name, std::filesystem::absolute(path).string(),
                                   SettingContext::internal, "File Locations", about));
  };
  define("data_directory", data_directory, "Shows where the data is.");
  define("config_file", settings_file, "Shows which file the settings stand in.");
}

Result<ServerSettings> server_settings(const Settings& settings) {
  const auto number = [&](std::string_view name) {
    return static_cast<std::uint64_t>(settings.integer(name));
  };
  const auto small = [&](std::string_view name) {
    return static_cast<std::uint32_t>(settings.integer(name));
  };
  ServerSettings values;
  values.port = static_cast<std::uint16_t>(number("port"));
  values.listen_addresses = parse_list(settings.text("listen_addresses"));
  values.unix_socket_directories = parse_list(settings.text("unix_socket_directories"));
  values.hba_file = settings.text("hba_file");
  values.ident_file = settings.text("ident_file");
  values.stop_words_directory = settings.text("stop_words_directory");
  values.tls = {.certificate_file = settings.text("ssl_cert_file"),
                .key_file = settings.text("ssl_key_file"),
                .ciphers = settings.text("ssl_ciphers"),
                .least_version = settings.text("ssl_min_protocol_version")};
  values.user = settings.text("user");
  values.limits = {.max_connections = small("max_connections"),
                   .reserved = small("superuser_reserved_connections"),
                   .max_authenticating = small("max_authenticating_connections")};
  values.authentication_timeout = std::chrono::seconds{number("authentication_timeout")};
  values.client_send_timeout = std::chrono::milliseconds{number("client_send_timeout")};
  values.client_check_interval =
      std::chrono::milliseconds{number("client_connection_check_interval")};
  values.transaction_log_bytes = number("max_transaction_wal_size") << 20U;
  values.reactor_threads = number("reactor_threads");
  if (values.reactor_threads == 0) values.reactor_threads = system_processors();
  values.reactor_spin = std::chrono::microseconds{number("reactor_spin")};
  values.metrics_port = static_cast<std::uint16_t>(number("metrics_port"));
  values.metrics_address = settings.text("metrics_address");
  values.console_login = console_login(settings.text("console_login"));
  values.log_format = settings.text("log_format") == "json" ? LogFormat::json : LogFormat::plain;
  values.log_line_prefix = settings.text("log_line_prefix");
  values.memory_bytes = number("server_memory_limit") << 10U;
  values.temporary_file_bytes = number("server_temp_file_limit") << 10U;
  values.engine.pool_bytes = number("shared_buffers") * kBlockBytes;
  if (values.memory_bytes == 0) {
    values.memory_bytes = statement_memory(system_memory_bytes(), values.engine.pool_bytes);
  }
  values.engine.pool_prefault = settings.boolean("prefault_buffers");
  values.engine.pool_preload = settings.boolean("buffer_preload");
  values.engine.salvage = settings.boolean("salvage");
  values.engine.version_store_bytes = number("version_store_size") << 20U;
  values.engine.version_file_bytes = number("version_store_file_limit") << 20U;
  values.engine.row_lock_limit = small("row_lock_limit");
  values.engine.log_buffer_bytes = number("wal_buffers") * kBlockBytes;
  values.engine.log_insert = insert_mode(settings.text("wal_insert"));
  values.engine.checkpoint_log_bytes = number("max_wal_size") << 20U;
  values.engine.checkpoint_seconds = small("checkpoint_timeout");
  values.engine.archive_command = settings.text("archive_command");
  for (const std::string& backup : parse_list(settings.text("page_repair_backup")))
    values.engine.repair_backups.push_back(DataDirectory{backup}.engine());
  if (values.tls.certificate_file.empty() != values.tls.key_file.empty()) {
    return fail(sqlstate::config_file_error,
                "TLS needs both ssl_cert_file and ssl_key_file, or neither");
  }
  if (values.limits.reserved >= values.limits.max_connections) {
    return fail(sqlstate::config_file_error,
                "superuser_reserved_connections must be less than max_connections");
  }
  return values;
}

}  // namespace swizzle::server

#include "server/main/command_line.h"

#include <fmt/format.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <string_view>

#include "base/programs/program_words.h"

namespace swizzle::server {
namespace {

/// Parser of `swizzled`'s command line: settings after `swizzled -D …`, and options of each
/// command.
class Reader {
 public:
  Reader() {
    // -h stays free: PostgreSQL uses it for addresses.
    app_.set_help_flag("-?,--help", "print this help and exit");
    describe_serving();
    describe_init();
    describe_stop();
    add_directory(
        *add_command("status", "says whether a server runs, and how to reach it", Command::status));
    add_directory(
        *add_command("reload", "has a server read its rules and TLS files again", Command::reload));
    CLI::App* const promote =
        add_command("promote", "makes a standby a server of its own", Command::promote);
    add_directory(*promote);
    promote->add_flag("-W,--no-wait{false}", line_.waits, "does not wait until it is one");
    CLI::App* const rewind = add_command(
        "rewind", "makes a standby of a stopped server that another one has left behind",
        Command::rewind);
    add_directory(*rewind);
    rewind->add_option("--source", line_.primary, "libpq's connection string of that other one")
        ->type_name("CONNINFO")
        ->required();
    add_directory(*add_command("control",
                               "prints what pg_controldata would, of a server that runs "
                               "or does not",
                               Command::control));
    CLI::App* const recover = add_command(
        "recover", "recovers the database of a stopped server, and closes it", Command::recover);
    add_directory(*recover);
    add_config_file(*recover);
    add_assignments(*recover);
    describe_ping();
  }

  CommandLine read(int count, const char* const* words) {
    // Without arguments print the help.
    const char* const kHelp[] = {words[0], "--help"};
    line_.exit_code =
        count > 1 ? read_program_words(app_, count, words) : read_program_words(app_, 2, kHelp);
    if (!line_.exit_code) {
      if (!line_.shown_setting.empty()) line_.command = Command::show_setting;
      const bool needs_none =
          line_.command == Command::ping || line_.command == Command::list_settings;
      if (!needs_none) require_directory();
    }
    return std::move(line_);
  }

 private:
  CLI::App* add_command(const std::string& name, const std::string& description, Command command) {
    CLI::App* const made = app_.add_subcommand(name, description);
    made->callback([this, command] { line_.command = command; });
    return made;
  }

  void add_directory(CLI::App& app) {
    app.add_option("-D,--pgdata", line_.directory, "the data directory")
        ->type_name("DIRECTORY")
        ->envname("PGDATA");
  }

  void add_config_file(CLI::App& app) {
    app.add_option("--config-file", line_.config_file,
                   "the settings file, in the place of DIRECTORY/swizzle.conf")
        ->type_name("FILE");
  }

  void add_assignments(CLI::App& app) {
    app.add_option_function<std::vector<std::string>>(
           "-c",
           [this](const std::vector<std::string>& texts) {
             for (const std::string& text : texts) assign_setting(text);
           },
           "a setting, above what the files say; any number of times")
        ->type_name("NAME=VALUE")
        ->take_all()
        ->allow_extra_args(false);
  }

  void describe_ping() {
    CLI::App* const ping = add_command(
        "ping", "asks whether a server accepts connections, as pg_isready does", Command::ping);
    // -h is the host, as it is pg_isready's.
    ping->add_option("-h,--host", line_.ping.host, "its host, or the directory of its socket")
        ->type_name("HOST");
    ping->add_option("-p,--port", line_.ping.port, "its port")->type_name("PORT");
    ping->add_option("-d,--dbname", line_.ping.database, "a database, or a connection string")
        ->type_name("NAME");
    ping->add_option("-U,--username", line_.ping.user, "a role")->type_name("NAME");
    ping->add_option("-t,--timeout", line_.ping.timeout_seconds, "seconds to wait; 0: no limit")
        ->type_name("SECONDS");
    ping->add_flag("-q,--quiet", line_.ping.is_quiet, "prints nothing");
  }

  void add_service_user(CLI::App& app) {
    app.add_option_function<std::string>(
           "--user",
           [this](const std::string& name) {
             line_.service_user = name;
             override_setting("user", name);
           },
           "the system's user that it becomes, started by root: a server once its sockets are open")
        ->type_name("USER");
  }

  void add_setting_option(const std::string& option, const std::string& setting,
                          const std::string& type, const std::string& description) {
    app_.add_option_function<std::string>(
            option, [this, setting](const std::string& value) { override_setting(setting, value); },
            description)
        ->type_name(type);
  }

  void describe_serving() {
    add_directory(app_);
    add_setting_option("-p,--port", "port", "PORT", "where it listens, TCP and socket");
    add_setting_option("-k,--socket-directory", "unix_socket_directories", "DIRECTORY",
                       "where its unix socket lies");
    add_setting_option("-h,--listen-addresses", "listen_addresses", "ADDRESSES",
                       "where it listens for TCP");
    add_assignments(app_);
    add_config_file(app_);
    app_.add_option("-C", line_.shown_setting,
                    "prints the value that it would start with, and ends")
        ->type_name("NAME");
    app_.add_flag_callback(
        "--describe-config", [this] { line_.command = Command::list_settings; },
        "prints all settings, and ends");
    describe_restoring();
    add_service_user(app_);
    app_.footer(
        "\nWithout a command it serves DIRECTORY. TERM stops it smartly, INT fast, QUIT at once; "
        "HUP\nreloads rules and TLS.");
  }

  void describe_restoring() {
    CLI::Option* const from =
        app_.add_option_function<std::vector<std::string>>(
                "--restore-from",
                [this](const std::vector<std::string>& words) {
                  for (const std::string& word : words)
                    line_.restore.backups.push_back(std::filesystem::absolute(word));
                },
                "makes DIRECTORY of a backup and serves it at once; pages follow while it runs; "
                "again for each incremental backup after it")
            ->type_name("BACKUP")
            ->take_all()
            ->allow_extra_args(false);
    add_restore_options(app_, line_.restore.words);
    for (const char* const name :
         {"--restore-command", "--archive-folder", "--target-lsn", "--target-time", "--target-name",
          "--target-xid", "--target-exclusive"})
      app_.get_option(name)->needs(from);
  }

  void describe_init() {
    CLI::App* const init = add_command("init", "makes a data directory", Command::init);
    add_directory(*init);
    init->add_option("-U,--username", line_.user, "the first superuser; you, unless named")
        ->type_name("NAME");
    CLI::Option* const file =
        init->add_option("--pwfile", line_.password_file,
                         "its password is the file's first line; without it, it is asked for")
            ->type_name("FILE");
    init->add_flag("--peer-only", line_.peer_only,
                   "no password: only the system's user NAME gets in, by the unix socket")
        ->excludes(file);
    init->add_option("--locale-provider", line_.locale_provider,
                     "what orders text: libc by its bytes, or icu by a locale's rules")
        ->type_name("libc|icu")
        ->check(CLI::IsMember({"libc", "icu"}));
    init->add_option("--icu-locale", line_.icu_locale, "ICU's locale, as sv-SE")
        ->type_name("LOCALE");
    CLI::Option* const primary =
        init->add_option("--standby-of", line_.primary,
                         "copies the server that libpq's connection string names, to follow it")
            ->type_name("CONNINFO")
            ->excludes(file);
    init->add_option("--slot", line_.slot, "makes a replication slot there, and uses it")
        ->type_name("NAME")
        ->needs(primary);
    add_service_user(*init);
  }

  void describe_stop() {
    static const std::map<std::string, int> kModes{
        {"smart", SIGTERM}, {"fast", SIGINT}, {"immediate", SIGQUIT}};
    CLI::App* const stop =
        add_command("stop", "stops the server, and waits until it has", Command::stop);
    add_directory(*stop);
    line_.stop_signal = SIGINT;
    stop->add_option_function<std::string>(
            "-m,--mode", [this](const std::string& mode) { line_.stop_signal = kModes.at(mode); },
            "smart: when all sessions have ended; fast: they are ended; immediate: as a crash")
        ->type_name("smart|fast|immediate")
        ->check(CLI::IsMember(&kModes));
  }

  void override_setting(std::string name, std::string value) {
    line_.overrides.push_back({std::move(name), std::move(value), "command line"});
  }

  void assign_setting(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw CLI::ValidationError{fmt::format("-c needs NAME=VALUE, not \"{}\"", text)};
    }
    override_setting(text.substr(0, equals), text.substr(equals + 1));
  }

  void require_directory() {
    if (!line_.directory.empty()) return;
    fmt::print(stderr, "swizzled: -D DIRECTORY is missing\nTry \"swizzled --help\".\n");
    line_.exit_code = kUsageExit;
  }

  CLI::App app_{"swizzled serves a database to PostgreSQL clients.", "swizzled"};
  CommandLine line_;
};

}  // namespace

CommandLine read_command_line(int count, const char* const* words) {
  return Reader{}.read(count, words);
}

}  // namespace swizzle::server

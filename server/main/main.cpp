// swizzled: the server's only program. `swizzled help` says what it does.

#include <fmt/format.h>
#include <getopt.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/crash_report.h"
#include "server/main/data_directory.h"
#include "server/main/initialize.h"
#include "server/main/server.h"
#include "server/main/service_user.h"
#include "server/main/system_memory.h"
#include "server/main/text_file.h"

namespace swizzle::server {
namespace {

constexpr int kUsageError = 2;
/// As pg_ctl and the Linux Standard Base have it.
constexpr int kNotRunning = 3;

constexpr std::string_view kHelp = R"(swizzled serves a database to PostgreSQL clients.

  swizzled init -D DIRECTORY [-U NAME] [--pwfile FILE | --peer-only] [--user USER]
      makes a data directory. NAME, by default yours, is the first superuser. The password is
      read from FILE, or asked for at the terminal; with --peer-only there is none, and only the
      operating-system user NAME gets in, through the unix socket.

  swizzled -D DIRECTORY [-p PORT] [-k SOCKET_DIRECTORY] [-h ADDRESSES] [-c NAME=VALUE ...]
           [--user USER]
      serves it. TERM stops smartly, INT fast, QUIT at once; HUP reloads rules and TLS.

  Started by root they become the system's user USER: a server once its sockets are open.

  swizzled stop   -D DIRECTORY [-m smart|fast|immediate]
  swizzled status -D DIRECTORY
  swizzled reload -D DIRECTORY
)";

int complain(const Error& error) {
  fmt::print(stderr, "swizzled: {}\n", error.message());
  if (!error.detail().empty()) fmt::print(stderr, "DETAIL: {}\n", error.detail());
  if (!error.hint().empty()) fmt::print(stderr, "HINT: {}\n", error.hint());
  return 1;
}

int usage(const std::string& problem) {
  fmt::print(stderr, "swizzled: {}\nTry \"swizzled help\".\n", problem);
  return kUsageError;
}

/// What the words after the subcommand say.
struct Arguments {
  std::string directory;
  std::string user;
  std::string password_file;
  std::string service_user;
  std::string stop_mode = "fast";
  bool peer_only = false;
  std::vector<SettingAssignment> overrides;
  std::string problem;
};

void add_override(Arguments& arguments, std::string name, std::string value) {
  arguments.overrides.push_back({std::move(name), std::move(value), "command line"});
}

void add_assignment(Arguments& arguments, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    arguments.problem = fmt::format("-c needs NAME=VALUE, not \"{}\"", text);
    return;
  }
  add_override(arguments, std::string{text.substr(0, equals)},
               std::string{text.substr(equals + 1)});
}

Arguments parse_arguments(int count, char** words) {
  enum LongOption : int { password_file = 256, peer_only, service_user };
  static constexpr std::array<option, 4> kLongOptions{
      option{"pwfile", required_argument, nullptr, password_file},
      option{"user", required_argument, nullptr, service_user},
      option{"peer-only", no_argument, nullptr, peer_only}, option{nullptr, 0, nullptr, 0}};
  Arguments arguments;
  int chosen = 0;
  opterr = 0;
  while ((chosen = getopt_long(count, words, "D:U:p:k:h:c:m:", kLongOptions.data(), nullptr)) !=
         -1) {
    switch (chosen) {
      case 'D':
        arguments.directory = optarg;
        break;
      case 'U':
        arguments.user = optarg;
        break;
      case 'p':
        add_override(arguments, "port", optarg);
        break;
      case 'k':
        add_override(arguments, "unix_socket_directories", optarg);
        break;
      case 'h':
        add_override(arguments, "listen_addresses", optarg);
        break;
      case 'c':
        add_assignment(arguments, optarg);
        break;
      case 'm':
        arguments.stop_mode = optarg;
        break;
      case password_file:
        arguments.password_file = optarg;
        break;
      case peer_only:
        arguments.peer_only = true;
        break;
      case service_user:
        arguments.service_user = optarg;
        add_override(arguments, "user", optarg);
        break;
      default:
        arguments.problem = fmt::format("unknown or incomplete option \"{}\"", words[optind - 1]);
    }
  }
  if (optind < count) arguments.problem = fmt::format("unexpected word \"{}\"", words[optind]);
  if (arguments.directory.empty() && arguments.problem.empty()) {
    const char* from_environment = std::getenv("PGDATA");
    if (from_environment != nullptr) arguments.directory = from_environment;
    if (arguments.directory.empty()) arguments.problem = "-D DIRECTORY is missing";
  }
  return arguments;
}

std::string own_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : "postgres";
}

/// The first line of the password file, or what somebody types twice.
Result<std::string> obtain_password(const Arguments& arguments) {
  if (!arguments.password_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, read_text_file(arguments.password_file));
    return text.substr(0, text.find_first_of("\r\n"));
  }
  if (::isatty(STDIN_FILENO) == 0) {
    return fail(
        Error{sqlstate::invalid_parameter_value, "the superuser needs a password"}.with_hint(
            "Give --pwfile FILE, or --peer-only for access through the unix "
            "socket alone."));
  }
  std::string first = ::getpass("Password for the new superuser: ");
  if (first != ::getpass("Once more: ")) {
    return fail(sqlstate::invalid_parameter_value, "the passwords are not the same");
  }
  return first;
}

/// The directory is the user's, who makes what is in it.
Result<> prepare_for_user(const std::string& name, const DataDirectory& directory) {
  if (name.empty()) return {};
  ASSIGN_OR_RETURN(const ServiceUser user, ServiceUser::find(name));
  RETURN_IF_ERROR(make_private_directory(directory.path()));
  RETURN_IF_ERROR(user.give(directory.path()));
  return user.become();
}

int run_init(const Arguments& arguments) {
  const DataDirectory directory{arguments.directory};
  InitOptions options;
  options.user = arguments.user.empty() ? own_name() : arguments.user;
  if (!arguments.peer_only) {
    auto password = obtain_password(arguments);
    if (!password) return complain(password.error());
    options.password = std::move(*password);
  }
  if (auto done = prepare_for_user(arguments.service_user, directory); !done) {
    return complain(done.error());
  }
  if (auto done = initialize(directory, options); !done) return complain(done.error());
  fmt::print("Made data directory {} with superuser {}.\nServe it: swizzled -D {}\n",
             arguments.directory, options.user, arguments.directory);
  return 0;
}

int run_serve(const Arguments& arguments) {
  give_back_freed_memory();
  Server::block_signals();
  const auto log = std::make_shared<ServerLog>();
  capture_spdlog(log);
  report_crashes_to(STDERR_FILENO);
  auto server = Server::start(DataDirectory{std::filesystem::absolute(arguments.directory)},
                              arguments.overrides, log);
  if (!server) return complain(server.error());
  return (*server)->run();
}

/// The running server, or nothing and a message.
std::optional<RunningServer> running_server(const Arguments& arguments) {
  const auto server = find_running(DataDirectory{arguments.directory});
  if (!server) {
    complain(server.error());
    return std::nullopt;
  }
  if (!*server) fmt::print("swizzled: no server is running in {}\n", arguments.directory);
  return *server;
}

int run_status(const Arguments& arguments) {
  const auto server = running_server(arguments);
  if (!server) return kNotRunning;
  fmt::print("swizzled: server is running (PID {}), port {}, socket directory {}\n",
             server->process, server->port, server->socket_directory);
  return 0;
}

int send_signal(const RunningServer& server, int signal) {
  if (::kill(server.process, signal) == 0) return 0;
  std::perror("swizzled: could not signal the server");
  return 1;
}

int run_reload(const Arguments& arguments) {
  const auto server = running_server(arguments);
  return server ? send_signal(*server, SIGHUP) : kNotRunning;
}

int run_stop(const Arguments& arguments) {
  int signal = 0;
  if (arguments.stop_mode == "smart") signal = SIGTERM;
  if (arguments.stop_mode == "fast") signal = SIGINT;
  if (arguments.stop_mode == "immediate") signal = SIGQUIT;
  if (signal == 0) return usage("-m is smart, fast or immediate");
  const auto server = running_server(arguments);
  if (!server) return kNotRunning;
  if (const int failed = send_signal(*server, signal); failed != 0) return failed;
  const DataDirectory directory{arguments.directory};
  for (;;) {
    const auto still = find_running(directory);
    if (still && !*still) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  fmt::print("swizzled: stopped\n");
  return 0;
}

int dispatch(int count, char** words) {
  const std::string_view command = count > 1 ? words[1] : "help";
  if (command == "help" || command == "--help" || command == "-?") {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (command == "--version" || command == "-V") {
    fmt::print("swizzled {}\n", SWIZZLE_VERSION);
    return 0;
  }
  const bool has_command = !command.starts_with('-');
  const Arguments arguments =
      has_command ? parse_arguments(count - 1, words + 1) : parse_arguments(count, words);
  if (!arguments.problem.empty()) return usage(arguments.problem);
  if (!has_command) return run_serve(arguments);
  if (command == "init") return run_init(arguments);
  if (command == "stop") return run_stop(arguments);
  if (command == "status") return run_status(arguments);
  if (command == "reload") return run_reload(arguments);
  return usage(fmt::format("unknown command \"{}\"", command));
}

}  // namespace
}  // namespace swizzle::server

int main(int count, char** words) {
  return swizzle::server::dispatch(count, words);
}

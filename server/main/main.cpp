// swizzled: the server. `swizzled --help` describes its commands.

#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "base/fibers/crash_report.h"
#include "base/programs/program_words.h"
#include "server/main/command_line.h"
#include "server/main/data_directory.h"
#include "server/main/initialize.h"
#include "server/main/offline.h"
#include "server/main/ping.h"
#include "server/main/server.h"
#include "server/main/service_user.h"
#include "server/main/system_memory.h"
#include "server/main/text_file.h"
#include "server/standby/base_copy.h"

namespace swizzle::server {
namespace {

/// Exit code of pg_ctl and the Linux Standard Base.
constexpr int kNotRunning = 3;

int complain(const Error& error) {
  fmt::print(stderr, "swizzled: {}\n", error.message());
  if (!error.detail().empty()) fmt::print(stderr, "DETAIL: {}\n", error.detail());
  if (!error.hint().empty()) fmt::print(stderr, "HINT: {}\n", error.hint());
  return 1;
}

std::string own_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : "postgres";
}

/// Returns the first line of the password file, or asks for the password twice.
Result<std::string> obtain_password(const CommandLine& line) {
  if (!line.password_file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, read_text_file(line.password_file));
    return text.substr(0, text.find_first_of("\r\n"));
  }
  if (::isatty(STDIN_FILENO) == 0) {
    return fail(
        Error{sqlstate::invalid_parameter_value, "the superuser needs a password"}.with_hint(
            "Give --pwfile FILE, or --peer-only for access through the unix socket alone, as in: "
            "swizzled init -D data --peer-only"));
  }
  std::string first = ::getpass("Password for the new superuser: ");
  if (first != ::getpass("Once more: ")) {
    return fail(sqlstate::invalid_parameter_value, "the passwords are not the same");
  }
  return first;
}

/// Creates the directory and gives it to the user, who creates its content.
Result<> prepare_for_user(const std::string& name, const DataDirectory& directory) {
  if (name.empty()) return {};
  ASSIGN_OR_RETURN(const ServiceUser user, ServiceUser::find(name));
  RETURN_IF_ERROR(make_private_directory(directory.path()));
  RETURN_IF_ERROR(user.give(directory.path()));
  return user.become();
}

/// Checks the options with initdb's rules.
Result<> check_locale(const CommandLine& line) {
  if (line.locale_provider == "icu") {
    if (!line.icu_locale.empty()) return {};
    return fail(sqlstate::invalid_parameter_value, "ICU locale must be specified");
  }
  if (line.icu_locale.empty()) return {};
  return fail(sqlstate::invalid_parameter_value,
              "--icu-locale cannot be specified unless locale provider \"icu\" is chosen");
}

/// Refuses names that begin with pg_, as initdb and CREATE ROLE do.
Result<> check_superuser_name(const std::string& name) {
  if (!name.starts_with("pg_")) return {};
  return fail(sqlstate::invalid_parameter_value,
              fmt::format("superuser name \"{}\" is disallowed; role names cannot begin with "
                          "\"pg_\"",
                          name));
}

int run_init(const CommandLine& line) {
  // Suppress the report of a recovery: a new directory has nothing to recover.
  spdlog::set_level(spdlog::level::warn);
  const DataDirectory directory{line.directory};
  if (auto checked = check_locale(line); !checked) return complain(checked.error());
  InitOptions options;
  options.icu_locale = line.icu_locale;
  options.user = line.user.empty() ? own_name() : line.user;
  if (auto checked = check_superuser_name(options.user); !checked) {
    return complain(checked.error());
  }
  if (!line.peer_only) {
    auto password = obtain_password(line);
    if (!password) return complain(password.error());
    options.password = std::move(*password);
  }
  if (auto done = prepare_for_user(line.service_user, directory); !done) {
    return complain(done.error());
  }
  if (auto done = initialize(directory, options); !done) return complain(done.error());
  fmt::print("Made data directory {} with superuser {}.\nServe it: swizzled -D {}\n",
             line.directory, options.user, line.directory);
  return 0;
}

int run_init_standby(const CommandLine& line) {
  spdlog::set_level(spdlog::level::warn);
  const DataDirectory directory{line.directory};
  if (auto done = prepare_for_user(line.service_user, directory); !done)
    return complain(done.error());
  if (auto done = copy_primary(directory, {.primary = line.primary, .slot = line.slot}); !done)
    return complain(done.error());
  fmt::print("Made data directory {} of a standby.\nServe it: swizzled -D {}\n", line.directory,
             line.directory);
  return 0;
}

int run_rewind(const CommandLine& line) {
  spdlog::set_level(spdlog::level::warn);
  const DataDirectory directory{line.directory};
  auto server = find_running(directory);
  if (!server) return complain(server.error());
  if (*server) {
    return complain(Error{sqlstate::object_not_in_prerequisite_state,
                          fmt::format("a server is running in {}", line.directory)}
                        .with_hint("Stop it first."));
  }
  if (auto done = rewind_to(directory, line.primary); !done) return complain(done.error());
  fmt::print("Rewound data directory {}: it is a standby now.\nServe it: swizzled -D {}\n",
             line.directory, line.directory);
  return 0;
}

DataDirectory directory_of(const CommandLine& line) {
  const auto whole = [](const std::string& path) {
    return path.empty() ? std::filesystem::path{} : std::filesystem::absolute(path);
  };
  return DataDirectory{whole(line.directory), whole(line.config_file)};
}

int print(const Result<std::string>& text) {
  if (!text) return complain(text.error());
  fmt::print("{}", *text);
  return 0;
}

int run_recover(const CommandLine& line) {
  spdlog::set_level(spdlog::level::warn);
  const auto done = recover_directory(directory_of(line), line.overrides);
  return done ? 0 : complain(done.error());
}

int run_show_setting(const CommandLine& line) {
  auto value = start_value(directory_of(line), line.overrides, line.shown_setting);
  if (value) *value += '\n';
  return print(value);
}

/// Refuses to restore as root for another user.
Result<> check_restoring_user(const CommandLine& line) {
  if (line.restore.backups.empty() || line.service_user.empty() || ::geteuid() != 0) return {};
  return fail(Error{sqlstate::feature_not_supported,
                    "--restore-from together with --user is not supported for root"}
                  .with_hint("Start the server as that user."));
}

int run_serve(const CommandLine& line) {
  give_back_freed_memory();
  Server::block_signals();
  const auto log = std::make_shared<ServerLog>();
  capture_spdlog(log);
  report_crashes_to(STDERR_FILENO);
  if (auto checked = check_restoring_user(line); !checked) return complain(checked.error());
  auto server = Server::start(directory_of(line), line.overrides, log,
                              line.restore.backups.empty() ? nullptr : &line.restore);
  if (!server) return complain(server.error());
  return (*server)->run();
}

/// Returns the running server; prints a message if there is none.
std::optional<RunningServer> running_server(const CommandLine& line) {
  const auto server = find_running(DataDirectory{line.directory});
  if (!server) {
    complain(server.error());
    return std::nullopt;
  }
  if (!*server) fmt::print("swizzled: no server is running in {}\n", line.directory);
  return *server;
}

int run_status(const CommandLine& line) {
  const auto server = running_server(line);
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

int run_reload(const CommandLine& line) {
  const auto server = running_server(line);
  return server ? send_signal(*server, SIGHUP) : kNotRunning;
}

int run_stop(const CommandLine& line) {
  const auto server = running_server(line);
  if (!server) return kNotRunning;
  if (const int failed = send_signal(*server, line.stop_signal); failed != 0) return failed;
  const DataDirectory directory{line.directory};
  for (;;) {
    const auto still = find_running(directory);
    if (still && !*still) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  fmt::print("swizzled: stopped\n");
  return 0;
}

int run_promote(const CommandLine& line) {
  const auto server = running_server(line);
  if (!server) return kNotRunning;
  const DataDirectory directory{line.directory};
  if (!std::filesystem::exists(directory.standby_signal())) {
    return complain(Error{sqlstate::object_not_in_prerequisite_state,
                          "cannot promote server; server is not in standby mode"});
  }
  if (const int failed = send_signal(*server, SIGUSR1); failed != 0 || !line.waits) return failed;
  while (std::filesystem::exists(directory.standby_signal())) {
    const auto still = find_running(directory);
    if (still && !*still) {
      return complain(Error{sqlstate::object_not_in_prerequisite_state,
                            "the server has ended without being promoted; its log says why"});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  fmt::print("swizzled: promoted\n");
  return 0;
}

int dispatch(int count, char** words) {
  const CommandLine line = read_command_line(count, words);
  if (line.exit_code) return *line.exit_code;
  switch (line.command) {
    case Command::serve:
      return run_serve(line);
    case Command::init:
      return line.primary.empty() ? run_init(line) : run_init_standby(line);
    case Command::stop:
      return run_stop(line);
    case Command::status:
      return run_status(line);
    case Command::reload:
      return run_reload(line);
    case Command::promote:
      return run_promote(line);
    case Command::rewind:
      return run_rewind(line);
    case Command::control:
      return print(control_report(directory_of(line)));
    case Command::recover:
      return run_recover(line);
    case Command::ping:
      return ping_server(line.ping);
    case Command::show_setting:
      return run_show_setting(line);
    case Command::list_settings:
      return print(setting_list());
  }
  return kUsageExit;
}

}  // namespace
}  // namespace swizzle::server

int main(int count, char** words) {
  return swizzle::server::dispatch(count, words);
}

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/runtime/runtime.h"
#include "base/settings/settings.h"
#include "server/console/console_login.h"
#include "server/observability/log_line.h"
#include "server/session/session_registry.h"
#include "server/session/tls_context.h"
#include "storage/options.h"

namespace swizzle::server {

/// Defines the server's own settings, with PostgreSQL's names where they exist.
void define_server_settings(Settings& settings);
/// Read-only settings for SHOW: the command line determines the data directory.
void define_file_locations(Settings& settings, const std::filesystem::path& data_directory,
                           const std::filesystem::path& settings_file);

/// The settings as values of their types.
struct ServerSettings {
  std::uint16_t port = 5432;
  std::vector<std::string> listen_addresses;
  std::vector<std::string> unix_socket_directories;
  std::string hba_file;              ///< relative to the data directory, as TLS's files
  std::string ident_file;            ///< empty, or one without maps
  std::string stop_words_directory;  ///< empty: there are the built-in lists
  TlsOptions tls;                    ///< with a certificate and a key, TLS is offered
  std::string user;  ///< user that a server started by root becomes; empty: stays root
  ConnectionLimits limits;
  Duration authentication_timeout{};
  Duration client_send_timeout{};
  Duration client_check_interval{};         ///< zero: never
  std::uint64_t transaction_log_bytes = 0;  ///< zero: without limit
  std::size_t reactor_threads = 0;
  Duration reactor_spin{};
  std::uint16_t metrics_port = 0;  ///< 0: there is no metrics endpoint
  std::string metrics_address;
  ConsoleLogin console_login = ConsoleLogin::loopback;
  LogFormat log_format = LogFormat::plain;
  std::string log_line_prefix;
  std::uint64_t memory_bytes = 0;          ///< of all sessions' statements
  std::uint64_t temporary_file_bytes = 0;  ///< of all sessions; zero: a share of the disk
  EngineOptions engine;
};
/// F0000 for settings that contradict each other.
Result<ServerSettings> server_settings(const Settings& settings);

}  // namespace swizzle::server

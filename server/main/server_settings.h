#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/runtime.h"
#include "server/main/config_file.h"
#include "server/session/session_registry.h"
#include "storage/options.h"

namespace swizzle::server {

/// What the server itself is told, with PostgreSQL's names where the thing is the same.
struct ServerSettings {
  std::uint16_t port = 5432;
  std::vector<std::string> listen_addresses{"localhost"};
  std::vector<std::string> unix_socket_directories{"/tmp"};
  std::string hba_file = "swizzle_hba.conf";  ///< relative to the data directory
  std::string ssl_cert_file;                  ///< with ssl_key_file: TLS is offered
  std::string ssl_key_file;
  ConnectionLimits limits;
  Duration authentication_timeout = std::chrono::seconds{10};
  /// Ours: how long a client may refuse to read what it asked for.
  Duration client_send_timeout = std::chrono::minutes{15};
  /// Ours: 0 is one per processor.
  std::uint32_t reactor_threads = 0;
  /// Ours: how long an idle reactor polls before it sleeps.
  Duration reactor_spin = std::chrono::microseconds{0};
  EngineOptions engine;

  /// Every other setting: what sessions start with.
  std::vector<std::pair<std::string, std::string>> session_defaults;
};

/// Later assignments win. 22023 or F0000 with the origin of a value that makes no sense.
Result<ServerSettings> make_settings(const std::vector<Assignment>& assignments);

}  // namespace swizzle::server

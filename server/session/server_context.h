#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/runtime/runtime.h"
#include "server/auth/hba.h"
#include "server/auth/login_limiter.h"
#include "server/console/console_login.h"
#include "server/observability/server_log.h"
#include "server/observability/statement_metrics.h"
#include "server/session/session_registry.h"
#include "server/session/statement_timer.h"
#include "server/session/tls_context.h"
#include "sql-lite-frontend/session.h"
#include "storage/options.h"

namespace swizzle {
class FileSystem;
}

namespace swizzle::server {

/// The rules and limits for new connections; replaced as a whole on reload.
struct DoorPolicy {
  HbaRules rules;
  std::shared_ptr<const TlsContext> tls;  ///< null: TLS is not offered
  Duration authentication_timeout = std::chrono::seconds{10};
  Duration send_timeout = std::chrono::minutes{15};
  /// How often clients are looked for whose statements run; zero: never.
  Duration client_check_interval{};
  /// A transaction for which more of the log is kept is ended; zero: none is.
  std::uint64_t transaction_log_bytes = 0;
  ConsoleLogin console_login = ConsoleLogin::loopback;
};

/// State that all connections share. Thread-safe.
class ServerContext {
 public:
  /// `secret` makes the exchange with unknown roles repeatable (ScramVerifier::pretend).
  ServerContext(sql::Database& database, ConnectionLimits limits, std::string secret,
                std::shared_ptr<ServerLog> log)
      : database_(database), registry_(limits), log_(std::move(log)), secret_(std::move(secret)) {}
  ServerContext(const ServerContext&) = delete;
  ServerContext& operator=(const ServerContext&) = delete;
  ~ServerContext() = default;

  [[nodiscard]] sql::Database& database() noexcept { return database_; }
  [[nodiscard]] SessionRegistry& registry() noexcept { return registry_; }
  [[nodiscard]] LoginLimiter& limiter() noexcept { return limiter_; }
  [[nodiscard]] StatementMetrics& statement_metrics() noexcept { return statement_metrics_; }
  [[nodiscard]] ServerLog& log() noexcept { return *log_; }
  [[nodiscard]] StatementTimer& statement_timer() noexcept { return statement_timer_; }
  [[nodiscard]] Bytes secret() const noexcept { return as_bytes(secret_); }

  [[nodiscard]] std::shared_ptr<const DoorPolicy> policy() const {
    const std::scoped_lock lock{policy_mutex_};
    return policy_;
  }
  /// Copies the directory of the server; set before there are connections.
  using CopyServer = std::function<Result<>(FileSystem& files, const RecoveryObserver& observer)>;
  [[nodiscard]] const CopyServer& copy_server() const noexcept { return copy_server_; }
  void set_copy_server(CopyServer copy) { copy_server_ = std::move(copy); }

  void set_policy(DoorPolicy policy) {
    set_policy(std::make_shared<const DoorPolicy>(std::move(policy)));
  }
  void set_policy(std::shared_ptr<const DoorPolicy> fresh) {
    const std::scoped_lock lock{policy_mutex_};
    policy_.swap(fresh);
  }

 private:
  CopyServer copy_server_;
  sql::Database& database_;
  SessionRegistry registry_;
  LoginLimiter limiter_;
  StatementMetrics statement_metrics_;
  std::shared_ptr<ServerLog> log_;
  StatementTimer statement_timer_;
  std::string secret_;
  mutable std::mutex policy_mutex_;
  std::shared_ptr<const DoorPolicy> policy_ = std::make_shared<const DoorPolicy>();
};

/// Origin of a connection.
struct Peer {
  std::optional<IpAddress> address;    ///< absent for a unix socket
  std::optional<uid_t> user;           ///< for a unix socket: the peer's user, from the kernel
  std::uint16_t port = 0;              ///< 0 for a unix socket
  std::optional<IpAddress> reached{};  ///< our own end, where it is not a unix socket
  std::uint16_t reached_port = 0;
};

}  // namespace swizzle::server

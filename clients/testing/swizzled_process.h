#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace swizzle::clients {

/// A server for a test: a new data directory in a temporary folder with a unix socket, and a free
/// TCP port. Ends with the object. Failures throw std::runtime_error with the server's output.
class SwizzledProcess {
 public:
  enum class Access { peer_only, password };

  /// The superuser's password with Access::password.
  static constexpr const char* kPassword = "correct horse";

  /// `service_user`: the user that a server started by root becomes; empty: none.
  explicit SwizzledProcess(Access access = Access::peer_only,
                           std::vector<std::string> settings = {},
                           const std::string& service_user = {});
  SwizzledProcess(const SwizzledProcess&) = delete;
  SwizzledProcess& operator=(const SwizzledProcess&) = delete;
  ~SwizzledProcess();

  /// Returns a connection string for libpq: through the unix socket, as the current user.
  [[nodiscard]] std::string conninfo(const std::string& more = {}) const;
  /// Returns a connection string over TCP on loopback, with the password.
  [[nodiscard]] std::string tcp_conninfo(const std::string& more = {}) const;
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
  [[nodiscard]] std::string data_directory() const { return directory_ + "/data"; }
  [[nodiscard]] const std::string& user() const noexcept { return user_; }
  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] pid_t process() const noexcept { return process_; }

  /// Starts it again after kill() or stop().
  void start();
  /// Kills the server with SIGKILL.
  void kill();
  /// Sends `signal` and waits. Returns the exit code.
  int stop(int signal);
  void send_signal(int signal) const;
  /// True until the process has ended.
  [[nodiscard]] bool is_running();

  /// Result of a run of `swizzled`.
  struct Finished {
    int exit_code = 0;
    std::string output;
  };
  static Finished run_swizzled(const std::vector<std::string>& words);

  /// Returns the log since the last start.
  [[nodiscard]] std::string log() const;

 private:
  int wait_for_end();

  std::string directory_;
  std::string user_;
  std::vector<std::string> settings_;
  int port_ = 0;
  pid_t process_ = -1;
};

}  // namespace swizzle::clients

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace swizzle::server::testing {

/// A directory with servers that run as processes; ends them at destruction. Clients connect
/// through its unix sockets.
class ServerHome {
 public:
  ServerHome();
  ServerHome(const ServerHome&) = delete;
  ServerHome& operator=(const ServerHome&) = delete;
  ~ServerHome();

  /// Runs the program to its end. Returns its exit status. Appends its output to `log`.
  int run(std::vector<std::string> words, const std::string& log = "log");
  /// Starts a server of the data directory `name` with its output in the file `name`.log. Returns
  /// at once.
  void start(const std::string& name, int port);
  /// Waits up to half a minute until it accepts clients. Returns false if it does not.
  [[nodiscard]] bool is_open(const std::string& name) const;
  /// Kills the server with SIGKILL.
  void kill(const std::string& name);
  /// Waits up to half a minute for its end. Returns its exit status; -1: it is still running.
  int await_end(const std::string& name);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string data(const std::string& name) const { return path_ + "/" + name; }
  /// Returns the connection string of a server of this directory.
  [[nodiscard]] std::string conninfo(int port) const;
  [[nodiscard]] std::string log_of(const std::string& name) const;

 private:
  struct Process {
    std::string name;
    int port = 0;
    pid_t id = -1;
  };
  [[nodiscard]] pid_t launch(std::vector<std::string> words, const std::string& log) const;
  [[nodiscard]] const Process& find(const std::string& name) const;

  std::string path_;
  std::vector<Process> processes_;
};

}  // namespace swizzle::server::testing

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "server/observability/log_line.h"

namespace swizzle::server {

/// The server's log: lines to standard error, in PostgreSQL's form. Thread-safe.
///
/// There is one, since there is one standard error; what the folders below say through spdlog comes
/// out here too, once capture_spdlog() was called.
class ServerLog {
 public:
  explicit ServerLog(int descriptor = 2) noexcept : descriptor_(descriptor) {}
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;
  ~ServerLog() = default;

  void set_format(LogFormat format, std::string prefix);
  /// `subject` may be null. Its line number grows.
  void write(const LogEntry& entry, LogSubject* subject) noexcept;

 private:
  const int descriptor_;
  std::mutex mutex_;
  LogFormat format_ = LogFormat::plain;
  std::string prefix_ = "%m [%p] ";
};

/// From here on spdlog's messages are lines of `log`.
void capture_spdlog(std::shared_ptr<ServerLog> log);

}  // namespace swizzle::server

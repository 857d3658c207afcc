#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/observability/log_line.h"
#include "server/observability/recent_troubles.h"

namespace swizzle::server {

/// The server's log: lines to standard error, in PostgreSQL's form. Thread-safe.
///
/// There is one, since there is one standard error; spdlog's messages of the folders below come out
/// here too, once capture_spdlog() was called.
class ServerLog {
 public:
  explicit ServerLog(int descriptor = 2) noexcept : descriptor_(descriptor) {}
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;
  ~ServerLog() = default;

  /// Call at the start, and after each reload of the configuration.
  void set_format(LogFormat format, std::string prefix);
  /// Grows with each set_format(): settings cached by sessions may be outdated then.
  [[nodiscard]] std::uint64_t revision() const noexcept {
    // Acquire: a thread that sees the number sees the settings that were read before.
    return revision_.load(std::memory_order_acquire);
  }
  /// `subject` may be null. Its line number grows.
  void write(const LogEntry& entry, LogSubject* subject) noexcept;
  /// Returns the warnings and errors since then (microseconds since 1970), the latest first.
  [[nodiscard]] std::vector<Trouble> troubles_since(std::int64_t us) const;

 private:
  const int descriptor_;
  std::atomic<std::uint64_t> revision_{0};
  mutable std::mutex mutex_;
  RecentTroubles troubles_;
  LogFormat format_ = LogFormat::plain;
  std::string prefix_ = "%m [%p] ";
};

/// From here on spdlog's messages are lines of `log`.
void capture_spdlog(std::shared_ptr<ServerLog> log);

}  // namespace swizzle::server

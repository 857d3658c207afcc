#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "server/observability/log_line.h"

namespace swizzle::server {

/// A warning or error of the log; long texts are truncated.
struct Trouble {
  std::int64_t at_us = 0;  ///< since 1970
  std::string severity;
  std::string sqlstate;
  std::string message;
  std::string detail;
  std::string statement;
  std::string user;  ///< empty: the server itself
  std::string database;
  std::string application;
  std::uint32_t backend_pid = 0;
};

/// The latest warnings and errors of the log, in bounded memory. Not thread-safe: the owner locks.
class RecentTroubles {
 public:
  static constexpr std::size_t kMost = 200;
  static constexpr std::size_t kLongestMessage = 500;
  static constexpr std::size_t kLongestStatement = 1000;

  /// Adds `entry` if it is a warning or worse. Drops the oldest entry beyond kMost.
  void note(std::int64_t now_us, const LogEntry& entry, const LogSubject* subject);
  /// Returns the entries since that time, latest first.
  [[nodiscard]] std::vector<Trouble> since(std::int64_t us) const;

 private:
  std::deque<Trouble> entries_;
};

}  // namespace swizzle::server

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "server/observability/log_line.h"

namespace swizzle::server {

/// One warning or error of the log, with the beginning of long texts.
struct Trouble {
  std::int64_t at_us = 0;  ///< since 1970
  std::string severity;
  std::string sqlstate;
  std::string message;
  std::string detail;
  std::string statement;
  std::string user;  ///< empty: the server's own
  std::string database;
  std::string application;
  std::uint32_t backend_pid = 0;
};

/// The latest warnings and errors of the log, in bounded memory. Its owner locks.
class RecentTroubles {
 public:
  static constexpr std::size_t kMost = 200;
  static constexpr std::size_t kLongestMessage = 500;
  static constexpr std::size_t kLongestStatement = 1000;

  /// Keeps `entry` if it is a warning or worse, and forgets the oldest beyond kMost.
  void note(std::int64_t now_us, const LogEntry& entry, const LogSubject* subject);
  /// Returns the entries since then, the latest first.
  [[nodiscard]] std::vector<Trouble> since(std::int64_t us) const;

 private:
  std::deque<Trouble> entries_;
};

}  // namespace swizzle::server

#pragma once

#include <string>

namespace swizzle::server {

/// Address of a server; an empty word is libpq's default.
struct PingTarget {
  std::string host;
  std::string port;
  std::string database;  ///< or a connection string
  std::string user;
  int timeout_seconds = 3;
  bool is_quiet = false;
};

/// Asks whether a server accepts connections, as pg_isready does, and prints the answer. Returns
/// its exit status: 0 it does, 1 it refuses them, 2 nothing answers, 3 nothing was asked.
int ping_server(const PingTarget& target);

}  // namespace swizzle::server

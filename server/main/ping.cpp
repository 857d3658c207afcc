#include "server/main/ping.h"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <string_view>

namespace swizzle::server {
namespace {

std::string_view words_of(PGPing answer) {
  switch (answer) {
    case PQPING_OK:
      return "accepting connections";
    case PQPING_REJECT:
      return "rejecting connections";
    case PQPING_NO_RESPONSE:
      return "no response";
    case PQPING_NO_ATTEMPT:
      break;
  }
  return "no attempt";
}

}  // namespace

int ping_server(const PingTarget& target) {
  const std::string timeout = std::to_string(target.timeout_seconds);
  const auto given = [](const std::string& word) { return word.empty() ? nullptr : word.c_str(); };
  // Later words win over those of a connection string.
  const std::array<const char*, 6> names{"dbname",          "host", "port", "user",
                                         "connect_timeout", nullptr};
  const std::array<const char*, 6> values{given(target.database), given(target.host),
                                          given(target.port),     given(target.user),
                                          timeout.c_str(),        nullptr};
  const PGPing answer = ::PQpingParams(names.data(), values.data(), 1);
  if (!target.is_quiet) {
    const std::string place =
        target.host.empty() && target.port.empty()
            ? std::string{"server"}
            : fmt::format("{}:{}", target.host.empty() ? "server" : target.host, target.port);
    fmt::print("{} - {}\n", place, words_of(answer));
  }
  return static_cast<int>(answer);
}

}  // namespace swizzle::server

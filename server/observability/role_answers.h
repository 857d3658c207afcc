#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/observability/http_server.h"

namespace swizzle::server {

enum class ServerRole : std::uint8_t {
  primary,
  warm_standby,  ///< follows, and answers no queries
  hot_standby,   ///< follows, and answers queries
};

struct ServerPlace {
  ServerRole role = ServerRole::primary;
  // Of a standby: log of the primary that is not replayed, or not received.
  std::uint64_t replay_lag_bytes = 0;
  std::uint64_t write_lag_bytes = 0;
};

/// Answers that balancers and supervisors ask of the metrics port, under Patroni's paths:
/// 200 for a server that is it, 503 for one that is not. `words` goes along. Nothing for other
/// paths. `target` may have a query, `lag=` with a number of bytes, or with B, kB, MB, GB or TB: a
/// standby that lags more does not serve reads. What is no such number is passed over, as Patroni
/// does.
[[nodiscard]] std::optional<HttpResponse> role_answer(std::string_view target,
                                                      const ServerPlace& place,
                                                      std::string_view words);

}  // namespace swizzle::server

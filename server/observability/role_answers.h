#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/observability/http_server.h"

namespace swizzle::server {

enum class ServerRole : std::uint8_t {
  primary,
  warm_standby,  ///< follows, and answers no queries
};

/// Answers that balancers and supervisors ask of the metrics port, under Patroni's paths:
/// 200 for a server that is it, 503 for one that is not. `words` goes along. Nothing for other
/// paths.
[[nodiscard]] std::optional<HttpResponse> role_answer(std::string_view path, ServerRole role,
                                                      std::string_view words);

}  // namespace swizzle::server

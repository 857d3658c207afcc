#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "server/observability/http_server.h"

namespace swizzle::server {

enum class ServerRole : std::uint8_t {
  primary,
  warm_standby,  ///< standby that answers no queries
};

/// Answers balancers and supervisors at the metrics port, under Patroni's paths: 200 if the server
/// has the role, else 503; `words` is the body. Nothing for other paths.
[[nodiscard]] std::optional<HttpResponse> role_answer(std::string_view path, ServerRole role,
                                                      std::string_view words);

}  // namespace swizzle::server

#include "server/observability/role_answers.h"

#include <algorithm>
#include <array>
#include <string>

namespace swizzle::server {
namespace {

struct RolePath {
  std::string_view path;
  bool is_primary;       ///< 200 of a primary
  bool is_warm_standby;  ///< 200 of a standby that answers no queries
};

constexpr std::array<RolePath, 13> kRolePaths{{
    {"/primary", true, false},
    {"/master", true, false},
    {"/leader", true, false},
    {"/read-write", true, false},
    {"/read-only", true, false},
    {"/replica", false, false},
    {"/standby-leader", false, false},
    {"/sync", false, false},
    {"/async", false, false},
    {"/quorum", false, false},
    {"/health", true, false},
    {"/readiness", true, false},
    {"/liveness", true, true},
}};

}  // namespace

std::optional<HttpResponse> role_answer(std::string_view path, ServerRole role,
                                        std::string_view words) {
  const auto* const found = std::ranges::find(kRolePaths, path, &RolePath::path);
  if (found == kRolePaths.end()) return std::nullopt;
  const bool is_it = role == ServerRole::primary ? found->is_primary : found->is_warm_standby;
  constexpr unsigned kUnavailable = 503;
  return HttpResponse{.status = is_it ? 200 : kUnavailable, .body = std::string{words} + "\n"};
}

}  // namespace swizzle::server

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
  bool is_hot_standby;   ///< 200 of one that does
};

// A standby does not know whether commits wait for it.
constexpr std::array<RolePath, 13> kRolePaths{{
    {"/primary", true, false, false},
    {"/master", true, false, false},
    {"/leader", true, false, false},
    {"/read-write", true, false, false},
    {"/read-only", true, false, true},
    {"/replica", false, false, true},
    {"/standby-leader", false, false, false},
    {"/sync", false, false, false},
    {"/async", false, false, false},
    {"/quorum", false, false, false},
    {"/health", true, false, true},
    {"/readiness", true, false, true},
    {"/liveness", true, true, true},
}};

bool holds_for(const RolePath& path, ServerRole role) noexcept {
  switch (role) {
    case ServerRole::primary:
      return path.is_primary;
    case ServerRole::warm_standby:
      return path.is_warm_standby;
    case ServerRole::hot_standby:
      return path.is_hot_standby;
  }
  return false;
}

}  // namespace

std::optional<HttpResponse> role_answer(std::string_view path, ServerRole role,
                                        std::string_view words) {
  const auto* const found = std::ranges::find(kRolePaths, path, &RolePath::path);
  if (found == kRolePaths.end()) return std::nullopt;
  constexpr unsigned kUnavailable = 503;
  return HttpResponse{.status = holds_for(*found, role) ? 200 : kUnavailable,
                      .body = std::string{words} + "\n"};
}

}  // namespace swizzle::server

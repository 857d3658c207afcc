#include "server/observability/role_answers.h"

#include <algorithm>
#include <array>
#include <charconv>
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

/// Paths whose answer of a standby depends on its lag.
constexpr std::array<std::string_view, 3> kLagPaths{"/replica", "/read-only", "/readiness"};

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
  while (unit.starts_with(' ') || unit.starts_with('+')) unit.remove_prefix(1);
  constexpr std::array<std::string_view, 5> kUnits{"B", "kB", "MB", "GB", "TB"};
  const auto* const found = unit.empty() ? kUnits.begin() : std::ranges::find(kUnits, unit);
  if (found == kUnits.end()) return std::nullopt;
  for (auto power = found - kUnits.begin(); power > 0; --power) number *= 1024;
  constexpr double kMost = 9e18;
  return static_cast<std::uint64_t>(std::min(number, kMost));
}

/// Returns the value of a query's parameter; nothing if there is none.
std::optional<std::string_view> parameter_of(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == name)
      return part.substr(equals + 1);
  }
  return std::nullopt;
}

bool lags_too_much(std::string_view path, std::string_view query, const ServerPlace& place) {
  if (place.role == ServerRole::primary || std::ranges::find(kLagPaths, path) == kLagPaths.end())
    return false;
  const auto given = parameter_of(query, "lag");
  const auto most = given ? parse_bytes(*given) : std::nullopt;
  if (!most) return false;
  const bool is_about_writes = path == "/readiness" && parameter_of(query, "mode") == "write";
  return (is_about_writes ? place.write_lag_bytes : place.replay_lag_bytes) > *most;
}

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

std::optional<HttpResponse> role_answer(std::string_view target, const ServerPlace& place,
                                        std::string_view words) {
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = target.substr(std::min(target.size(), path.size() + 1));
  const auto* const found = std::ranges::find(kRolePaths, path, &RolePath::path);
  if (found == kRolePaths.end()) return std::nullopt;
  constexpr unsigned kUnavailable = 503;
  const bool holds = holds_for(*found, place.role) && !lags_too_much(path, query, place);
  return HttpResponse{.status = holds ? 200 : kUnavailable, .body = std::string{words} + "\n"};
}

}  // namespace swizzle::server

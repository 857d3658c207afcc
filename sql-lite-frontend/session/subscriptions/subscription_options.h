#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sql-lite-frontend/catalog/subscription.h"
#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// Options of CREATE and ALTER SUBSCRIPTION, with their defaults.
struct SubscriptionOptions {
  bool connect = true;
  bool enabled = true;
  bool create_slot = true;
  bool copy_data = true;
  bool refresh = true;
  bool disable_on_error = false;
  bool password_required = true;
  bool run_as_owner = false;
  bool binary = false;
  bool two_phase = false;
  Subscription::Streaming streaming = Subscription::Streaming::parallel;
  std::optional<std::string> slot_name;  ///< none: NONE, if it was given
  std::string synchronous_commit = "off";
  std::string origin = "any";
  Lsn lsn = Lsn::none;  ///< none: NONE

  std::set<std::string, std::less<>> given;
  [[nodiscard]] bool has(std::string_view name) const { return given.contains(name); }
};

/// Reads the options of the list, which may have those in `allowed`, separated by blanks. Throws
/// 42601, 22023, 42602, and 0A000 for a value that is not supported.
SubscriptionOptions subscription_options(Session::State& session, ast::NodeList list,
                                         std::string_view allowed);

}  // namespace swizzle::sql

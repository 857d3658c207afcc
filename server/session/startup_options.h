#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/protocol/startup.h"
#include "sql-lite-frontend/session.h"

namespace swizzle::server {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// Parses the settings in an `options` start-up parameter: "-c name=value" and "--name=value",
/// separated by blanks; a backslash quotes a blank. 42601 for anything else.
Result<NamedValues> parse_command_line_options(std::string_view text);

/// Returns the options of a StartupMessage without its protocol extensions. 28000 without a user.
Result<sql::SessionOptions> session_options(const StartupMessage& message);

/// True if the client is a standby: replication=true.
bool is_physical_replication(const StartupMessage& message) noexcept;

/// Returns the protocol extensions (_pq_.…) that the client requested; none is known.
std::vector<std::string_view> unknown_extensions(const StartupMessage& message);

}  // namespace swizzle::server

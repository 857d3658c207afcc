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

/// The settings in an `options` start-up parameter: "-c name=value", "--name=value", separated by
/// blanks, where a backslash keeps a blank in a value. 42601 for anything else.
Result<NamedValues> parse_command_line_options(std::string_view text);

/// Returns the options of a StartupMessage, except its protocol extensions. 28000 without a user.
Result<sql::SessionOptions> session_options(const StartupMessage& message);

/// True if the client is a server that follows: replication=true.
bool is_physical_replication(const StartupMessage& message) noexcept;

/// The extensions (_pq_.…) that the client asked for, of which we know none.
std::vector<std::string_view> unknown_extensions(const StartupMessage& message);

}  // namespace swizzle::server

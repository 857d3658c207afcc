#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "server/main/data_directory.h"

namespace swizzle::server {

struct InitOptions {
  /// The first superuser.
  std::string user;
  /// Without one there are no rules for TCP: only the same operating-system user may connect,
  /// through the unix socket.
  std::optional<std::string> password;
  /// Collation of the first databases; empty: by bytes.
  std::string icu_locale;
};

/// Makes a data directory. 58P02 if there is one already, or anything else in its place.
Result<> initialize(const DataDirectory& directory, const InitOptions& options);

}  // namespace swizzle::server

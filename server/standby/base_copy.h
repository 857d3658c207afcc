#pragma once

#include <string>

#include "base/result.h"
#include "server/main/data_directory.h"

namespace swizzle::server {

struct StandbyInit {
  std::string primary;  ///< a connection string of libpq
  std::string slot;     ///< made on the primary before the copy; empty: none
};

/// Makes the data directory of a standby: a copy of another server's, which goes on meanwhile.
/// Tells on standard error how far it is. What is left of a failed copy cannot be served.
Result<> copy_primary(const DataDirectory& directory, const StandbyInit& init);

}  // namespace swizzle::server

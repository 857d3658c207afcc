#pragma once

#include <string>

#include "base/result.h"
#include "server/main/data_directory.h"

namespace swizzle::server {

struct StandbyInit {
  std::string primary;  ///< a connection string of libpq
  std::string slot;     ///< created on the primary before the copy; empty: none
};

/// Makes the data directory of a standby: a copy of another server's, which continues to run.
/// Reports the progress on standard error. After a failure the remains of the copy cannot be
/// started.
Result<> copy_primary(const DataDirectory& directory, const StandbyInit& init);

}  // namespace swizzle::server

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

/// Makes a standby of the directory of a stopped server whose history has parted from that of
/// `source`, as an old primary's after a promotion. Copies pages that are not the same in both, and
/// the log; its settings stay. Reports the progress on standard error. Interrupted, it has to be
/// run again: until then the directory cannot be started.
Result<> rewind_to(const DataDirectory& directory, const std::string& source);

}  // namespace swizzle::server

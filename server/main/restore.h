#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "server/main/data_directory.h"
#include "storage/recovery/backup/restore_options.h"

namespace swizzle::server {

/// Request to restore on demand: `swizzled --restore-from`.
struct RestoreRequest {
  /// Backups of a server: a full one and the incremental ones after it, oldest first.
  std::vector<std::filesystem::path> backups;
  RestoreWords words;
};

/// Makes a data directory of which a server can be started at once; pages are read from the backups
/// while it runs. Settings, rules and secret are those of the newest backup. A directory that was
/// made of the same backups is left as it is, so that the same words start the server again. 55000
/// if the directory is another server's, or not empty.
Result<> begin_restore_of_server(const DataDirectory& directory, const RestoreRequest& request);

}  // namespace swizzle::server

#pragma once

#include <filesystem>
#include <vector>

#include "storage/recovery/backup/restore_options.h"

namespace swizzle::server {

/// Request to restore on demand: `swizzled --restore-from`.
struct RestoreRequest {
  /// Backups of a server: a full one and the incremental ones after it, oldest first.
  std::vector<std::filesystem::path> backups;
  RestoreWords words;
};

}  // namespace swizzle::server

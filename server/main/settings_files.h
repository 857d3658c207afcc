#pragma once

#include <vector>

#include "base/result.h"
#include "base/settings/settings.h"
#include "server/main/data_directory.h"
#include "server/main/server_settings.h"

namespace swizzle::server {

/// Reads the settings file with the files that it includes (`include`, `include_if_exists`), then
/// what ALTER SYSTEM has set. Later assignments count. F0000 for a mistake, with file and line.
Result<std::vector<SettingAssignment>> read_settings_files(const DataDirectory& directory);

/// Settings of a server: those of the files, and above them those of the command line.
struct SettingSources {
  std::vector<SettingAssignment> file;
  std::vector<SettingAssignment> command_line;
};
/// Applies them to a registry that has all settings.
Result<> apply_settings(Settings& settings, const SettingSources& sources);
/// Returns the settings that are needed before the database is open, and passes over the others.
Result<ServerSettings> early_settings(const SettingSources& sources);

}  // namespace swizzle::server

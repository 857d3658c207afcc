#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/main/data_directory.h"
#include "server/main/settings_files.h"

namespace swizzle::server {

// Commands on a data directory, whose server need not run; tools of PostgreSQL ask them.

/// Defines all settings of a server and of its sessions, and applies `sources`.
Result<> define_all_settings(Settings& settings, const DataDirectory& directory,
                             const SettingSources& sources);

/// Returns what pg_controldata prints of such a database, as far as there is the like here: lines
/// "name: value" with PostgreSQL's names.
Result<std::string> control_report(const DataDirectory& directory);

/// Recovers the database after a crash, and closes it in good order. 55006 if a server has it,
/// 55000 for a standby's.
Result<> recover_directory(const DataDirectory& directory,
                           const std::vector<SettingAssignment>& command_line);

/// Returns the value that a server would start with, in the setting's own unit. 42704.
Result<std::string> start_value(const DataDirectory& directory,
                                const std::vector<SettingAssignment>& command_line,
                                std::string_view name);

/// Returns a line for each setting: name, context, category, type, default and description, with
/// tabs between them.
std::string setting_list();

}  // namespace swizzle::server

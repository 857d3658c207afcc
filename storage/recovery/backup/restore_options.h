#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "storage/backup.h"

namespace swizzle {

/// Options of the programs that restore: where archived segments come from, and the target.
struct RestoreWords {
  std::string restore_command;
  std::filesystem::path archive_folder;
  RecoveryTarget target;
};

/// Registers --restore-command, --archive-folder and the options of the target, which are written
/// to `words`.
void add_restore_options(CLI::App& app, RestoreWords& words);
/// Refuses options that need another one. 22023.
Result<> check_restore_words(const RestoreWords& words);
/// Returns the archive that the options name, or none.
[[nodiscard]] RestoreArchive archive_of(const RestoreWords& words);
/// Describes where a restore stopped: the LSN as the programs' options and as SQL have it, the last
/// commit, the last restore point.
std::string describe_stop(const RestoreOutcome& made);

}  // namespace swizzle

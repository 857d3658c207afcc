#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "server/main/data_directory.h"
#include "storage/engine.h"

namespace swizzle::server {

/// Copies a running server's directory into `target`: the database as of the end of the copy,
/// settings, rules and secret. `swizzled -D target` starts from it. If `since` is not empty, it is
/// an earlier copy, and the new one has of the database only what changed since then, so that a
/// restore needs both. Returns a summary in one line; reports progress to `observer`. 42602 unless
/// the paths are absolute; 58P02 if `target` exists and is not empty.
Result<std::string> back_up_server(const DataDirectory& directory, Engine& engine,
                                   const std::filesystem::path& target,
                                   const std::filesystem::path& since,
                                   const RecoveryObserver& observer);

/// Copies settings, rules and secret from one data directory to another, the settings last: their
/// presence means that everything else is there.
Result<> copy_server_files(const DataDirectory& from, const DataDirectory& to);

/// Writes the same into `files`, with paths relative to the directory, for a base copy. The
/// settings file gets another name, because its presence means that all other files are there.
Result<> send_server(const DataDirectory& directory, Engine& engine, FileSystem& files,
                     const RecoveryObserver& observer);

}  // namespace swizzle::server

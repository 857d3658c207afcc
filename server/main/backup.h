#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "server/main/data_directory.h"
#include "storage/engine.h"

namespace swizzle::server {

/// Copies what belongs to a server into `target` while it runs: the database as it is when the
/// copying ends, and settings, rules and secret. `swizzled -D target` starts from it. Returns a
/// line about what was copied; tells `observer` how far it is. 42602 unless `target` is absolute;
/// 58P02 when it exists and is not empty.
Result<std::string> back_up_server(const DataDirectory& directory, Engine& engine,
                                   const std::filesystem::path& target,
                                   const RecoveryObserver& observer);

/// Writes the same into `files`, with paths relative to the directory, for a base copy: the
/// settings file under another name, since it says that all the rest is there.
Result<> send_server(const DataDirectory& directory, Engine& engine, FileSystem& files,
                     const RecoveryObserver& observer);

}  // namespace swizzle::server

#pragma once

#include <filesystem>
#include <string>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"

namespace swizzle {

/// Gives a database that was closed a new log behind the old one's LSNs, with a new id, and removes
/// the old one. It leaves out a segment behind `not_before`, where the archive ends, so that
/// followers of the old log stop there. Not safe against a crash: mark the directory unfinished
/// meanwhile. Returns where the log begins.
Result<Lsn> begin_new_log(FileSystem& files, const std::filesystem::path& directory,
                          const std::string& log_name, Lsn not_before);

}  // namespace swizzle

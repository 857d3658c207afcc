#pragma once

#include <filesystem>
#include <string>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

/// Gives a closed database a new log with a new id, whose LSNs follow the old one's, and removes
/// the old log. Skips the segment after `not_before`, the archive's end, so that followers of the
/// old log stop there. Not crash-safe: mark the directory unfinished meanwhile. Returns the new
/// log's begin.
Result<Lsn> begin_new_log(FileSystem& files, const std::filesystem::path& directory,
                          const std::string& log_name, Lsn not_before);

/// Gives a database whose log is lost or damaged a new one: `swizzle-backup new-log`. Only for a
/// database that was closed cleanly, which has everything in its pages; 55000 for any other. Keeps
/// the rest of the old log in "NAME-lost". After a crash it can be repeated. Returns the new log's
/// begin.
Result<Lsn> replace_lost_log(FileSystem& files, const std::filesystem::path& directory,
                             const std::string& log_name);
/// Returns the hint for the error of a log that cannot be opened.
[[nodiscard]] std::string way_on_without_log(const Control& control);

}  // namespace swizzle

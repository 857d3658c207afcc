#pragma once

#include <filesystem>
#include <string>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

/// Gives a database that was closed a new log behind the old one's LSNs, with a new id, and removes
/// the old one. It leaves out a segment behind `not_before`, where the archive ends, so that
/// followers of the old log stop there. Not safe against a crash: mark the directory unfinished
/// meanwhile. Returns where the log begins.
Result<Lsn> begin_new_log(FileSystem& files, const std::filesystem::path& directory,
                          const std::string& log_name, Lsn not_before);

/// Gives a database whose log is lost, or damaged, a new one: `swizzle-backup new-log`. Only of a
/// database that was closed in good order, which has everything in its pages; 55000 for any other.
/// What is left of the old log is kept beside, in "NAME-lost". Safe against a crash: it can be
/// repeated. Returns where the log begins.
Result<Lsn> replace_lost_log(FileSystem& files, const std::filesystem::path& directory,
                             const std::string& log_name);
/// For the error of a log that cannot be opened: what can be done about it.
[[nodiscard]] std::string way_on_without_log(const Control& control);

}  // namespace swizzle

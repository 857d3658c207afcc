#pragma once

namespace swizzle {

/// Exit status of `copy` and `restore` when they are done except for pages that cannot be read.
inline constexpr int kWithoutPagesExit = 3;

/// The program swizzle-backup: copies a database that is not open, restores a backup to a point in
/// time, checks a database, replaces a lost log. Returns the exit code: 0 for success, 1 for
/// failure, 2 for wrong arguments, kWithoutPagesExit.
int backup_main(int argc, const char* const* argv);

}  // namespace swizzle

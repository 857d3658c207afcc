#pragma once

namespace swizzle {

/// The program swizzle-backup: copies a database that is not open, restores a backup to a point in
/// time, checks a database. Returns the exit code: 0 for success, 1 for failure, 2 for wrong
/// arguments.
int backup_main(int argc, const char* const* argv);

}  // namespace swizzle

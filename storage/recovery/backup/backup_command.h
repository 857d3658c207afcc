#pragma once

namespace swizzle {

/// The program swizzle-backup: copies a database that nobody has open, restores a backup to a point
/// in time, checks a database. Returns the exit code: 0 when it is done, 1 when it could not be, 2
/// for wrong arguments.
int backup_main(int argc, const char* const* argv);

}  // namespace swizzle

#pragma once

#include <string>

#include "wal/log_options.h"

namespace swizzle::wal {

/// Returns an ArchiveSegment that runs a shell command. In the command %p means the segment's path,
/// %f its name, %% a percent sign. Exit code 0 means that it is archived durably. The command may
/// run again for the same segment after a crash.
ArchiveSegment archive_by_command(std::string command);

/// A RestoreSegment that runs a shell command: %f is the name of the wanted segment, %p the path to
/// put it at. Exit code 0 with a file there: found. Another exit code: the archive does not have
/// it. A command that cannot be started, or is ended by a signal, is an error.
RestoreSegment restore_by_command(std::string command);

}  // namespace swizzle::wal

#pragma once

#include <filesystem>

#include "base/io/file.h"

namespace swizzle {

/// Name of the file in a directory that a backup or a restore is still filling: while it exists,
/// nothing opens the directory.
inline constexpr const char* kUnfinishedName = "unfinished";

/// Name of the file that says what a rewind (storage/standby/rewind.h) keeps, in such a directory.
inline constexpr const char* kRewindName = "rewind";

/// Writes the file. Durable on return.
Result<> mark_unfinished(FileSystem& files, const std::filesystem::path& directory);
Result<> mark_finished(FileSystem& files, const std::filesystem::path& directory);
/// Returns 55000 while the file exists.
Result<> require_finished(FileSystem& files, const std::filesystem::path& directory);

}  // namespace swizzle

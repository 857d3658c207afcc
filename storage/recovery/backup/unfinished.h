#pragma once

#include <filesystem>

#include "base/io/file.h"

namespace swizzle {

/// Name of the file in a directory that a backup or a restore is still filling: while it exists,
/// nothing opens the directory.
inline constexpr const char* kUnfinishedName = "unfinished";

/// Writes the file. Durable on return.
Result<> mark_unfinished(FileSystem& files, const std::filesystem::path& directory);
Result<> mark_finished(FileSystem& files, const std::filesystem::path& directory);
/// Returns 55000 while the file exists.
Result<> require_finished(FileSystem& files, const std::filesystem::path& directory);

}  // namespace swizzle

#pragma once

#include <filesystem>

#include "base/io/file.h"

namespace swizzle {

/// The file "unfinished" of a directory that a backup or a restore is still filling: while it is
/// there, nothing opens the directory.
inline constexpr const char* kUnfinishedName = "unfinished";

/// Durable on return.
Result<> mark_unfinished(FileSystem& files, const std::filesystem::path& directory);
Result<> mark_finished(FileSystem& files, const std::filesystem::path& directory);
/// 55000 while it is marked.
Result<> require_finished(FileSystem& files, const std::filesystem::path& directory);

}  // namespace swizzle

#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/space/volume.h"

namespace swizzle {

/// Opens the control file. When both of its copies are lost, writes it anew if that is safe: if the
/// log goes back to the database's first record, so that everything follows from the log alone.
/// Otherwise returns XX001, which says from which LSN on the log would be needed and where it
/// begins.
Result<std::unique_ptr<ControlFile>> open_or_rebuild_control(
    FileSystem& files, const std::filesystem::path& directory, const Volume& volume,
    const std::filesystem::path& log_directory);

}  // namespace swizzle

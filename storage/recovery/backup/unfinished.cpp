#include "storage/recovery/backup/unfinished.h"

#include <fmt/format.h>

namespace swizzle {

Result<> mark_unfinished(FileSystem& files, const std::filesystem::path& directory) {
  RETURN_IF_ERROR(files.open(directory / kUnfinishedName, OpenMode::open_or_create, {}));
  return files.sync_directory(directory);
}

Result<> mark_finished(FileSystem& files, const std::filesystem::path& directory) {
  RETURN_IF_ERROR(files.remove(directory / kUnfinishedName));
  return files.sync_directory(directory);
}

Result<> require_finished(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const bool is_marked, files.exists(directory / kUnfinishedName));
  if (!is_marked) return {};
  ASSIGN_OR_RETURN(const bool is_rewound, files.exists(directory / kRewindName));
  if (is_rewound) {
    return fail(Error{
        sqlstate::object_not_in_prerequisite_state,
        fmt::format("a rewind of directory \"{}\" has begun and not finished", directory.native())}
                    .with_hint("Run \"swizzled rewind\" again."));
  }
  return fail(Error{sqlstate::object_not_in_prerequisite_state,
                    fmt::format("directory \"{}\" was being filled by a backup or a restore, which "
                                "did not finish",
                                directory.native())}
                  .with_hint("Remove the directory and begin again."));
}

}  // namespace swizzle

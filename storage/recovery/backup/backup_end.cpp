#include "storage/recovery/backup/backup_end.h"

#include <fmt/format.h>

#include <charconv>

namespace swizzle {

Result<> write_backup_end(FileSystem& files, const std::filesystem::path& directory, Lsn end) {
  ASSIGN_OR_RETURN(auto file, files.open(directory / kBackupEndName, OpenMode::create_new, {}));
  const std::string line = fmt::format("{}\n", raw(end));
  RETURN_IF_ERROR(file->write_at(0, as_bytes(line)));
  return file->sync();
}

Result<bool> is_backup(FileSystem& files, const std::filesystem::path& directory) {
  return files.exists(directory / kBackupEndName);
}

Result<> begin_as_database(FileSystem& files, const std::filesystem::path& directory,
                           ControlFile& control) {
  ASSIGN_OR_RETURN(const bool is_there, is_backup(files, directory));
  if (control.current().shutdown == Control::Shutdown::backup) {
    if (!is_there)
      return fail(Error{sqlstate::object_not_in_prerequisite_state,
                        fmt::format("directory \"{}\" is a backup, and its file \"{}\" is missing: "
                                    "the backup is not whole",
                                    directory.native(), kBackupEndName)}
                      .with_hint("Take another backup."));
    Control as_database = control.current();
    as_database.shutdown = Control::Shutdown::none;
    // Write both copies: when the file is gone, neither may say that this is a backup.
    RETURN_IF_ERROR(control.write(as_database));
    RETURN_IF_ERROR(control.write(as_database));
  }
  if (!is_there) return {};
  RETURN_IF_ERROR(files.remove(directory / kBackupEndName));
  return files.sync_directory(directory);
}

Result<Lsn> read_backup_end(FileSystem& files, const std::filesystem::path& directory) {
  const auto path = directory / kBackupEndName;
  const auto no_backup = [&path](std::string_view why) {
    return fail(
        sqlstate::object_not_in_prerequisite_state,
        fmt::format("file \"{}\" {}: the directory is no whole backup", path.native(), why));
  };
  ASSIGN_OR_RETURN(const bool exists, is_backup(files, directory));
  if (!exists) return no_backup("is missing");
  ASSIGN_OR_RETURN(auto file, files.open(path, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  constexpr std::uint64_t kLongest = 24;
  if (size == 0 || size > kLongest) return no_backup("is not as a backup leaves it");
  std::string text(static_cast<std::size_t>(size), '\0');
  RETURN_IF_ERROR(file->read_at(0, std::as_writable_bytes(std::span{text})));
  std::uint64_t end = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), end);
  if (error != std::errc{} || *stop != '\n') return no_backup("is not as a backup leaves it");
  return Lsn{end};
}

}  // namespace swizzle

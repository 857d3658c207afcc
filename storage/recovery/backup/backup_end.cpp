#include "storage/recovery/backup/backup_end.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace swizzle {

namespace {

/// Reads "NUMBER\n" or "WORD NUMBER…\n" from the text and removes it; false if it is not there.
class LabelReader {
 public:
  explicit LabelReader(std::string_view text) : rest_(text) {}
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take_number(std::uint64_t& into, int base) {
    const auto [stop, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), into, base);
    if (error != std::errc{}) return false;
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    return true;
  }
  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<BackupLabel> parse_label(std::string_view text) {
  LabelReader reader(text);
  BackupLabel label;
  std::uint64_t lsn = 0;
  if (!reader.take_number(lsn, 10) || !reader.take("\n")) return std::nullopt;
  label.end = Lsn{lsn};
  if (reader.is_at_end()) return label;
  if (!reader.take("id ") || !reader.take_number(label.id, 16) || !reader.take("\n"))
    return std::nullopt;
  if (reader.is_at_end()) return label;
  if (!reader.take("since ") || !reader.take_number(label.since_id, 16) || !reader.take(" ") ||
      !reader.take_number(lsn, 10) || !reader.take("\n") || !reader.is_at_end())
    return std::nullopt;
  label.since_begin = Lsn{lsn};
  return label;
}

}  // namespace

Result<> write_backup_label(FileSystem& files, const std::filesystem::path& directory,
                            const BackupLabel& label) {
  ASSIGN_OR_RETURN(auto file, files.open(directory / kBackupEndName, OpenMode::create_new, {}));
  std::string text = fmt::format("{}\nid {:016x}\n", raw(label.end), label.id);
  if (label.is_incremental())
    text += fmt::format("since {:016x} {}\n", label.since_id, raw(label.since_begin));
  RETURN_IF_ERROR(file->write_at(0, as_bytes(text)));
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

Result<BackupLabel> read_backup_label(FileSystem& files, const std::filesystem::path& directory) {
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
  constexpr std::uint64_t kLongest = 128;
  if (size == 0 || size > kLongest) return no_backup("is not as a backup leaves it");
  std::string text(static_cast<std::size_t>(size), '\0');
  RETURN_IF_ERROR(file->read_at(0, std::as_writable_bytes(std::span{text})));
  const auto label = parse_label(text);
  if (!label) return no_backup("is not as a backup leaves it");
  return *label;
}

Result<> require_all_pages(FileSystem& files, const std::filesystem::path& directory) {
  ASSIGN_OR_RETURN(const bool is_there, is_backup(files, directory));
  if (!is_there) return {};
  ASSIGN_OR_RETURN(const BackupLabel label, read_backup_label(files, directory));
  if (!label.is_incremental()) return {};
  return fail(Error{sqlstate::object_not_in_prerequisite_state,
                    fmt::format("\"{}\" is an incremental backup, which has only some of the pages",
                                directory.native())}
                  .with_hint("Restore it with the backups before it: \"swizzle-backup restore FULL "
                             "INCREMENTAL... DATABASE\"."));
}

}  // namespace swizzle

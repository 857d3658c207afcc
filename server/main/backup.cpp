#include "server/main/backup.h"

#include <fmt/format.h>

#include "server/main/text_file.h"
#include "storage/logical/logical_log.h"

namespace swizzle::server {
namespace {

constexpr SqlState kInvalidName{"42602"};

Result<> copy_text_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  ASSIGN_OR_RETURN(const std::string text, read_text_file(from.string()));
  return write_text_file(to.string(), text);
}

Result<> send_text_file(const std::filesystem::path& from, FileSystem& files,
                        const std::filesystem::path& to) {
  ASSIGN_OR_RETURN(const std::string text, read_text_file(from.string()));
  ASSIGN_OR_RETURN(const auto file, files.open(to.filename(), OpenMode::create_new, {}));
  RETURN_IF_ERROR(file->write_at(0, as_bytes(text)));
  return file->sync();
}

}  // namespace

Result<> copy_server_files(const DataDirectory& from, const DataDirectory& to) {
  RETURN_IF_ERROR(copy_text_file(from.secret_file(), to.secret_file()));
  RETURN_IF_ERROR(copy_text_file(from.rules_file(), to.rules_file()));
  if (std::filesystem::exists(from.altered_file()))
    RETURN_IF_ERROR(copy_text_file(from.altered_file(), to.altered_file()));
  return copy_text_file(from.settings_file(), to.settings_file());
}

Result<> send_server(const DataDirectory& directory, Engine& engine, FileSystem& files,
                     const RecoveryObserver& observer) {
  ASSIGN_OR_RETURN(const BackupOutcome made, engine.logical_log().copy_database(
                                                 files, directory.engine().filename(), observer));
  if (!made.given_up.empty()) {
    return fail(sqlstate::data_corrupted,
                fmt::format("{} pages cannot be read, so the copy would lack them; the first: {}",
                            made.given_up.size(), made.given_up.front()));
  }
  for (const auto& file :
       {directory.secret_file(), directory.rules_file(), directory.altered_file()}) {
    if (std::filesystem::exists(file)) RETURN_IF_ERROR(send_text_file(file, files, file));
  }
  return send_text_file(directory.settings_file(), files, directory.copied_settings_file());
}

Result<std::string> back_up_server(const DataDirectory& directory, Engine& engine,
                                   const std::filesystem::path& target,
                                   const std::filesystem::path& since,
                                   const RecoveryObserver& observer) {
  const auto require_absolute = [](const std::filesystem::path& path) -> Result<> {
    if (path.is_absolute()) return {};
    return fail(kInvalidName,
                fmt::format("backup directory \"{}\" is not an absolute path", path.string()));
  };
  RETURN_IF_ERROR(require_absolute(target));
  if (!since.empty()) RETURN_IF_ERROR(require_absolute(since));
  const DataDirectory copy{target};
  RETURN_IF_ERROR(make_private_directory(target));
  ASSIGN_OR_RETURN(const BackupOutcome made,
                   since.empty() ? engine.back_up(copy.engine(), observer)
                                 : engine.back_up_changes(DataDirectory{since}.engine(),
                                                          copy.engine(), observer));
  RETURN_IF_ERROR(copy_server_files(directory, copy));
  std::string said = fmt::format("{} {}pages, consistent from LSN {} on", made.pages,
                                 since.empty() ? "" : "changed ", raw(made.end));
  if (!made.given_up.empty())
    said +=
        fmt::format("; {} pages cannot be read and are in the backup as they are, the first: {}",
                    made.given_up.size(), made.given_up.front());
  return said;
}

}  // namespace swizzle::server

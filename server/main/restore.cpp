#include "server/main/restore.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "base/io/posix_file_system.h"
#include "base/runtime/runtime.h"
#include "server/main/backup.h"
#include "storage/recovery/backup/recovery_stop.h"
#include "storage/restore.h"

namespace swizzle::server {
namespace {

using Directories = std::vector<std::filesystem::path>;

Directories engines_of(const Directories& backups) {
  Directories engines;
  for (const std::filesystem::path& path : backups) engines.push_back(DataDirectory{path}.engine());
  return engines;
}

Result<> require_backups(const Directories& backups) {
  for (const std::filesystem::path& path : backups)
    if (!DataDirectory{path}.is_initialized())
      return fail(sqlstate::object_not_in_prerequisite_state,
                  fmt::format("\"{}\" is no whole backup of a server", path.native()));
  return {};
}

Result<> refuse_directory(const DataDirectory& directory) {
  return fail(Error{sqlstate::object_not_in_prerequisite_state,
                    fmt::format("directory \"{}\" is not empty, and was not restored from these "
                                "backups",
                                directory.path().native())}
                  .with_hint("Name a directory that does not exist, or start without "
                             "--restore-from."));
}

/// Makes the directory, or takes one that is empty or that an interrupted call has begun to fill.
Result<> make_directory(const DataDirectory& directory) {
  std::error_code error;
  if (!std::filesystem::exists(directory.path(), error))
    return make_private_directory(directory.path());
  for (const auto& entry : std::filesystem::directory_iterator{directory.path(), error}) {
    const auto& name = entry.path();
    if (name != directory.engine() && name != directory.pid_file() &&
        name != directory.secret_file() && name != directory.rules_file() &&
        name != directory.altered_file() && name.extension() != ".new")
      return refuse_directory(directory);
  }
  std::filesystem::permissions(directory.path(), std::filesystem::perms::owner_all, error);
  if (!error) return {};
  return fail(sqlstate::io_error, fmt::format("could not take over directory \"{}\": {}",
                                              directory.path().native(), error.message()));
}

/// Makes what is not there yet of the directory's content.
Result<> fill_directory(FileSystem& files, const DataDirectory& directory,
                        const Directories& engines, const RestoreRequest& request) {
  const TimePoint begin = Runtime::current().now();
  ASSIGN_OR_RETURN(const auto lock, PidFile::take(directory, RunningServer{::getpid(), "", ""}));
  ASSIGN_OR_RETURN(const bool is_there, is_restored_from(files, directory.engine(), engines));
  if (!is_there) {
    ASSIGN_OR_RETURN(const RestoreOutcome made,
                     begin_restore(files, engines, directory.engine(), archive_of(request.words),
                                   request.words.target));
    const std::chrono::duration<double> took = Runtime::current().now() - begin;
    spdlog::info("restoring on demand up to {}; the log goes on at {}; prepared in {:.2f} s",
                 describe_stop(made), raw(made.begins_again), took.count());
    if (!has_target(request.words.target))
      spdlog::info("there is no log behind that in {}: what was committed later is not restored",
                   request.words.restore_command.empty() ? "the backup" : "backup and archive");
  }
  return copy_server_files(DataDirectory{request.backups.back()}, directory);
}

}  // namespace

Result<> begin_restore_of_server(const DataDirectory& directory, const RestoreRequest& request) {
  RETURN_IF_ERROR(check_restore_words(request.words));
  PosixFileSystem files;
  const Directories engines = engines_of(request.backups);
  if (directory.is_initialized()) {
    ASSIGN_OR_RETURN(const bool is_ours, is_restored_from(files, directory.engine(), engines));
    if (!is_ours) return refuse_directory(directory);
    spdlog::info("the restore goes on that was begun in \"{}\"", directory.path().native());
    return {};
  }
  RETURN_IF_ERROR(require_backups(request.backups));
  RETURN_IF_ERROR(make_directory(directory));
  auto filled = fill_directory(files, directory, engines, request);
  std::error_code ignored;  // ignored, since the outcome tells more
  // An empty one; what a crash has left of it stays for the next call.
  if (!filled) std::filesystem::remove(directory.path(), ignored);
  return filled;
}

}  // namespace swizzle::server

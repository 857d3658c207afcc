#include "server/main/restore.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <system_error>
#include <thread>
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

std::unexpected<Error> refuse_directory(const DataDirectory& directory) {
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

}  // namespace

Result<std::unique_ptr<ServerRestore>> ServerRestore::begin(const DataDirectory& directory,
                                                            const RestoreRequest& request) {
  RETURN_IF_ERROR(check_restore_words(request.words));
  PosixFileSystem files;
  const bool is_prepared = directory.is_initialized();
  if (is_prepared) {
    ASSIGN_OR_RETURN(const bool is_ours,
                     is_restored_from(files, directory.engine(), engines_of(request.backups)));
    if (!is_ours) return refuse_directory(directory);
    RETURN_IF_ERROR(directory.check_usable());
    spdlog::info("the restore goes on that was begun in \"{}\"", directory.path().native());
  } else {
    RETURN_IF_ERROR(require_backups(request.backups));
    RETURN_IF_ERROR(make_directory(directory));
  }
  std::unique_ptr<ServerRestore> restore{new ServerRestore{directory, request}};
  restore->is_prepared_ = is_prepared;
  return restore;
}

ServerRestore::~ServerRestore() {
  std::error_code ignored;
  // A directory that a crash has left half filled stays for the next call.
  if (!is_prepared_) std::filesystem::remove(directory_.path(), ignored);
}

DataDirectory ServerRestore::settings_directory() const {
  if (is_prepared_) return directory_;
  const DataDirectory backup{request_.backups.back()};
  const bool has_own = directory_.config_file() != directory_.settings_file();
  return DataDirectory{backup.path(), has_own ? directory_.config_file() : backup.config_file()};
}

Result<ServerRestore::End> ServerRestore::prepare(boost::asio::io_context& events,
                                                  ProcessSignals& signals) {
  Result<> filled;
  signals.read(
      {.reload = [] { spdlog::info("settings and rules are read when the restore is prepared"); },
       .promote = [] { spdlog::info("asked to promote a server that is no standby"); },
       .stop = [this](StopMode) { is_cancelled_.store(true, std::memory_order_relaxed); }});
  std::thread worker{[&] {
    filled = fill_directory();
    boost::asio::post(events, [&events] { events.stop(); });
  }};
  events.run();
  worker.join();
  signals.end();
  if (is_cancelled_.load(std::memory_order_relaxed)) return End::stopped;
  RETURN_IF_ERROR(std::move(filled));
  return End::prepared;
}

/// By the thread that prepares.
Result<> ServerRestore::fill_directory() {
  PosixFileSystem files;
  const Directories engines = engines_of(request_.backups);
  ASSIGN_OR_RETURN(const bool is_there, is_restored_from(files, directory_.engine(), engines));
  if (!is_there) RETURN_IF_ERROR(make_lists(engines));
  RETURN_IF_ERROR(copy_server_files(DataDirectory{request_.backups.back()}, directory_));
  is_prepared_ = true;
  return {};
}

Result<> ServerRestore::make_lists(const Directories& engines) {
  const RestoreWords& words = request_.words;
  const RestoreArchive archive = archive_of(words);
  const std::string_view sources = archive.is_none() ? "the backup" : "backup and archive";
  spdlog::info("preparing the restore: the log of {} is looked at, up to its target", sources);
  PosixFileSystem files;
  const TimePoint begin = Runtime::current().now();
  const auto goes_on = [this] { return !is_cancelled_.load(std::memory_order_relaxed); };
  ASSIGN_OR_RETURN(const RestoreOutcome made, begin_restore(files, engines, directory_.engine(),
                                                            archive, words.target, goes_on));
  const std::chrono::duration<double> took = Runtime::current().now() - begin;
  spdlog::info(
      "restoring on demand up to {}; the log goes on at {}; prepared in {:.2f} s, in which {:.1f} "
      "MB of log were read",
      describe_stop(made), raw(made.begins_again), took.count(),
      static_cast<double>(made.log_bytes_read) / (1U << 20U));
  if (!has_target(words.target))
    spdlog::info("there is no log behind that in {}: what was committed later is not restored",
                 sources);
  return {};
}

}  // namespace swizzle::server

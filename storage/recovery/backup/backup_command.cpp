#include "storage/recovery/backup/backup_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/io/posix_file_system.h"
#include "base/programs/program_words.h"
#include "storage/engine.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/recovery_stop.h"
#include "storage/recovery/backup/restore_options.h"
#include "storage/recovery/new_log.h"

namespace swizzle {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::string since;
  RestoreWords restore;
};

EngineOptions options() {
  EngineOptions made;
  made.pool_bytes = std::uint64_t{256} << 20U;
  return made;
}

/// Returns the exit code of a task that is done except for unreadable pages, and prints these. The
/// result is usable, but a script that looks only at the exit code must notice.
int code_for(const std::vector<std::string>& given_up, std::string_view done) {
  if (given_up.empty()) return 0;
  for (const std::string& why : given_up) fmt::print(stderr, "{}\n", why);
  fmt::print(stderr,
             "swizzle-backup: {}, but {} pages in it cannot be read\n"
             "Reading their rows is an error (XX001); everything else is whole. \"swizzle-backup "
             "check\" names their trees.\n",
             done, given_up.size());
  return kWithoutPagesExit;
}

Result<int> copy(const Arguments& arguments) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const bool from_backup, is_backup(files, arguments.paths[0]));
  if (from_backup) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("\"{}\" is a backup, not a database", arguments.paths[0])}
                    .with_hint("Copy its files, or restore it."));
  }
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, arguments.paths[0], options()));
  ASSIGN_OR_RETURN(const BackupOutcome made,
                   arguments.since.empty()
                       ? engine->back_up(arguments.paths[1])
                       : engine->back_up_changes(arguments.since, arguments.paths[1]));
  RETURN_IF_ERROR(engine->close());
  fmt::print("{} pages, log from {} to {}\n", made.pages, raw(made.begin), raw(made.end));
  return code_for(made.given_up, "the backup is made");
}

Result<int> restore(const Arguments& arguments) {
  PosixFileSystem files;
  if (arguments.paths.size() < 2)
    return fail(sqlstate::invalid_parameter_value, "a backup and a database must be named");
  const std::vector<std::filesystem::path> backups(arguments.paths.begin(),
                                                   arguments.paths.end() - 1);
  const RecoveryTarget& target = arguments.restore.target;
  RETURN_IF_ERROR(check_restore_words(arguments.restore));
  const RestoreArchive archive = archive_of(arguments.restore);
  ASSIGN_OR_RETURN(const RestoreOutcome made,
                   restore_backup(files, backups, arguments.paths.back(), archive, target));
  fmt::print("restored up to {}; the log goes on at {}\n", describe_stop(made),
             raw(made.begins_again));
  if (!has_target(target))
    fmt::print("there is no log behind that in {}: what was committed later is not restored\n",
               archive.is_none() ? "the backup" : "backup and archive");
  return code_for(made.given_up, "the database is restored");
}

Result<> check_database(FileSystem& files, const std::filesystem::path& database) {
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, database, options()));
  ASSIGN_OR_RETURN(const auto violations, engine->verify());
  for (const std::string& violation : violations) fmt::print("{}\n", violation);
  RETURN_IF_ERROR(engine->close());
  if (violations.empty()) return {};
  return fail(sqlstate::data_corrupted, fmt::format("{} violations", violations.size()));
}

/// Checks a copy restored from the backup. The backup itself must not change, and recovering it in
/// place would write to it.
Result<> check_backup(FileSystem& files, const std::vector<std::filesystem::path>& backups) {
  std::filesystem::path restored = backups.back();
  restored += ".check";
  if (std::filesystem::exists(restored)) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("directory \"{}\" exists already", restored.native())}
                    .with_hint("A check that was interrupted leaves it behind: remove it."));
  }
  Result<> outcome = [&]() -> Result<> {
    RETURN_IF_ERROR(restore_backup(files, backups, restored, {}, {}));
    return check_database(files, restored);
  }();
  std::error_code ignored;  // ignored, since the outcome tells more
  std::filesystem::remove_all(restored, ignored);
  return outcome;
}

Result<int> check(const Arguments& arguments) {
  PosixFileSystem files;
  const std::vector<std::filesystem::path> directories(arguments.paths.begin(),
                                                       arguments.paths.end());
  ASSIGN_OR_RETURN(const bool of_backup, is_backup(files, directories.front()));
  if (!of_backup && directories.size() > 1)
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("\"{}\" is no backup", directories.front().native()));
  RETURN_IF_ERROR(of_backup ? check_backup(files, directories)
                            : check_database(files, directories.front()));
  return 0;
}

Result<int> new_log(const Arguments& arguments) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const Lsn begin, replace_lost_log(files, arguments.paths[0], "log"));
  fmt::print("the database has a new log from LSN {} on; the old one is in \"log-lost\"\n",
             raw(begin));
  return 0;
}

}  // namespace

int backup_main(int argc, const char* const* argv) {
  using Run = Result<int> (*)(const Arguments&);
  CLI::App app{"swizzle-backup copies a database's files, and makes a database of such a copy.",
               "swizzle-backup"};
  app.require_subcommand(1);
  Arguments arguments;
  Run run = nullptr;
  const auto command = [&](const char* name, const char* description, Run does,
                           std::initializer_list<const char*> paths) {
    CLI::App* const made = app.add_subcommand(name, description);
    made->callback([&run, does] { run = does; });
    for (const char* const path : paths) {
      made->add_option_function<std::string>(
              path,
              // A path without a directory has no parent to sync.
              [&arguments](const std::string& word) {
                arguments.paths.push_back(std::filesystem::absolute(word).string());
              })
          ->required();
    }
    return made;
  };
  command("copy", "copies a database that no server has open; one that is open its server copies",
          copy, {"DATABASE", "BACKUP"})
      ->add_option_function<std::string>(
          "--since",
          [&arguments](const std::string& word) {
            arguments.since = std::filesystem::absolute(word).string();
          },
          "copies only pages that were changed since the backup EARLIER, which a restore needs, "
          "too")
      ->type_name("EARLIER");
  const auto take_many = [&arguments](CLI::App& made, const char* name) {
    made.add_option_function<std::vector<std::string>>(
            name,
            [&arguments](const std::vector<std::string>& words) {
              for (const std::string& word : words)
                arguments.paths.push_back(std::filesystem::absolute(word).string());
            })
        ->required();
  };
  CLI::App* const restoring = command(
      "restore",
      "makes a database that does not exist yet, the last path, of a backup and the incremental "
      "ones after it, oldest first",
      restore, {});
  take_many(*restoring, "DIRECTORIES");
  add_restore_options(*restoring, arguments.restore);
  take_many(*command("check",
                     "recovers the database and checks every page of every tree; of a backup, and "
                     "the incremental ones after it, what would be restored: into DATABASE.check, "
                     "which is removed again",
                     check, {}),
            "DIRECTORIES");
  command("new-log",
          "gives a database that was closed in good order, and whose log is lost, a new one",
          new_log, {"DATABASE"});
  if (const auto exit_code = read_program_words(app, argc, argv)) return *exit_code;

  const auto done = run(arguments);
  if (done) return *done;
  fmt::print(stderr, "swizzle-backup: {}\n", done.error().message());
  if (!done.error().detail().empty()) fmt::print(stderr, "{}\n", done.error().detail());
  if (!done.error().hint().empty()) fmt::print(stderr, "{}\n", done.error().hint());
  return 1;
}

}  // namespace swizzle

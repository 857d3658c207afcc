#include "storage/recovery/backup/backup_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/io/posix_file_system.h"
#include "base/programs/program_words.h"
#include "storage/engine.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/recovery_stop.h"
#include "storage/recovery/new_log.h"
#include "storage/recovery/records/restore_point_record.h"
#include "wal/archive_command.h"

namespace swizzle {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::string restore_command;
  std::string since;
  RecoveryTarget target;
};

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Parses a decimal number, as the programs print LSNs, or the form in which SQL shows them.
std::optional<Lsn> parse_lsn(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    const auto number = parse_number(text, 10);
    return number ? std::optional{Lsn{*number}} : std::nullopt;
  }
  const auto high = parse_number(text.substr(0, slash), 16);
  const auto low = parse_number(text.substr(slash + 1), 16);
  if (!high || !low || *high > UINT32_MAX || *low > UINT32_MAX) return std::nullopt;
  return Lsn{*high << 32U | *low};
}

/// Parses a time in the form in which now() shows it in time zone UTC, with or without "+00".
std::optional<std::int64_t> parse_time(std::string text) {
  constexpr std::int64_t kMicros = 1'000'000;
  if (text.ends_with("+00")) text.resize(text.size() - 3);
  std::tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  std::int64_t micros = 0;
  if (*rest == '.') {
    std::string digits{rest + 1};
    if (digits.empty() || digits.size() > 6) return std::nullopt;
    digits.resize(6, '0');
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), micros);
    if (error != std::errc{} || end != digits.data() + digits.size() || micros < 0)
      return std::nullopt;
  } else if (*rest != '\0') {
    return std::nullopt;
  }
  return std::int64_t{timegm(&parts)} * kMicros + micros;
}

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

/// Describes where a restore stopped: the LSN as the program's options and as SQL have it.
std::string stop_of(const RestoreOutcome& made) {
  std::string text = fmt::format("LSN {} ({:X}/{:X})", raw(made.end), raw(made.end) >> 32U,
                                 raw(made.end) & UINT32_MAX);
  if (made.last_commit_us) {
    constexpr std::int64_t kMicros = 1'000'000;
    text += fmt::format(", the last commit of {:%Y-%m-%d %H:%M:%S}.{:06} UTC by transaction {}",
                        fmt::gmtime(static_cast<std::time_t>(*made.last_commit_us / kMicros)),
                        *made.last_commit_us % kMicros, raw(made.last_commit));
  } else {
    text += ", with no commit in that log";
  }
  if (made.restore_point) text += fmt::format(", restore point \"{}\"", *made.restore_point);
  return text;
}

Result<int> restore(const Arguments& arguments) {
  PosixFileSystem files;
  if (arguments.paths.size() < 2)
    return fail(sqlstate::invalid_parameter_value, "a backup and a database must be named");
  const std::vector<std::filesystem::path> backups(arguments.paths.begin(),
                                                   arguments.paths.end() - 1);
  if (arguments.target.bound == RecoveryTarget::Bound::exclusive && !has_target(arguments.target))
    return fail(sqlstate::invalid_parameter_value, "--target-exclusive needs a target");
  wal::RestoreSegment archive;
  if (!arguments.restore_command.empty())
    archive = wal::restore_by_command(arguments.restore_command);
  ASSIGN_OR_RETURN(const RestoreOutcome made, restore_backup(files, backups, arguments.paths.back(),
                                                             archive, arguments.target));
  fmt::print("restored up to {}; the log goes on at {}\n", stop_of(made), raw(made.begins_again));
  if (!has_target(arguments.target))
    fmt::print("there is no log behind that in {}: what was committed later is not restored\n",
               archive ? "backup and archive" : "the backup");
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

void add_restore_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--restore-command", arguments.restore_command,
                 "fetches the archived log segment %f to the path %p")
      ->type_name("COMMAND");
  RecoveryTarget& target = arguments.target;
  const auto add = [&app](const char* name, const char* type, const char* description, auto read) {
    app.add_option_function<std::string>(
           name,
           [read, name](const std::string& word) {
             if (!read(word))
               throw CLI::ValidationError{fmt::format("{}: \"{}\" is not valid", name, word)};
           },
           description)
        ->type_name(type);
  };
  add("--target-lsn", "LSN", "stop behind the first record at or behind LSN, a number or X/Y",
      [&target](const std::string& word) {
        target.lsn = parse_lsn(word);
        return target.lsn.has_value();
      });
  add("--target-time", "TIME",
      "stop before the first commit that is younger, \"YYYY-MM-DD hh:mm:ss[.uuuuuu]\" in UTC",
      [&target](const std::string& word) {
        target.time_us = parse_time(word);
        return target.time_us.has_value();
      });
  add("--target-name", "NAME", "stop behind the restore point NAME: pg_create_restore_point()",
      [&target](const std::string& word) {
        target.restore_point = word;
        return word.size() <= payload::kMostRestorePointBytes;
      });
  add("--target-xid", "XID",
      "stop behind the end of the transaction XID, as backend_xid and the server's log have it",
      [&target](const std::string& word) {
        const auto number = parse_number(word, 10);
        if (number) target.transaction = TxnId{*number};
        return number.has_value() && *number != 0;
      });
  app.add_flag_function(
      "--target-exclusive",
      [&target](std::int64_t) { target.bound = RecoveryTarget::Bound::exclusive; },
      "stop before the target's own record");
  // A second target would make the first one void.
  constexpr std::array kTargets{"--target-lsn", "--target-time", "--target-name", "--target-xid"};
  for (const char* const one : kTargets) {
    for (const char* const other : kTargets) {
      if (one != other) app.get_option(one)->excludes(app.get_option(other));
    }
  }
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
  add_restore_options(*restoring, arguments);
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

#include "storage/recovery/backup_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/command_line.h"
#include "base/posix_file_system.h"
#include "storage/engine.h"
#include "storage/recovery/backup_end.h"
#include "wal/archive_command.h"

namespace swizzle {
namespace {

constexpr const char* kUsage =
    "swizzle-backup copies a database's files, and makes a database of such a copy.\n\n"
    "usage: swizzle-backup copy DATABASE BACKUP\n"
    "       swizzle-backup restore [option ...] BACKUP DATABASE\n"
    "       swizzle-backup check DATABASE\n"
    "copy: copies a database that no server has open; one that is open its server copies.\n"
    "restore: makes a database that does not exist yet out of a backup.\n"
    "  --restore-command COMMAND  fetches the archived log segment %f to the path %p\n"
    "  --to-lsn LSN               stop before the first record at or behind LSN\n"
    "  --to-time TIME             stop before the first commit that is younger than TIME,\n"
    "                             \"YYYY-MM-DD hh:mm:ss[.uuuuuu]\" in UTC\n"
    "check: recovers the database and checks every page of every tree. Of a backup it checks what\n"
    "  would be restored: it restores it into BACKUP.check and removes that again.\n";

struct Arguments {
  std::vector<std::string> paths;
  std::string restore_command;
  RecoveryTarget target;
};

/// As now() shows it where the time zone is UTC, with or without "+00".
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

// The first word is the command's name.
Result<Arguments> parse(int argc, const char* const* argv) {
  CommandLine line(argc, argv, {});
  Arguments arguments;
  arguments.paths = line.positional();
  // The first word is the command. A path without a folder in front has no parent to make durable.
  for (std::size_t i = 1; i < arguments.paths.size(); ++i) {
    arguments.paths[i] = std::filesystem::absolute(arguments.paths[i]).string();
  }
  arguments.restore_command = line.text("restore-command", "");
  const std::uint64_t lsn = line.number("to-lsn", 0);
  if (lsn != 0) arguments.target.lsn = Lsn{lsn};
  const std::string time = line.text("to-time", "");
  arguments.target.time_us = parse_time(time);
  if (!time.empty() && !arguments.target.time_us)
    return fail(sqlstate::invalid_parameter_value, fmt::format("\"{}\" is no time", time));
  RETURN_IF_ERROR(line.finish());
  return arguments;
}

EngineOptions options() {
  EngineOptions made;
  made.pool_bytes = std::uint64_t{256} << 20U;
  return made;
}

Result<> copy(const Arguments& arguments) {
  PosixFileSystem files;
  ASSIGN_OR_RETURN(const bool from_backup, is_backup(files, arguments.paths[0]));
  if (from_backup) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("\"{}\" is a backup, not a database", arguments.paths[0])}
                    .with_hint("Copy its files, or restore it."));
  }
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, arguments.paths[0], options()));
  ASSIGN_OR_RETURN(const BackupOutcome made, engine->back_up(arguments.paths[1]));
  RETURN_IF_ERROR(engine->close());
  fmt::print("{} pages, log from {} to {}\n", made.pages, raw(made.begin), raw(made.end));
  return {};
}

Result<> restore(const Arguments& arguments) {
  PosixFileSystem files;
  wal::RestoreSegment archive;
  if (!arguments.restore_command.empty())
    archive = wal::restore_by_command(arguments.restore_command);
  ASSIGN_OR_RETURN(
      const RestoreOutcome made,
      restore_backup(files, arguments.paths[0], arguments.paths[1], archive, arguments.target));
  fmt::print("restored up to LSN {}; the log goes on at {}\n", raw(made.end),
             raw(made.begins_again));
  return {};
}

Result<> check_database(FileSystem& files, const std::filesystem::path& database) {
  ASSIGN_OR_RETURN(const auto engine, Engine::open(files, database, options()));
  ASSIGN_OR_RETURN(const auto violations, engine->verify());
  for (const std::string& violation : violations) fmt::print("{}\n", violation);
  RETURN_IF_ERROR(engine->close());
  if (violations.empty()) return {};
  return fail(sqlstate::data_corrupted, fmt::format("{} violations", violations.size()));
}

/// What is restored from it. The backup itself has to stay as it is: recovering it where it lies
/// would write into it.
Result<> check_backup(FileSystem& files, const std::filesystem::path& backup) {
  std::filesystem::path restored = backup;
  restored += ".check";
  if (std::filesystem::exists(restored)) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("directory \"{}\" exists already", restored.native())}
                    .with_hint("A check that was interrupted leaves it behind: remove it."));
  }
  Result<> outcome = [&]() -> Result<> {
    RETURN_IF_ERROR(restore_backup(files, backup, restored, {}, {}));
    return check_database(files, restored);
  }();
  std::error_code ignored;  // the outcome says more
  std::filesystem::remove_all(restored, ignored);
  return outcome;
}

Result<> check(const Arguments& arguments) {
  PosixFileSystem files;
  const std::filesystem::path directory = arguments.paths[0];
  ASSIGN_OR_RETURN(const bool of_backup, is_backup(files, directory));
  return of_backup ? check_backup(files, directory) : check_database(files, directory);
}

}  // namespace

int backup_main(int argc, const char* const* argv) {
  struct Command {
    std::string_view name;
    std::size_t paths;
    Result<> (*run)(const Arguments&);
  };
  constexpr Command kCommands[] = {{"copy", 2, copy}, {"restore", 2, restore}, {"check", 1, check}};
  if (argc == 2 && std::string_view{argv[1]} == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  auto arguments = parse(argc, argv);
  if (!arguments) fmt::print(stderr, "swizzle-backup: {}\n", arguments.error().message());
  for (const Command& command : kCommands) {
    if (!arguments || arguments->paths.size() != command.paths + 1 ||
        command.name != arguments->paths.front())
      continue;
    arguments->paths.erase(arguments->paths.begin());
    const auto done = command.run(*arguments);
    if (done) return 0;
    fmt::print(stderr, "swizzle-backup: {}\n", done.error().message());
    if (!done.error().detail().empty()) fmt::print(stderr, "{}\n", done.error().detail());
    if (!done.error().hint().empty()) fmt::print(stderr, "{}\n", done.error().hint());
    return 1;
  }
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace swizzle

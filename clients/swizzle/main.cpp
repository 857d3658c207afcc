// swizzle: a small client of ours. `swizzle help` says what it does.

#include <iostream>
#include <map>
#include <string_view>

#include "clients/swizzle/commands.h"

namespace swizzle::clients {
namespace {

constexpr int kUsageExit = 2;

constexpr std::string_view kHelp =
    R"(swizzle runs SQL, loads files, and looks after a server. For a shell, take psql.

  swizzle [-c CONNECTION] sql [SCRIPT ...]
      runs each script as one implicit transaction and prints the last statement's result;
      without one it reads standard input.
  swizzle [-c CONNECTION] load [--header] [--delimiter C] TABLE FILE
      loads a CSV file into a table and shows how far it is.
  swizzle [-c CONNECTION] top [-d SECONDS] [-n TURNS]
      shows what sessions, pool and log do, again and again.
  swizzle [-c CONNECTION] verify [TABLE ...]
      checks the structure of the whole database or of some tables.
  swizzle [-c CONNECTION] backup DIRECTORY
      lets the running server copy itself into a directory on its machine.
  swizzle restore [OPTION ...] BACKUP DIRECTORY
      makes a data directory out of a backup. Options are swizzle-backup's: --restore-command,
      --to-time, --to-lsn.

CONNECTION is libpq's ("host=/tmp port=5432 user=me dbname=postgres"); what it leaves out comes from
PGHOST, PGPORT, PGUSER, PGDATABASE and ~/.pgpass.
)";

int dispatch(int count, char** words) {
  CommandLine line;
  int at = 1;
  if (at + 1 < count && std::string_view{words[at]} == "-c") {
    line.connection = words[at + 1];
    at += 2;
  }
  const std::string_view command = at < count ? words[at++] : "help";
  line.words.assign(words + at, words + count);
  if (command == "help" || command == "--help") {
    std::cout << kHelp;
    return 0;
  }
  const std::map<std::string_view, int (*)(const CommandLine&)> commands{
      {"sql", run_sql},       {"load", run_load},     {"top", run_top},
      {"verify", run_verify}, {"backup", run_backup}, {"restore", run_restore}};
  const auto found = commands.find(command);
  if (found == commands.end()) throw UsageError{"no command \"" + std::string{command} + "\""};
  return found->second(line);
}

}  // namespace
}  // namespace swizzle::clients

int main(int count, char** words) {
  try {
    return swizzle::clients::dispatch(count, words);
  } catch (const swizzle::clients::UsageError& error) {
    std::cerr << "swizzle: " << error.what() << "\nTry \"swizzle help\".\n";
    return swizzle::clients::kUsageExit;
  } catch (const std::exception& error) {
    std::cerr << "swizzle: " << error.what() << '\n';
    return 1;
  }
}

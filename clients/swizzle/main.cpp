// swizzle: a small command-line client. `swizzle --help` describes it.

#include <functional>
#include <iostream>
#include <string_view>

#include "base/programs/program_words.h"
#include "clients/swizzle/commands.h"

namespace swizzle::clients {
namespace {

/// Parser of the program's arguments.
class Program {
 public:
  Program() {
    app_.require_subcommand(1);
    app_.add_option(
            "-c", connection_,
            "libpq's, as \"host=/tmp port=5432 user=me dbname=postgres\"; what it leaves out "
            "comes from PGHOST, PGPORT, PGUSER, PGDATABASE and ~/.pgpass")
        ->type_name("CONNECTION");
    describe_sql();
    describe_load();
    describe_top();
    describe_verify();
    describe_backup();
    describe_restore();
  }

  int run(int count, const char* const* words) {
    if (const auto exit_code = read_program_words(app_, count, words)) return *exit_code;
    return run_();
  }

 private:
  CLI::App& command(const std::string& name, const std::string& description,
                    std::function<int()> run) {
    CLI::App* const made = app_.add_subcommand(name, description);
    made->callback([this, run] { run_ = run; });
    return *made;
  }

  void describe_sql() {
    command("sql", "runs each script as one implicit transaction, and prints its last result",
            [this] { return run_sql(connection_, words_); })
        .add_option("SCRIPT", words_, "SQL; without one it reads standard input");
  }

  void describe_load() {
    CLI::App& load = command("load", "loads a CSV file into a table and shows how far it is",
                             [this] { return run_load(connection_, load_); });
    load.add_option("TABLE", load_.table)->required();
    load.add_option("FILE", load_.file)->required();
    load.add_flag("--header", load_.has_header, "the file's first line has the columns' names");
    load.add_option("--delimiter", load_.delimiter, "one character; a comma unless given")
        ->type_name("C");
  }

  void describe_top() {
    CLI::App& top = command("top",
                            "shows sessions, whom they wait for, and the statements that take most "
                            "time; q ends it, p pauses",
                            [this] { return run_top(connection_, top_); });
    top.add_option("-d", top_.seconds, "between two pictures")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.1, 86400.0));
    top.add_option("-n", top_.turns, "how many pictures")->type_name("TURNS");
  }

  void describe_verify() {
    command("verify", "checks the structure of the whole database or of some tables", [this] {
      return run_verify(connection_, words_);
    }).add_option("TABLE", words_, "all unless named");
  }

  void describe_backup() {
    CLI::App& backup =
        command("backup", "lets the running server copy itself into a directory on its machine",
                [this] { return run_backup(connection_, directory_, since_); });
    backup.add_option("--since", since_, "copies only what changed since the backup EARLIER")
        ->type_name("EARLIER")
        ->check([](const std::string& word) {
          return word.empty() ? std::string{"no backup is named"} : std::string{};
        });
    backup.add_option("DIRECTORY", directory_, "does not exist yet")->required();
  }

  void describe_restore() {
    CLI::App& restore = command("restore", "makes a data directory of a backup; asks no server",
                                [this] { return run_restore(words_, directories_); });
    for (const char* const option : {"--restore-command", "--archive-folder", "--target-lsn",
                                     "--target-time", "--target-name", "--target-xid"}) {
      restore.add_option_function<std::string>(
          option,
          [this, option](const std::string& value) {
            words_.push_back(std::string{option} + '=' + value);
          },
          "as swizzle-backup's restore has it");
    }
    restore.add_flag_function(
        "--target-exclusive", [this](std::int64_t) { words_.emplace_back("--target-exclusive"); },
        "as swizzle-backup's restore has it");
    restore
        .add_option("DIRECTORIES", directories_,
                    "a backup, the incremental ones after it, and last the one to be made")
        ->required();
  }

  CLI::App app_{"swizzle runs SQL, loads files, and looks after a server. For a shell, take psql.",
                "swizzle"};
  std::function<int()> run_;
  std::string connection_;
  std::vector<std::string> words_;  ///< scripts, tables or another program's options
  LoadOptions load_;
  TopOptions top_;
  std::string directory_;
  std::string since_;
  std::vector<std::string> directories_;
};

}  // namespace
}  // namespace swizzle::clients

int main(int count, char** words) {
  try {
    return swizzle::clients::Program{}.run(count, words);
  } catch (const std::exception& error) {
    // libpq's messages end with a newline already.
    const std::string_view said = error.what();
    std::cerr << "swizzle: " << said.substr(0, said.find_last_not_of('\n') + 1) << '\n';
    return 1;
  }
}

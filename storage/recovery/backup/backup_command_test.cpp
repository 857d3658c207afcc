#include "storage/recovery/backup/backup_command.h"

#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"

namespace swizzle {
namespace {

using testing::TemporaryEngine;

int run(std::initializer_list<std::string> words) {
  std::vector<const char*> arguments{"swizzle-backup"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return backup_main(static_cast<int>(arguments.size()), arguments.data());
}

void insert(Engine& engine, TreeId tree, int from, int to) {
  for (int row = from; row < to; ++row) {
    const auto transaction = engine.begin();
    REQUIRE(
        engine.tree(tree)
            .value()
            .insert(*transaction, as_bytes(std::to_string(row)), as_bytes(std::string(900, 'v')))
            .value());
    REQUIRE(transaction->commit());
  }
}

}  // namespace

TEST_CASE("the program's help is an answer, a command that it does not know is an error",
          "[backup]") {
  CHECK(run({"--help"}) == 0);
  CHECK(run({"mend", "somewhere"}) == 2);
  CHECK(run({}) == 2);
}

TEST_CASE_METHOD(TemporaryEngine,
                 "archived by a command, copied and restored by the program, to a time and an LSN",
                 "[backup]") {
  const std::filesystem::path archive = directory / "archive";
  std::filesystem::create_directory(archive);
  close();
  options.archive_command =
      "test ! -f " + archive.native() + "/%f && cp %p " + archive.native() + "/%f";
  open();
  const TreeId tree = make_tree();
  insert(*engine, tree, 0, 100);
  const std::filesystem::path backup = directory / "backup";
  REQUIRE(engine->back_up(backup));
  insert(*engine, tree, 100, 1500);
  const std::uint64_t lsn = engine->statistics().log_durable;
  const std::int64_t time_us = Runtime::current().wall_clock_us();
  Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{2});
  insert(*engine, tree, 1500, 4000);
  while (engine->statistics().archive_backlog != 0)
    Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{5});
  // A server has it open.
  REQUIRE(run({"check", data.native()}) == 1);
  close();
  REQUIRE(run({"check", data.native()}) == 0);
  REQUIRE(run({"copy", data.native(), (directory / "cold").native()}) == 0);
  // A path that is a bare name.
  const std::filesystem::path home = std::filesystem::current_path();
  std::filesystem::current_path(directory);
  CHECK(run({"copy", data.native(), "beside"}) == 0);
  std::filesystem::current_path(home);

  const std::string fetch = "cp " + archive.native() + "/%f %p 2>/dev/null";
  const auto seconds = static_cast<std::time_t>(time_us / 1'000'000);
  std::array<char, 32> text{};
  std::tm parts{};
  REQUIRE(std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S",
                        gmtime_r(&seconds, &parts)) != 0);
  std::string micros = std::to_string(1'000'000 + time_us % 1'000'000).substr(1);
  const auto to = [this](const char* name) { return (directory / name).native(); };
  REQUIRE(run({"restore", "--restore-command", fetch, "--to-lsn", std::to_string(lsn),
               backup.native(), to("by-lsn")}) == 0);
  REQUIRE(run({"restore", "--restore-command", fetch, "--to-time",
               std::string{text.data()} + "." + micros, backup.native(), to("by-time")}) == 0);
  REQUIRE(run({"restore", backup.native(), to("alone")}) == 0);
  const auto rows_in = [&](const char* name) {
    data = directory / name;
    open();
    const auto reader = engine->begin();
    return content(*reader, tree).size();
  };
  REQUIRE(rows_in("by-lsn") == 1500);
  REQUIRE(rows_in("by-time") == 1500);
  REQUIRE(rows_in("alone") == 100);
  REQUIRE(rows_in("cold") == 4000);
  engine.reset();
  REQUIRE(run({"check", to("by-time")}) == 0);

  // A check takes nothing from a backup: it can be restored afterwards.
  REQUIRE(run({"check", backup.native()}) == 0);
  REQUIRE_FALSE(std::filesystem::exists(backup.native() + ".check"));
  REQUIRE(run({"copy", backup.native(), to("copied")}) == 1);
  REQUIRE(run({"restore", "--restore-command", fetch, "--to-lsn", std::to_string(lsn),
               backup.native(), to("afterwards")}) == 0);
  REQUIRE(rows_in("afterwards") == 1500);
  engine.reset();
  std::filesystem::create_directory(backup.native() + ".check");
  REQUIRE(run({"check", backup.native()}) == 1);

  REQUIRE(run({"restore", "--to-lsn", "1", backup.native(), to("never")}) == 1);
  REQUIRE(run({"check", to("never")}) == 1);
  REQUIRE(run({"restore", "--to-time", "yesterday", backup.native(), to("x")}) == 2);
  REQUIRE(run({"restore", "--nonsense", "1", backup.native(), to("x")}) == 2);
  REQUIRE(run({"copy", to("x")}) == 2);
  REQUIRE(run({}) == 2);

  // A backup that is opened as a database is no backup any more, and says so.
  std::filesystem::copy(backup, to("opened"), std::filesystem::copy_options::recursive);
  REQUIRE(rows_in("opened") == 100);
  insert(*engine, tree, 100, 101);
  close();
  REQUIRE(run({"restore", to("opened"), to("from-opened")}) == 1);
  REQUIRE(run({"check", to("opened")}) == 0);
  REQUIRE(rows_in("opened") == 101);
}

}  // namespace swizzle

#include "storage/recovery/backup/backup_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include "storage/page/page.h"
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
  // While a server has the database open, it cannot be checked.
  REQUIRE(run({"check", data.native()}) == 1);
  close();
  REQUIRE(run({"check", data.native()}) == 0);
  REQUIRE(run({"copy", data.native(), (directory / "cold").native()}) == 0);
  // A path that is only a name, without a directory.
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
  REQUIRE(run({"restore", "--restore-command", fetch, "--target-lsn", std::to_string(lsn),
               backup.native(), to("by-lsn")}) == 0);
  REQUIRE(run({"restore", "--restore-command", fetch, "--target-time",
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

  // The check leaves the backup unchanged: it can be restored afterwards.
  REQUIRE(run({"check", backup.native()}) == 0);
  REQUIRE_FALSE(std::filesystem::exists(backup.native() + ".check"));
  REQUIRE(run({"copy", backup.native(), to("copied")}) == 1);
  REQUIRE(run({"restore", "--restore-command", fetch, "--target-lsn", std::to_string(lsn),
               backup.native(), to("afterwards")}) == 0);
  REQUIRE(rows_in("afterwards") == 1500);
  engine.reset();
  std::filesystem::create_directory(backup.native() + ".check");
  REQUIRE(run({"check", backup.native()}) == 1);

  REQUIRE(run({"restore", "--target-lsn", "1", backup.native(), to("never")}) == 1);
  REQUIRE(run({"check", to("never")}) == 1);
  REQUIRE(run({"restore", "--target-time", "yesterday", backup.native(), to("x")}) == 2);
  REQUIRE(run({"restore", "--nonsense", "1", backup.native(), to("x")}) == 2);
  REQUIRE(run({"copy", to("x")}) == 2);
  REQUIRE(run({}) == 2);

  // A backup that was opened as a database is no longer a backup, and the error tells so.
  std::filesystem::copy(backup, to("opened"), std::filesystem::copy_options::recursive);
  REQUIRE(rows_in("opened") == 100);
  insert(*engine, tree, 100, 101);
  close();
  REQUIRE(run({"restore", to("opened"), to("from-opened")}) == 1);
  REQUIRE(run({"check", to("opened")}) == 0);
  REQUIRE(rows_in("opened") == 101);
}

TEST_CASE_METHOD(TemporaryEngine, "the program makes incremental backups, and restores to names",
                 "[backup]") {
  const std::filesystem::path archive = directory / "archive";
  std::filesystem::create_directory(archive);
  close();
  options.archive_command = "cp %p " + archive.native() + "/%f";
  open();
  const TreeId tree = make_tree();
  insert(*engine, tree, 0, 300);
  close();
  const auto to = [this](const char* name) { return (directory / name).native(); };
  REQUIRE(run({"copy", data.native(), to("full")}) == 0);
  open();
  insert(*engine, tree, 300, 310);
  close();
  REQUIRE(run({"copy", "--since", to("full"), data.native(), to("part")}) == 0);
  CHECK(run({"copy", "--since", to("nowhere"), data.native(), to("never")}) == 1);
  open();
  const Lsn named = engine->create_restore_point("before the mistake").value();
  insert(*engine, tree, 310, 400);
  close();
  const std::string log = "cp " + (data / "log").native() + "/%f %p 2>/dev/null";
  const auto rows_in = [&](const char* name) {
    const std::filesystem::path before = std::exchange(data, directory / name);
    open();
    std::size_t rows = 0;
    {
      const auto reader = engine->begin();
      rows = content(*reader, tree).size();
    }
    close();
    data = before;
    return rows;
  };
  CHECK(run({"check", to("full"), to("part")}) == 0);
  CHECK(run({"check", to("part")}) == 1);
  CHECK(run({"check", data.native(), to("part")}) == 1);
  REQUIRE(run({"restore", to("full"), to("part"), to("alone")}) == 0);
  CHECK(rows_in("alone") == 310);
  REQUIRE(run({"restore", "--restore-command", log, to("full"), to("part"), to("all")}) == 0);
  CHECK(rows_in("all") == 400);
  REQUIRE(run({"restore", "--restore-command", log, "--target-name", "before the mistake",
               to("full"), to("part"), to("named")}) == 0);
  CHECK(rows_in("named") == 310);
  const std::string sql_lsn = fmt::format("{:X}/{:X}", raw(named) >> 32U, raw(named) & UINT32_MAX);
  REQUIRE(run({"restore", "--restore-command", log, "--target-lsn", sql_lsn, "--target-exclusive",
               to("full"), to("by-lsn")}) == 0);
  CHECK(rows_in("by-lsn") == 310);
  CHECK(run({"restore", to("part"), to("never")}) == 1);
  CHECK(run({"restore", "--target-name", "never made", to("full"), to("never")}) == 1);
  CHECK(run({"restore", "--target-exclusive", to("full"), to("never")}) == 1);
  CHECK_FALSE(std::filesystem::exists(to("never")));
  for (const auto& [option, wrong] :
       std::initializer_list<std::pair<const char*, const char*>>{{"--target-lsn", "1/"},
                                                                  {"--target-lsn", "FF"},
                                                                  {"--target-lsn", "1/100000000"},
                                                                  {"--target-xid", "0"},
                                                                  {"--target-xid", "-1"},
                                                                  {"--target-xid", "7a"},
                                                                  {"--target-time", "noon"}}) {
    CAPTURE(option, wrong);
    CHECK(run({"restore", std::string{option} + "=" + wrong, to("full"), to("never")}) == 2);
  }
  CHECK(run({"restore", "--target-name", std::string(64, 'n'), to("full"), to("never")}) == 2);
  CHECK(run({"restore", "--target-name", "n", "--target-xid", "7", to("full"), to("never")}) == 2);
}

TEST_CASE_METHOD(TemporaryEngine, "a backup that is not whole ends the program with words and 1",
                 "[backup]") {
  const TreeId tree = make_tree();
  insert(*engine, tree, 0, 600);
  // Recycle the log of these rows; otherwise a page is rebuilt from a log that reaches back to the
  // page's beginning.
  const TreeId other = make_tree();
  for (int round = 0; round < 6; ++round) {
    insert(*engine, other, round * 1500, (round + 1) * 1500);
    REQUIRE(engine->checkpoint());
  }
  const std::filesystem::path backup = directory / "backup";
  REQUIRE(engine->back_up(backup));
  close();
  const auto to = [this](const char* name) { return (directory / name).native(); };
  SECTION("its end is missing") {
    std::filesystem::remove(backup / "backup-end");
    CHECK(run({"check", backup.native()}) == 1);
    CHECK(run({"restore", backup.native(), to("restored")}) == 1);
    data = backup;
    CHECK(Engine::open(*files, data, options).error().state() ==
          sqlstate::object_not_in_prerequisite_state);
  }
  SECTION("a page of it is damaged") {
    // Damage the last whole leaf: the backup's log does not have it.
    const std::filesystem::path file = backup / "data";
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    std::vector<char> page(8192);
    std::uint64_t victim = 0;
    for (std::uint64_t at = 1; at < std::filesystem::file_size(file) / 8192 && victim == 0; ++at) {
      bytes.seekg(static_cast<std::streamoff>(at * 8192));
      bytes.read(page.data(), 8192);
      PageHeader header;
      std::memcpy(&header, page.data(), sizeof header);
      if (header.tree == tree && header.level == 0) victim = at;
    }
    REQUIRE(victim != 0);
    bytes.seekp(static_cast<std::streamoff>(victim * 8192 + 5000));
    bytes.put(static_cast<char>(page[5000] ^ 1));
    bytes.close();
    CHECK(run({"check", backup.native()}) == 1);
    CHECK(run({"restore", backup.native(), to("restored")}) == kWithoutPagesExit);
    // The backup is restored nevertheless, except for that page.
    data = directory / "restored";
    open();
    const auto reader = engine->begin();
    Tree rows = engine->tree(tree).value();
    ValueBuffer value;
    int refused = 0;
    for (int row = 0; row < 600; ++row)
      refused += rows.get(*reader, as_bytes(std::to_string(row)), value) ? 0 : 1;
    CHECK(refused > 0);
    CHECK(refused < 12);
  }
}

TEST_CASE_METHOD(TemporaryEngine, "a restore does not pass by a segment that the archive lacks",
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
  insert(*engine, tree, 100, 6000);
  while (engine->statistics().archive_backlog != 0)
    Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{5});
  close();
  std::vector<std::filesystem::path> segments;
  for (const auto& entry : std::filesystem::directory_iterator(archive))
    if (entry.path().extension() == ".log") segments.push_back(entry.path());
  std::ranges::sort(segments);
  REQUIRE(segments.size() >= 4);
  std::filesystem::remove(segments[segments.size() - 2]);
  const std::string fetch = "cp " + archive.native() + "/%f %p 2>/dev/null";
  const auto to = [this](const char* name) { return (directory / name).native(); };
  CHECK(run({"restore", "--restore-command", fetch, backup.native(), to("restored")}) == 1);
  // A target before the gap can be restored if it is named.
  const std::uint64_t number =
      std::stoull(segments[segments.size() - 3].stem().string(), nullptr, 16);
  const std::uint64_t lsn = (number + 1) * options.log_segment_bytes - 4096;
  CHECK(run({"restore", "--restore-command", fetch, "--target-lsn", std::to_string(lsn),
             backup.native(), to("before")}) == 0);
}

}  // namespace swizzle

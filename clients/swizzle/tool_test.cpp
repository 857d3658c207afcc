#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <pqxx/pqxx>
#include <string>
#include <thread>

#include "clients/testing/swizzled_process.h"

/// Tests the program `swizzle` through a shell.
namespace swizzle::clients {
namespace {

namespace fs = std::filesystem;

struct Ended {
  int code = 0;
  std::string output;  ///< both streams
};

Ended shell(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Ended ended;
  std::array<char, 4096> piece{};
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), pipe)) {
    ended.output.append(piece.data(), got);
  }
  const int status = ::pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

/// Runs the program; `words` are parsed by a shell.
Ended tool(const SwizzledProcess& server, const std::string& words) {
  return shell(std::string{SWIZZLE_PATH} + " -c \"" + server.conninfo() + "\" " + words);
}

SwizzledProcess& server() {
  static SwizzledProcess process;
  return process;
}

}  // namespace

TEST_CASE("swizzle sql prints a table, counts rows, and tells what is wrong") {
  CHECK(tool(server(), "sql \"SELECT 1 AS one, 'zwei' AS two\"").output ==
        "one | two\n----+-----\n  1 | zwei\n(1 row)\n");
  CHECK(
      tool(server(), "sql 'CREATE TABLE counted (k int)' 'INSERT INTO counted SELECT 1'").output ==
      "0 rows\n1 rows\n");
  const Ended wrong = tool(server(), "sql 'SELECT nothing'");
  CHECK(wrong.code == 1);
  CHECK(wrong.output.find("column \"nothing\" does not exist") != std::string::npos);
  CHECK(wrong.output.find("\n\n") == std::string::npos);
  CHECK(shell("echo 'SELECT 7 AS n' | " SWIZZLE_PATH " -c \"" + server().conninfo() + "\" sql")
            .output == "n\n-\n7\n(1 row)\n");
}

TEST_CASE(
    "swizzle load reads CSV with its header, quotes and delimiter; a bad line loads nothing") {
  const std::string file = server().directory() + "/load.csv";
  std::ofstream{file} << "k;t\n1;plain\n2;\"with; it\"\n3;\n";
  tool(server(), "sql 'CREATE TABLE loaded (k int PRIMARY KEY, t text)'");
  CHECK(tool(server(), "load --header --delimiter ';' loaded " + file).output == "3 rows\n");
  CHECK(tool(server(), "sql 'SELECT k, t FROM loaded ORDER BY k'").output ==
        "k | t\n--+---------\n1 | plain\n2 | with; it\n3 |\n(3 rows)\n");
  std::ofstream{file} << "4,four\nfive,5\n";
  const Ended bad = tool(server(), "load loaded " + file);
  CHECK(bad.code == 1);
  CHECK(bad.output.find("invalid input syntax for type integer: \"five\"") != std::string::npos);
  CHECK(bad.output.find("line 2") != std::string::npos);
  CHECK(tool(server(), "sql 'SELECT count(*) AS n FROM loaded'").output == "n\n-\n3\n(1 row)\n");
  CHECK(tool(server(), "load loaded /does/not/exist").code == 1);
  CHECK(tool(server(), "load no_such_table " + file).code == 1);
}

TEST_CASE("swizzle top shows counters and sessions, as often as asked") {
  const Ended top = tool(server(), "top -d 0.1 -n 2");
  CHECK(top.code == 0);
  for (const char* const word :
       {"transactions", "log", "pool", "pages", "sessions", "query", "statements", "% of time"}) {
    CAPTURE(word);
    CHECK(top.output.find(word) != std::string::npos);
  }
  CHECK(tool(server(), "top -d zero").code == 2);
}

TEST_CASE("swizzle top shows a session below the one that it waits for") {
  tool(server(),
       "sql 'CREATE TABLE contended (k int PRIMARY KEY)' 'INSERT INTO contended VALUES (1)'");
  pqxx::connection first{server().conninfo("application_name=holder")};
  pqxx::connection second{server().conninfo("application_name=waiter")};
  pqxx::work holder{first};
  holder.exec("UPDATE contended SET k = 1 WHERE k = 1");
  pqxx::work waiter{second};
  waiter.exec("SET LOCAL lock_timeout = '3s'");
  std::thread waiting{[&] { CHECK_THROWS(waiter.exec("UPDATE contended SET k = 2 WHERE k = 1")); }};
  std::string output;
  const auto shows_tree = [&] {
    output = tool(server(), "top -d 0.1 -n 1").output;
    const std::size_t above = output.find(" holder ");
    const std::size_t below = output.find(" waiter ");
    if (above == std::string::npos || below == std::string::npos || below < above) return false;
    return output.rfind("\n  ", below) > above;
  };
  bool is_shown = false;
  for (int i = 0; i < 20 && !is_shown; ++i) is_shown = shows_tree();
  CAPTURE(output);
  CHECK(is_shown);
  waiting.join();
  holder.abort();
  waiter.abort();
}

TEST_CASE("swizzle verify says that all is sound") {
  tool(server(), "sql 'CREATE TABLE verified (k int PRIMARY KEY)'");
  CHECK(tool(server(), "verify").output == "the whole database: sound\n");
  CHECK(tool(server(), "verify verified").output == "verified: sound\n");
  CHECK(tool(server(), "verify no_such_table").code == 1);
}

TEST_CASE("swizzle backup copies a running server, restore makes another of it") {
  tool(server(),
       "sql 'CREATE TABLE kept (k int PRIMARY KEY)' "
       "'INSERT INTO kept SELECT generate_series(1, 1000)'");
  const std::string backup = server().directory() + "/backup";
  const std::string target = server().directory() + "/restored";
  const Ended copied = tool(server(), "backup " + backup);
  CHECK(copied.code == 0);
  CHECK(copied.output.find("pages, consistent from LSN") != std::string::npos);
  CHECK(tool(server(), "backup " + backup).code == 1);  // it is not empty
  const std::string changes = server().directory() + "/changes";
  tool(server(), "sql 'INSERT INTO kept VALUES (1001)'");
  const Ended changed = tool(server(), "backup --since " + backup + " " + changes);
  CHECK(changed.code == 0);
  CHECK(changed.output.find("changed pages, consistent from LSN") != std::string::npos);
  CHECK(tool(server(), "backup --since '' " + changes + "2").code == 2);
  CHECK(tool(server(), "backup --since /does/not/exist " + changes + "3").code == 1);
  tool(server(), "sql 'DELETE FROM kept WHERE k > 10'");

  const std::string restore =
      "PATH=$(dirname " SWIZZLE_BACKUP_PATH "):$PATH " SWIZZLE_PATH " restore ";
  CHECK(shell(restore + changes + " " + target).code == 1);  // it lacks pages
  CHECK_FALSE(fs::exists(target));
  CHECK(shell(restore + "--target-name never " + backup + " " + target).code == 1);
  CHECK_FALSE(fs::exists(target));
  const Ended restored = shell(restore + backup + " " + changes + " " + target);
  INFO(restored.output);
  REQUIRE(restored.code == 0);
  CHECK(shell(restore + backup + " " + target).code == 1);  // it exists
  CHECK(shell(restore + "/does/not/exist " + target + "2").code == 1);

  // Runs beside the first server, with another port and socket directory.
  const std::string sockets = server().directory() + "/r";
  fs::create_directory(sockets);
  const std::string port = std::to_string(server().port());
  const Ended answer = shell(
      std::string{SWIZZLED_PATH} + " -D " + target + " -p " + port + " -k " + sockets +
      " -h '' -c shared_buffers=64MB >" + sockets + "/log & pid=$!; for i in $(seq 300); do " +
      SWIZZLE_PATH " -c 'host=" + sockets + " port=" + port +
      " dbname=postgres' sql 'SELECT count(*) AS n, max(k) AS m FROM kept' 2>/dev/null && break; "
      "sleep 0.05; done; kill -INT $pid; wait $pid");
  CHECK(answer.output == "n    | m\n-----+-----\n1001 | 1001\n(1 row)\n");
  CHECK(answer.code == 0);
}

TEST_CASE("swizzle names what it does not understand") {
  CHECK(shell(SWIZZLE_PATH " help").code == 0);
  CHECK(shell(SWIZZLE_PATH " no-such-command").code == 2);
  CHECK(shell(SWIZZLE_PATH " no-such-command").output ==
        "swizzle: The following argument was not expected: no-such-command\n"
        "Try \"swizzle --help\".\n");
  CHECK(shell(SWIZZLE_PATH " load --delimiter ab t f").code == 2);
  for (const char* const program : {SWIZZLE_PATH, SWIZZLE_BACKUP_PATH, SWIZZLED_PATH}) {
    const std::string words = program;
    CHECK(shell(words + " --version").output.find(" 0.") != std::string::npos);
    CHECK(shell(words + " --no-such-option").code == 2);
  }
  for (const std::string command :
       {SWIZZLED_PATH " init", SWIZZLED_PATH " stop", SWIZZLE_PATH " sql", SWIZZLE_PATH " restore",
        SWIZZLE_BACKUP_PATH " copy"}) {
    const Ended help = shell(command + " --help");
    CHECK(help.code == 0);
    CHECK(help.output.find("--help") != std::string::npos);
    CHECK(shell(command + " --version").code == 0);
  }
  CHECK(shell(SWIZZLE_PATH " load --sideways t f").code == 2);
  const Ended nobody = shell(SWIZZLE_PATH " -c 'host=/does/not/exist' sql 'SELECT 1'");
  CHECK(nobody.code == 1);
}

}  // namespace swizzle::clients

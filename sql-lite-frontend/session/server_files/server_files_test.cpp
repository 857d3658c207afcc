// COPY to and from files and programs of the server, for what the corpus cannot test: modes of
// files, FIFOs, cancels, what becomes of programs, and the reactor's other fibers.
#include <fmt/format.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/fibers/fiber_runtime.h"
#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

using namespace std::chrono_literals;

/// A folder of its own for a test's files.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("swizzle-files-{}", ::getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(std::string_view name) const { return path_ / name; }
  [[nodiscard]] std::string text(std::string_view name) const {
    std::ifstream in{path_ / name};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

 private:
  std::filesystem::path path_;
};

unsigned mode_of(const std::string& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777U;
}

/// Waits until the condition holds; false after ten seconds.
bool comes_true(const auto& condition) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

/// True if the process whose number the file has exists no more, not even as a zombie.
bool has_gone(const std::string& pid_file) {
  pid_t process = 0;
  std::ifstream{pid_file} >> process;
  return process != 0 && ::kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

TEST_CASE("COPY TO writes a file that all may read, and replaces an older one", "[sql][copy]") {
  TestDatabase db;
  const Folder folder;
  db.run("CREATE TABLE t(id int, what text)");
  db.run("INSERT INTO t SELECT i, repeat('x', i % 50) FROM generate_series(1, 100000) i");
  const std::string path = folder.file("rows");
  const mode_t before = ::umask(GENERATE(mode_t{077}, mode_t{0}));
  CHECK(db.run("COPY t TO '" + path + "'") == "COPY 100000");
  ::umask(before);
  CHECK(mode_of(path) == 0644);
  CHECK(folder.text("rows").starts_with("1\tx\n2\txx\n"));
  for (const std::string format : {"text", "csv", "binary"}) {
    INFO(format);
    CHECK(db.run("COPY t TO '" + path + "' (FORMAT " + format + ")") == "COPY 100000");
    CHECK(db.run("BEGIN; CREATE TEMP TABLE copied(LIKE t) ON COMMIT DROP; COPY copied FROM '" +
                 path + "' (FORMAT " + format + ")") == "BEGIN CREATE TABLE COPY 100000");
    CHECK(db.run("SELECT count(*) FROM t JOIN copied USING (id, what)") == "100000 SELECT 1");
    db.run("ROLLBACK");
  }
  ::chmod(path.c_str(), 0600);
  CHECK(db.run("COPY (SELECT 'short') TO '" + path + "'") == "COPY 1");
  CHECK(folder.text("rows") == "short\n");
  CHECK(mode_of(path) == 0600);
}

TEST_CASE("COPY waits for the other end of a FIFO and can be cancelled meanwhile", "[sql][copy]") {
  TestDatabase db;
  const Folder folder;
  db.run("CREATE TABLE t(id int)");
  const std::string path = folder.file("fifo");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  db.run("SET statement_timeout = 0");
  for (const std::string copy : {"COPY t FROM '", "COPY t TO '"}) {
    INFO(copy);
    std::thread canceller{[&] {
      std::this_thread::sleep_for(100ms);
      db.session().cancel();
    }};
    CHECK(db.run(copy + path + "'") == "57014 canceling statement due to user request");
    canceller.join();
  }
  std::thread writer{[&] {
    std::this_thread::sleep_for(50ms);
    std::ofstream out{path};
    out << "1\n2\n" << std::flush;
    std::this_thread::sleep_for(50ms);
    out << "3\n";
  }};
  CHECK(db.run("COPY t FROM '" + path + "'") == "COPY 3");
  writer.join();
  std::string received;
  std::thread reader{[&] {
    std::this_thread::sleep_for(50ms);
    std::ifstream in{path};
    received.assign(std::istreambuf_iterator<char>{in}, {});
  }};
  CHECK(db.run("COPY t TO '" + path + "'") == "COPY 3");
  reader.join();
  CHECK(received == "1\n2\n3\n");
}

TEST_CASE("A cancelled COPY ends its program and what that has started", "[sql][copy]") {
  TestDatabase db;
  const Folder folder;
  db.run("CREATE TABLE t(id int)");
  const std::string shell = folder.file("shell");
  const std::string child = folder.file("child");
  // The second one ignores the first signal.
  const std::string program = fmt::format("{}echo $$ > {}; sleep 1000 & echo $! > {}; wait",
                                          GENERATE("", "trap \"\" TERM; "), shell, child);
  const std::string copy =
      GENERATE("COPY t FROM PROGRAM ", "COPY (SELECT pg_sleep(1000)) TO PROGRAM ");
  std::thread canceller{[&] {
    CHECK(comes_true([&] { return !folder.text("child").empty(); }));
    db.session().cancel();
  }};
  const auto start = std::chrono::steady_clock::now();
  CHECK(db.run(copy + "'" + program + "'") == "57014 canceling statement due to user request");
  CHECK(std::chrono::steady_clock::now() - start < 8s);
  canceller.join();
  CHECK(comes_true([&] { return has_gone(shell) && has_gone(child); }));
}

TEST_CASE("A COPY that fails ends its program", "[sql][copy]") {
  TestDatabase db;
  const Folder folder;
  db.run("CREATE TABLE t(id int)");
  const std::string shell = folder.file("shell");
  CHECK(db.run("COPY t FROM PROGRAM 'echo $$ > " + shell + "; echo x; exec sleep 1000'") ==
        "22P02 invalid input syntax for type integer: \"x\"");
  CHECK(comes_true([&] { return has_gone(shell); }));
  CHECK(db.run("COPY (SELECT 1 / 0) TO PROGRAM 'echo $$ > " + shell + "; exec sleep 1000'") ==
        "22012 division by zero");
}

TEST_CASE("A line without an end is refused by the limit of memory", "[sql][copy]") {
  TestDatabase db;
  db.run("CREATE TABLE t(what text)");
  db.run("SET session_memory_limit = '64MB'");
  CHECK(db.run("COPY t FROM '/dev/zero'").starts_with("53200"));
  CHECK(db.run("COPY t FROM PROGRAM 'tr \"\\000\" x < /dev/zero'").starts_with("53200"));
}

TEST_CASE("A program inherits nothing of the server but its place for errors", "[sql][copy]") {
  TestDatabase db;
  db.run("CREATE TABLE t(what text)");
  // 0, 1 and 2, and the descriptor by which ls reads the folder.
  CHECK(db.run("COPY t FROM PROGRAM 'ls /proc/self/fd'") == "COPY 4");
  CHECK(db.run("SELECT string_agg(what, ' ' ORDER BY what) FROM t") == "0 1 2 3 SELECT 1");
  CHECK(db.run("TRUNCATE t; COPY t FROM PROGRAM 'pwd'") == "TRUNCATE TABLE COPY 1");
  CHECK(db.run("SELECT what FROM t") ==
        std::filesystem::canonical(db.directory()).string() + " SELECT 1");
}

TEST_CASE("A reactor's other fibers run while COPY waits for a program", "[sql][copy]") {
  FiberRuntime runtime{{.reactors = 1}};
  int turns = 0;
  bool is_over = false;
  const auto beside = runtime.spawn("bystander", [&] {
    while (!is_over) {
      ++turns;
      Runtime::current().sleep_until(Runtime::current().now() + 1ms);
    }
  });
  runtime
      .spawn(
          "statements",
          [&] {
            TestDatabase db;
            db.run("CREATE TABLE t(id int)");
            turns = 0;
            CHECK(db.run("COPY t FROM PROGRAM 'sleep 0.5; echo 1; sleep 0.5; echo 2'") == "COPY 2");
            CHECK(db.run("COPY t TO PROGRAM 'sleep 0.3; cat > /dev/null; sleep 0.3'") == "COPY 2");
            is_over = true;
          })
      ->join();
  beside->join();
  CHECK(turns > 200);
}

}  // namespace swizzle::sql

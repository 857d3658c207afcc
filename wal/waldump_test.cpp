#include "wal/waldump.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;

namespace {

struct Output {
  int code;
  std::vector<std::string> lines;
};

// Runs the program with its standard output redirected to a file.
Output run(const TemporaryDirectory& directory, std::vector<const char*> arguments) {
  const auto file = directory.path() / "output";
  arguments.insert(arguments.begin(), "swizzle-waldump");
  RecordKinds kinds;
  kinds.add(kUpdate, "update",
            [](const Record& record) { return "row " + std::string{as_text(record.payload)}; });
  std::fflush(stdout);
  const int saved = dup(STDOUT_FILENO);
  std::FILE* const redirected = std::fopen(file.c_str(), "w");
  REQUIRE(redirected != nullptr);
  dup2(fileno(redirected), STDOUT_FILENO);
  Output output{waldump_main(static_cast<int>(arguments.size()), arguments.data(), kinds), {}};
  std::fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  std::fclose(redirected);
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) output.lines.push_back(line);
  return output;
}

}  // namespace

TEST_CASE("waldump prints a log, filtered, backward, and in sum", "[waldump]") {
  PosixFileSystem files;
  TemporaryDirectory directory;
  const auto log_directory = directory.path() / "log";
  std::filesystem::create_directory(log_directory);
  std::vector<Written> written;
  {
    auto log = Log::create(files, small_options(log_directory)).value();
    for (std::uint64_t i = 0; i < 100; ++i) {
      written.push_back(append(*log,
                               {.kind = i % 2 == 0 ? kUpdate : RecordKind{99},
                                .txn = TxnId{1 + i % 10},
                                .page = PageId{i}},
                               std::to_string(i)));
    }
    log->close();
  }
  const char* const where = log_directory.c_str();
  const auto all = run(directory, {where});
  REQUIRE(all.code == 0);
  REQUIRE(all.lines.size() == 101);
  REQUIRE(all.lines[0] == std::to_string(raw(written[0].lsn)) + " +24 update txn=1 | row 0");
  REQUIRE_THAT(all.lines[1], Catch::Contains("kind 99 txn=2 page=1 | payload=1 bytes 31"));
  REQUIRE_THAT(all.lines[100], Catch::Contains("flush_mark | durable="));

  REQUIRE(run(directory, {"--txn", "3", where}).lines.size() == 10);
  REQUIRE(run(directory, {"--page", "3", where}).lines.size() == 1);
  const std::string from = std::to_string(raw(written[40].lsn) - 3);
  const std::string to = std::to_string(raw(written[60].lsn));
  const auto part = run(directory, {"--from", from.c_str(), "--to", to.c_str(), where});
  REQUIRE(part.lines.size() == 20);
  auto back = run(directory, {"--backward", "--from", from.c_str(), "--to", to.c_str(), where});
  std::reverse(back.lines.begin(), back.lines.end());
  REQUIRE(back.lines == part.lines);
  REQUIRE(run(directory, {"--limit", "7", where}).lines.size() == 7);
  const auto sums = run(directory, {"--stats", where});
  REQUIRE(sums.lines.size() == 4);

  REQUIRE(run(directory, {}).code == 2);
  REQUIRE(run(directory, {"--nonsense", "1", where}).code == 2);
  REQUIRE(run(directory, {"/nonexistent"}).code == 1);
}

TEST_CASE("waldump says how it is used, and where it is used wrongly", "[waldump]") {
  TemporaryDirectory directory;
  const Output help = run(directory, {"--help"});
  CHECK(help.code == 0);
  REQUIRE_FALSE(help.lines.empty());
  CHECK(help.lines.front() == "swizzle-waldump prints the records of a log.");
  CHECK(run(directory, {"--limit"}).code == 2);
}

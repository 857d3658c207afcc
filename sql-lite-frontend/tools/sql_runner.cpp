// Runs SQL from standard input against a fresh database, one message per statement (a statement
// ends at a semicolon at the end of a line), and prints rows, tags and errors as psql -At would.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include "base/posix_file_system.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/test_sink.h"
#include "storage/engine.h"

using namespace swizzle;

namespace {

void run(sql::Session& session, const std::string& text) {
  sql::TestSink sink;
  const sql::Outcome outcome = session.simple_query(text, sink);
  for (const std::string& row : sink.rows) fmt::print("{}\n", row);
  fmt::print("{}", sink.copied);
  for (const std::string& tag : sink.tags) fmt::print("{}\n", tag);
  if (!outcome) {
    const sql::Diagnostic& error = outcome.error();
    fmt::print("ERROR:  {}: {}\n", error.state.code(), error.message);
    if (!error.detail.empty()) fmt::print("DETAIL:  {}\n", error.detail);
    if (!error.hint.empty()) fmt::print("HINT:  {}\n", error.hint);
    if (error.position != 0) fmt::print("POSITION:  {}\n", error.position);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path directory = argc > 1 ? argv[1] : "/tmp/swizzle-sql-runner";
  PosixFileSystem files;
  EngineOptions options;
  options.pool_bytes = std::uint64_t{256} << 20U;
  options.log_segment_bytes = std::uint64_t{1} << 20U;
  if (!std::filesystem::exists(directory)) {
    if (const auto created = Engine::create(files, directory, options); !created) {
      fmt::print("{}\n", created.error().message());
      return 1;
    }
  }
  auto engine = Engine::open(files, directory, options);
  if (!engine) {
    fmt::print("{}\n", engine.error().message());
    return 1;
  }
  {
    auto database = sql::Database::open(**engine);
    if (!database) {
      fmt::print("{}\n", database.error().message());
      return 1;
    }
    auto session = (*database)->connect({});
    if (!session) {
      fmt::print("{}\n", session.error().message);
      return 1;
    }
    std::string text;
    std::string line;
    while (std::getline(std::cin, line)) {
      text += line + "\n";
      if (!line.ends_with(';')) continue;
      run(**session, text);
      text.clear();
    }
    if (!text.empty()) run(**session, text);
  }
  if (const auto closed = (*engine)->close(); !closed) {
    fmt::print("{}\n", closed.error().message());
    return 1;
  }
  return 0;
}

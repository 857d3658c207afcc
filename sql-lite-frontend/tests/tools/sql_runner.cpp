// Runs SQL from standard input against a fresh database, one message per statement (a statement
// ends at a semicolon at the end of a line), and prints rows, tags and errors as psql -At would.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>

#include "base/io/posix_file_system.h"
#include "base/programs/program_words.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_sink.h"
#include "storage/engine.h"

using namespace swizzle;

namespace {

/// Prints rows, command tags and the SQLSTATEs of errors as psql -AtX with VERBOSITY sqlstate does;
/// with --verbose, whole errors.
void run(sql::Session& session, const std::string& text, bool verbose) {
  sql::TestSink sink;
  const sql::Outcome outcome = session.simple_query(text, sink);
  for (const std::string& row : sink.rows) fmt::print("{}\n", row);
  fmt::print("{}", sink.copied);
  for (const std::string& tag : sink.tags) {
    const bool of_rows = (tag.starts_with("SELECT") && !sink.columns.empty()) ||
                         tag.starts_with("SHOW") || tag.starts_with("FETCH") || tag == "EXPLAIN" ||
                         (tag.starts_with("COPY") && !sink.copied.empty());
    if (!of_rows) fmt::print("{}\n", tag);
  }
  if (!outcome) {
    const sql::Diagnostic& error = outcome.error();
    fmt::print("ERROR:  {}", error.state.code());
    if (verbose) {
      fmt::print(": {}", error.message);
      if (!error.detail.empty()) fmt::print("\nDETAIL:  {}", error.detail);
      if (!error.hint.empty()) fmt::print("\nHINT:  {}", error.hint);
      if (error.position != 0) fmt::print("\nPOSITION:  {}", error.position);
    }
    fmt::print("\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (answers_program_words(argc, argv, "swizzle_sql_runner",
                            "swizzle_sql_runner [DIRECTORY [--verbose]] <statements\n")) {
    return 0;
  }
  const bool verbose = argc > 2 && std::string_view{argv[2]} == "--verbose";
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
      if (line.starts_with("\\echo ")) {
        fmt::print("{}\n", line.substr(6));
        continue;
      }
      text += line + "\n";
      if (!line.ends_with(';')) continue;
      run(**session, text, verbose);
      text.clear();
    }
    if (!text.empty()) run(**session, text, verbose);
  }
  if (const auto closed = (*engine)->close(); !closed) {
    fmt::print("{}\n", closed.error().message());
    return 1;
  }
  return 0;
}

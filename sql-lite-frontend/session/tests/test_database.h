#pragma once

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/io/posix_file_system.h"
#include "base/simulation/simulated_disk.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_sink.h"
#include "storage/engine.h"

namespace swizzle::sql {

/// A database in a fresh directory or on a simulated disk, with one session.
class TestDatabase {
 public:
  TestDatabase() : TestDatabase(usual_row_lock_limit()) {}
  /// Creates a database with a limit of rows that a transaction locks one by one.
  explicit TestDatabase(std::uint32_t row_lock_limit)
      : own_files_(std::make_unique<PosixFileSystem>()),
        files_(*own_files_),
        directory_(std::filesystem::temp_directory_path() /
                   ("swizzle-sql-test-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(directory_);
    options_.row_lock_limit = row_lock_limit;
    create();
  }
  explicit TestDatabase(SimulatedDisk& disk) : files_(disk), directory_("/database") { create(); }
  struct Existing {
    std::uint64_t pool_bytes;
  };
  /// Opens the database that was created on this disk before.
  TestDatabase(SimulatedDisk& disk, Existing with) : files_(disk), directory_("/database") {
    set_options();
    options_.pool_bytes = with.pool_bytes;
    open();
  }
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;
  ~TestDatabase() {
    close();
    if (own_files_) std::filesystem::remove_all(directory_);
  }

  void open() {
    auto engine = Engine::open(files_, directory_, options_);
    if (!engine) FAIL(engine.error().message());
    engine_ = std::move(*engine);
    auto database = Database::open(*engine_);
    REQUIRE(database);
    database_ = std::move(*database);
    session_ = connect();
  }
  void close() {
    session_.reset();
    database_.reset();
    CHECK(engine_->close());
    engine_.reset();
  }
  std::unique_ptr<Session> connect() {
    SessionOptions options;
    options.backend_pid = ++pid_;
    auto session = database_->connect(options);
    REQUIRE(session);
    return std::move(*session);
  }

  /// Returns the rows joined by spaces, then the tags; or "SQLSTATE message".
  std::string run(const std::string& sql) { return run(*session_, sql); }
  std::string run(Session& session, const std::string& sql) {
    sink_.clear();
    const Outcome outcome = session.simple_query(sql, sink_);
    if (!outcome) {
      return std::string{outcome.error().state.code()} + " " + outcome.error().message;
    }
    std::string text;
    for (const std::string& row : sink_.rows) text += row + " ";
    for (const std::string& tag : sink_.tags) text += tag + " ";
    if (!text.empty()) text.pop_back();
    return text;
  }
  /// Returns a query's rows. Pre: it succeeds.
  std::vector<std::string> rows(const std::string& query) {
    const std::string outcome = run(query);
    INFO(query << ": " << outcome.substr(0, 200));
    REQUIRE_THAT(outcome, Catch::Contains("SELECT"));
    return sink_.rows;
  }
  std::vector<std::string> sorted_rows(const std::string& query) {
    std::vector<std::string> sorted = rows(query);
    std::ranges::sort(sorted);
    return sorted;
  }
  /// Returns EXPLAIN's output, a line each.
  std::string explain(const std::string& query, const std::string& options = "COSTS off") {
    std::string outcome = run("EXPLAIN (" + options + ") " + query);
    if (sink_.rows.empty()) return outcome;
    std::string text;
    for (const std::string& row : sink_.rows) text += row + "\n";
    return text;
  }

  Session& session() { return *session_; }
  TestSink& sink() { return sink_; }
  Engine& engine() { return *engine_; }
  Database& database() { return *database_; }
  FileSystem& files() { return files_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  /// SWIZZLE_ROW_LOCK_LIMIT=0 makes every test run without locks on changed rows.
  static std::uint32_t usual_row_lock_limit() {
    const char* const limit = std::getenv("SWIZZLE_ROW_LOCK_LIMIT");
    return limit != nullptr ? static_cast<std::uint32_t>(std::stoul(limit))
                            : EngineOptions{}.row_lock_limit;
  }
  void set_options() {
    options_.pool_bytes = std::uint64_t{64} << 20U;
    options_.log_segment_bytes = std::uint64_t{1} << 20U;
  }
  void create() {
    set_options();
    REQUIRE(Engine::create(files_, directory_, options_));
    open();
  }

  std::unique_ptr<FileSystem> own_files_;
  FileSystem& files_;
  EngineOptions options_;
  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
  TestSink sink_;
  std::int32_t pid_ = 0;
};

}  // namespace swizzle::sql

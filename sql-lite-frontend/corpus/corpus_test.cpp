#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/posix_file_system.h"
#include "sql-lite-frontend/corpus/transcript.h"
#include "storage/engine.h"

namespace swizzle::sql::corpus {
namespace {

/// A fresh database for one script.
class Fresh {
 public:
  Fresh()
      : directory_(std::filesystem::temp_directory_path() /
                   ("swizzle-corpus-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(directory_);
    EngineOptions options;
    options.pool_bytes = std::uint64_t{64} << 20U;
    options.log_segment_bytes = std::uint64_t{4} << 20U;
    REQUIRE(Engine::create(files_, directory_, options));
    auto engine = Engine::open(files_, directory_, options);
    REQUIRE(engine);
    engine_ = std::move(*engine);
    auto database = Database::open(*engine_);
    REQUIRE(database);
    database_ = std::move(*database);
    SessionOptions session_options;
    session_options.backend_pid = 1;
    session_options.parameters = {{"TimeZone", "UTC"}};
    auto session = database_->connect(session_options);
    REQUIRE(session);
    session_ = std::move(*session);
  }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  ~Fresh() {
    session_.reset();
    database_.reset();
    CHECK(engine_->close());
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }
  Session& session() { return *session_; }

 private:
  std::filesystem::path directory_;
  PosixFileSystem files_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
};

/// All of them, or the one that SWIZZLE_CORPUS_ONLY names.
std::vector<std::filesystem::path> scripts() {
  const char* const only = std::getenv("SWIZZLE_CORPUS_ONLY");
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator{SWIZZLE_SQL_CORPUS}) {
    if (entry.path().extension() != ".sql") continue;
    if (only == nullptr || entry.path().stem() == only) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

TEST_CASE("statements answer as PostgreSQL does", "[sql][corpus]") {
  std::size_t count = 0;
  std::size_t surprises = 0;
  const bool shows_marked = std::getenv("SWIZZLE_CORPUS_SHOW_MARKED") != nullptr;
  for (const std::filesystem::path& path : scripts()) {
    const std::vector<Request> requests = read_script(path);
    std::filesystem::path stored = path;
    const auto expected = read_answers(stored.replace_extension(".answers"), requests);
    Fresh fresh;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      ++count;
      const std::string answer = run(fresh.session(), requests[i]);
      const bool marked = !requests[i].differs.empty();
      const bool surprising = (answer != expected[i]) != marked;
      if (!surprising && !(marked && shows_marked)) continue;
      surprises += surprising ? 1 : 0;
      // Catch would break the lines.
      std::cout << path.filename().string() << ":" << requests[i].line << ": "
                << (answer == expected[i] ? "marked as different, but is the same\n"
                                          : requests[i].differs + "\n")
                << answer << "PostgreSQL:\n"
                << expected[i] << "\n";
    }
  }
  CHECK(count >= (std::getenv("SWIZZLE_CORPUS_ONLY") == nullptr ? 3000U : 1U));
  CHECK(surprises == 0);
}

}  // namespace swizzle::sql::corpus

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/io/posix_file_system.h"
#include "base/sanitizers.h"
#include "sql-lite-frontend/login_triggers.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/tests/corpus/transcript.h"
#include "sql-lite-frontend/types/json/random_json.h"
#include "storage/engine.h"

namespace swizzle::sql::corpus {
namespace {

/// A new database for one script.
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
    REQUIRE(database_->shared().settings.set_at_start({"max_prepared_transactions", "5", "test"},
                                                      SettingSource::command_line));
    connect("postgres");
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
  void connect(const std::string& database) {
    session_.reset();
    SessionOptions options;
    options.database = database;
    options.backend_pid = 1;
    options.parameters = {{"TimeZone", "UTC"}};
    auto session = database_->connect(options);
    REQUIRE(session);
    session_ = std::move(*session);
    SilentSink sink;
    REQUIRE(run_login_triggers(*session_, sink));
  }
  Session& session() { return *session_; }

 private:
  std::filesystem::path directory_;
  PosixFileSystem files_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
};

/// Lower bound of the number of requests, so that a loss of many is noticed.
constexpr std::size_t kFewestRequests = 6500;

/// Returns the only script to run; null: all.
const char* chosen_script() {
  return std::getenv("SWIZZLE_CORPUS_ONLY");
}

std::vector<std::filesystem::path> scripts() {
  const char* const only = chosen_script();
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator{SWIZZLE_SQL_CORPUS}) {
    if (entry.path().extension() != ".sql") continue;
    if (only == nullptr || entry.path().stem() == only) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

bool mentions_jsonb(const std::filesystem::path& script) {
  std::ifstream in{script};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  return text.contains("jsonb");
}

std::filesystem::path beside(std::filesystem::path script, const char* extension) {
  return script.replace_extension(extension);
}

/// A script's requests with the required answers: PostgreSQL's, or ours if a difference is known.
/// Ours is stored too, so that a marked request cannot have any answer.
class Script {
 public:
  explicit Script(const std::filesystem::path& path)
      : path_{path},
        requests_{read_script(path)},
        postgres_{read_answers(beside(path, ".answers"), requests_)} {
    std::ranges::copy_if(requests_, std::back_inserter(marked_),
                         [](const Request& request) { return !request.differs.empty(); });
    if (!stores_ours()) ours_ = read_answers(beside(path, ".ours"), marked_);
  }

  /// Returns the number of unexpected answers.
  std::size_t run_all() {
    Fresh fresh;
    std::size_t surprises = 0;
    std::size_t marks = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const Request& request = requests_[i];
      if (!request.connect.empty()) fresh.connect(request.connect);
      const std::string answer = run(fresh.session(), request);
      if (request.differs.empty()) {
        if (answer != postgres_[i] && !is_sanitizers_stack(answer)) {
          surprises += complain(request, "", answer, postgres_[i]);
        }
        continue;
      }
      if (stores_ours()) {
        ours_.push_back(answer);
      } else if (answer != ours_[marks]) {
        surprises += complain(request, "not what it answered before", answer, ours_[marks]);
      }
      ++marks;
      if (answer == postgres_[i]) {
        surprises +=
            complain(request, "marked as different, but is the same", answer, postgres_[i]);
      } else if (shows_marked()) {
        complain(request, request.differs, answer, postgres_[i]);
      }
    }
    if (stores_ours() && !ours_.empty()) {
      write_answers(beside(path_, ".ours"),
                    "# Our answers to what is marked in " + path_.filename().string(), ours_);
    }
    return surprises;
  }

  [[nodiscard]] std::size_t size() const noexcept { return requests_.size(); }

 private:
  static bool stores_ours() { return std::getenv("SWIZZLE_CORPUS_STORE_OURS") != nullptr; }
  /// True for 54001 under a sanitizer, whose stack frames are several times as large.
  static bool is_sanitizers_stack([[maybe_unused]] const std::string& answer) {
#if defined(SWIZZLE_ASAN) || defined(SWIZZLE_TSAN)
    return answer.find("! 54001 ") != std::string::npos;
#else
    return false;
#endif
  }
  static bool shows_marked() { return std::getenv("SWIZZLE_CORPUS_SHOW_MARKED") != nullptr; }

  std::size_t complain(const Request& request, const std::string& what, const std::string& answer,
                       const std::string& expected) const {
    // Catch2 would wrap the lines.
    std::cout << path_.filename().string() << ":" << request.line << ": " << what << "\n"
              << answer << "expected:\n"
              << expected << "\n";
    return 1;
  }

  std::filesystem::path path_;
  std::vector<Request> requests_;
  std::vector<std::string> postgres_;
  std::vector<Request> marked_;
  std::vector<std::string> ours_;
};

}  // namespace

TEST_CASE("statements answer as PostgreSQL does", "[sql][corpus]") {
  std::size_t count = 0;
  std::size_t surprises = 0;
  for (const std::filesystem::path& path : scripts()) {
    Script script{path};
    count += script.size();
    surprises += script.run_all();
  }
  CHECK(count >= (chosen_script() == nullptr ? kFewestRequests : 1U));
  CHECK(surprises == 0);
}

TEST_CASE("jsonb answers so, too, where its shortest objects and arrays have directories",
          "[sql][corpus]") {
  const DirectoriesBy rules{kEveryPart};
  std::size_t surprises = 0;
  for (const std::filesystem::path& path : scripts()) {
    if (mentions_jsonb(path)) surprises += Script{path}.run_all();
  }
  CHECK(surprises == 0);
}

TEST_CASE("answers belong to a script", "[sql][corpus]") {
  for (const auto& entry : std::filesystem::directory_iterator{SWIZZLE_SQL_CORPUS}) {
    INFO(entry.path());
    CHECK(std::filesystem::exists(beside(entry.path(), ".sql")));
  }
}

}  // namespace swizzle::sql::corpus

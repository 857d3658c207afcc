// Hermitage through SQL on a server, each session a connection.
#include "storage/testing/hermitage.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace swizzle::server {
namespace {

using testing::hermitage::Outcome;
using testing::hermitage::Rows;
using testing::hermitage::Scenario;
using testing::hermitage::Step;

struct Close {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Close>;

/// A server process with a data directory and a unix socket of its own.
class Swizzled {
 public:
  Swizzled() {
    REQUIRE(::mkdtemp(directory_.data()) != nullptr);
    int status = -1;
    ::waitpid(launch({"init", "-D", data(), "--peer-only"}), &status, 0);
    REQUIRE(status == 0);
    process_ = launch({"-D", data(), "-k", directory_, "-h", ""});
    for (int i = 0; i < 3000 && PQping(conninfo().c_str()) != PQPING_OK; ++i) ::usleep(10'000);
  }
  Swizzled(const Swizzled&) = delete;
  Swizzled& operator=(const Swizzled&) = delete;
  ~Swizzled() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    std::filesystem::remove_all(directory_);
  }
  [[nodiscard]] std::string conninfo() const {
    return "host=" + directory_ + " dbname=postgres user=" + ::getpwuid(::geteuid())->pw_name;
  }

 private:
  [[nodiscard]] std::string data() const { return directory_ + "/data"; }
  [[nodiscard]] pid_t launch(std::vector<std::string> words) const {
    words.insert(words.begin(), SWIZZLED_PATH);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const std::string log = directory_ + "/log";
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execv(SWIZZLED_PATH, pointers.data());
    ::_exit(127);
  }
  std::string directory_ =
      (std::filesystem::temp_directory_path() / "swizzled-hermitage-XXXXXX").string();
  pid_t process_ = -1;
};

class Connection {
 public:
  explicit Connection(const std::string& conninfo) : raw_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(raw_.get()) != CONNECTION_OK) throw std::runtime_error{PQerrorMessage(raw_.get())};
  }
  /// Rows of two numbers; throws on an error.
  Rows run(const std::string& sql) {
    const Answer answer{PQexec(raw_.get(), sql.c_str())};
    const Outcome outcome = outcome_of(answer.get());
    if (!outcome.error.empty()) throw std::runtime_error{sql + ": " + outcome.error};
    return outcome.rows;
  }
  void send(const std::string& sql) {
    if (PQsendQuery(raw_.get(), sql.c_str()) != 1) throw std::runtime_error{"cannot send"};
  }
  std::optional<Outcome> poll() {
    if (PQconsumeInput(raw_.get()) != 1) throw std::runtime_error{PQerrorMessage(raw_.get())};
    if (PQisBusy(raw_.get()) != 0) return std::nullopt;
    Outcome outcome;
    while (const Answer answer{PQgetResult(raw_.get())}) outcome = outcome_of(answer.get());
    return outcome;
  }
  [[nodiscard]] int pid() const { return PQbackendPID(raw_.get()); }
  [[nodiscard]] bool in_transaction() const {
    return PQtransactionStatus(raw_.get()) != PQTRANS_IDLE;
  }

 private:
  static Outcome outcome_of(const PGresult* answer) {
    Outcome outcome;
    if (const char* state = PQresultErrorField(answer, PG_DIAG_SQLSTATE)) outcome.error = state;
    for (int row = 0; row < PQntuples(answer); ++row)
      outcome.rows[std::stoi(PQgetvalue(answer, row, 0))] = std::stoi(PQgetvalue(answer, row, 1));
    return outcome;
  }
  std::unique_ptr<PGconn, Close> raw_;
};

class ServerSessions final : public testing::hermitage::Sessions {
 public:
  ServerSessions(const std::string& conninfo, std::string level)
      : conninfo_(conninfo), level_(std::move(level)), control_(conninfo) {
    control_.run("DROP TABLE IF EXISTS test");
    control_.run("CREATE TABLE test (id int PRIMARY KEY, value int)");
    control_.run("INSERT INTO test VALUES (1, 10), (2, 20)");
  }
  void begin(const Step& step) override {
    Connection& connection = session(step.session);
    const bool ends = step.kind == Step::Kind::commit || step.kind == Step::Kind::rollback;
    if (!ends && !connection.in_transaction()) connection.run("BEGIN ISOLATION LEVEL " + level_);
    connection.send(step.sql());
  }
  std::optional<Outcome> poll(int number) override { return session(number).poll(); }
  bool waits(int number) override {
    const std::string of = std::to_string(session(number).pid());
    return !control_.run("SELECT pid, 1 FROM pg_locks WHERE NOT granted AND pid = " + of).empty();
  }
  void give_up(int number) override {
    if (session(number).in_transaction()) session(number).run("ROLLBACK");
  }
  Rows table() override { return control_.run("SELECT id, value FROM test"); }

 private:
  Connection& session(int number) {
    auto& found = sessions_[number];
    if (found == nullptr) found = std::make_unique<Connection>(conninfo_);
    return *found;
  }
  std::string conninfo_;
  std::string level_;
  Connection control_;
  std::map<int, std::unique_ptr<Connection>> sessions_;
};

}  // namespace

TEST_CASE("Hermitage over the wire: what each level prevents") {
  const Swizzled server;
  const std::pair<Isolation, const char*> levels[] = {
      {Isolation::read_committed, "READ COMMITTED"},
      {Isolation::repeatable_read, "REPEATABLE READ"},
      {Isolation::serializable, "SERIALIZABLE"}};
  for (const auto& [isolation, name] : levels) {
    for (const Scenario& scenario : testing::hermitage::scenarios()) {
      INFO(scenario.name << " at " << name);
      ServerSessions sessions{server.conninfo(), name};
      const auto run = testing::hermitage::run(scenario, sessions);
      for (const Outcome& step : run.steps)
        CHECK((step.error.empty() || step.error == "40001" || step.error == "40P01"));
      CHECK(scenario.happened(run) == scenario.is_expected(isolation));
    }
  }
}

// Against a PostgreSQL, whose table this is: SWIZZLE_HERMITAGE_CONNINFO names one.
TEST_CASE("Hermitage on another server", "[.]") {
  const char* conninfo = std::getenv("SWIZZLE_HERMITAGE_CONNINFO");
  REQUIRE(conninfo != nullptr);
  for (const Scenario& scenario : testing::hermitage::scenarios()) {
    INFO(scenario.name);
    for (const auto& [isolation, name] : {std::pair{Isolation::read_committed, "READ COMMITTED"},
                                          std::pair{Isolation::repeatable_read, "REPEATABLE READ"},
                                          std::pair{Isolation::serializable, "SERIALIZABLE"}}) {
      INFO(name);
      ServerSessions sessions{conninfo, name};
      CHECK(scenario.happened(testing::hermitage::run(scenario, sessions)) ==
            scenario.is_expected(isolation));
    }
  }
}

}  // namespace swizzle::server

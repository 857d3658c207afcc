// Hermitage by SQL on a server, with a connection for each session.
#include "storage/testing/hermitage.h"

#include <libpq-fe.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "server/session/testing/swizzled_process.h"

namespace swizzle::server {
namespace {

namespace hermitage = swizzle::testing::hermitage;
using hermitage::Outcome;
using hermitage::Rows;
using hermitage::Scenario;
using hermitage::Step;

struct Close {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Close>;

class Connection {
 public:
  explicit Connection(const std::string& conninfo) : raw_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(raw_.get()) != CONNECTION_OK) throw std::runtime_error{PQerrorMessage(raw_.get())};
  }
  /// Returns rows of two numbers; throws on an error.
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

class ServerSessions final : public hermitage::Sessions {
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
  testing::ServerHome home;
  REQUIRE(home.run({"init", "-D", home.data("data"), "--peer-only"}) == 0);
  constexpr int kPort = 7000;
  home.start("data", kPort);
  REQUIRE(home.is_open("data"));
  const std::pair<Isolation, const char*> levels[] = {
      {Isolation::read_committed, "READ COMMITTED"},
      {Isolation::repeatable_read, "REPEATABLE READ"},
      {Isolation::serializable, "SERIALIZABLE"}};
  for (const auto& [isolation, name] : levels) {
    for (const Scenario& scenario : hermitage::scenarios()) {
      INFO(scenario.name << " at " << name);
      ServerSessions sessions{home.conninfo(kPort), name};
      const auto run = hermitage::run(scenario, sessions);
      for (const Outcome& step : run.steps)
        CHECK((step.error.empty() || step.error == "40001" || step.error == "40P01"));
      CHECK(scenario.happened(run) == scenario.is_expected(isolation));
    }
  }
}

// Compares with a PostgreSQL, from which the table is; SWIZZLE_HERMITAGE_CONNINFO names it.
TEST_CASE("Hermitage on another server", "[.]") {
  const char* conninfo = std::getenv("SWIZZLE_HERMITAGE_CONNINFO");
  REQUIRE(conninfo != nullptr);
  for (const Scenario& scenario : hermitage::scenarios()) {
    INFO(scenario.name);
    for (const auto& [isolation, name] : {std::pair{Isolation::read_committed, "READ COMMITTED"},
                                          std::pair{Isolation::repeatable_read, "REPEATABLE READ"},
                                          std::pair{Isolation::serializable, "SERIALIZABLE"}}) {
      INFO(name);
      ServerSessions sessions{conninfo, name};
      CHECK(scenario.happened(hermitage::run(scenario, sessions)) ==
            scenario.is_expected(isolation));
    }
  }
}

}  // namespace swizzle::server

// Definitions, sequences and foreign keys under power cuts: acknowledged changes survive the
// restart, changes in progress have happened wholly or not at all, no number is returned twice, and
// indexes and references agree with their tables.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// Small enough that pages are evicted.
constexpr std::uint64_t kSmallPoolBytes = std::uint64_t{2} << 20U;

/// State of a client's own table.
struct TableShape {
  int columns = 0;  ///< 0: the table does not exist
  int rows = 0;
  int indexes = 0;
  bool operator==(const TableShape&) const = default;
};

std::string to_text(const TableShape& shape) {
  return std::to_string(shape.columns) + " columns, " + std::to_string(shape.rows) + " rows, " +
         std::to_string(shape.indexes) + " indexes";
}

/// Knowledge of a client, which power cuts do not affect.
struct Knowledge {
  TableShape acknowledged;
  TableShape committing;  ///< of a COMMIT without an answer yet; else as acknowledged
  std::int64_t greatest_number = 0;
  std::vector<std::int64_t> logged;
  std::uint64_t commits = 0;
  std::string wrong;
};

class CutClient {
 public:
  CutClient(std::unique_ptr<Session> session, std::uint64_t seed, std::size_t number,
            Knowledge& knowledge)
      : session_(std::move(session)),
        random_(seed),
        table_("d" + std::to_string(number)),
        knowledge_(knowledge) {
    run("SET deadlock_timeout = '1ms'");
  }

  void work(int transactions) {
    for (int i = 0; i < transactions && knowledge_.wrong.empty(); ++i) transaction();
  }

 private:
  bool run(const std::string& sql) {
    sink_.clear();
    const Outcome outcome = session_->simple_query(sql, sink_);
    if (outcome) return true;
    static const std::set<std::string> kExpected{"23503", "40001", "40P01"};
    if (!kExpected.contains(std::string{outcome.error().state.code()})) {
      knowledge_.wrong = sql + ": " + outcome.error().message;
    }
    return false;
  }

  void transaction() {
    draft_ = knowledge_.acknowledged;
    number_ = 0;
    logged_.clear();
    run("BEGIN");
    bool good = true;
    for (std::uint64_t left = random_.between(1, 3); good && left != 0; --left) good = step();
    if (!good || random_.one_in(5)) {
      run("ROLLBACK");
      return;
    }
    knowledge_.committing = draft_;
    if (!run("COMMIT")) {
      knowledge_.committing = knowledge_.acknowledged;
      return;
    }
    ++knowledge_.commits;
    knowledge_.acknowledged = draft_;
    knowledge_.greatest_number = std::max(knowledge_.greatest_number, number_);
    knowledge_.logged.insert(knowledge_.logged.end(), logged_.begin(), logged_.end());
  }

  bool step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
        if (!run("SELECT nextval('s')")) return false;
        number_ = std::stoll(sink_.rows.at(0));
        return true;
      case 2:
        if (!run("INSERT INTO log(who) VALUES ('" + table_ + "') RETURNING id")) return false;
        logged_.push_back(std::stoll(sink_.rows.at(0)));
        return true;
      case 3:
        return run("INSERT INTO p DEFAULT VALUES") && run("INSERT INTO c(p) SELECT max(id) FROM p");
      case 4:
        return run("DELETE FROM p WHERE id = (SELECT min(id) FROM p)");
      default:
        return define();
    }
  }

  bool define() {
    if (draft_.columns == 0) {
      draft_ = {.columns = 2, .rows = 0, .indexes = 1};
      return run("CREATE TABLE " + table_ +
                 "(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int DEFAULT 7)");
    }
    switch (random_.below(7)) {
      case 0:
        draft_ = {};
        return run("DROP TABLE " + table_);
      case 1:
        draft_.rows = 0;
        return run("TRUNCATE " + table_ + " RESTART IDENTITY");
      case 2:
        ++draft_.indexes;
        return run("CREATE INDEX ON " + table_ + "(a)");
      case 3:
        return run("ALTER TABLE " + table_ + " ALTER a TYPE " +
                   (random_.one_in(2) ? "bigint" : "int"));
      case 4:
        ++draft_.columns;
        return run("ALTER TABLE " + table_ + " ADD COLUMN x" + std::to_string(draft_.columns) +
                   " int DEFAULT 5");
      default:
        draft_.rows += 3;
        return run("INSERT INTO " + table_ + "(a) SELECT generate_series(1, 3)");
    }
  }

  std::unique_ptr<Session> session_;
  Random random_;
  std::string table_;
  Knowledge& knowledge_;
  TestSink sink_;
  TableShape draft_;
  std::int64_t number_ = 0;
  std::vector<std::int64_t> logged_;
};

int number(TestDatabase& db, const std::string& query) {
  db.run(query);
  return db.sink().rows.empty() ? -1 : std::stoi(db.sink().rows[0]);
}

TableShape shape_of(TestDatabase& db, const std::string& table) {
  if (number(db, "SELECT count(*) FROM pg_class WHERE relname = '" + table + "'") == 0) return {};
  const std::string oid = "'" + table + "'::regclass";
  return {number(db, "SELECT count(*) FROM pg_attribute WHERE attnum > 0 AND attrelid = " + oid),
          number(db, "SELECT count(*) FROM " + table),
          number(db, "SELECT count(*) FROM pg_index WHERE indrelid = " + oid)};
}

/// Returns a difference between an index and its table; empty if there is none.
std::string complaint_of_indexes(TestDatabase& db, const std::string& table,
                                 const std::string& column) {
  const std::string query = "SELECT count(*) FROM " + table + " WHERE " + column + " >= 0";
  db.run("SET enable_indexscan = off");
  db.run("SET enable_indexonlyscan = off");
  const std::string by_table = db.run(query);
  db.run("RESET ALL");
  const std::string by_index = db.run(query);
  return by_index == by_table ? "" : query + ": " + by_index + " by index, " + by_table;
}

/// Returns the violations after a restart; empty if there are none. Decides the outcomes that were
/// in doubt.
std::string complaint(TestDatabase& db, std::vector<Knowledge>& clients) {
  std::string wrong = db.run("SELECT swizzle_verify()");
  if (wrong != " SELECT 1") return wrong;  // one empty text
  db.run("SELECT id FROM log");
  const std::set<std::string> logged(db.sink().rows.begin(), db.sink().rows.end());
  const std::int64_t next = number(db, "SELECT nextval('s')");
  for (std::size_t i = 0; i < clients.size(); ++i) {
    Knowledge& client = clients[i];
    if (!client.wrong.empty()) return client.wrong;
    for (const std::int64_t id : client.logged) {
      if (!logged.contains(std::to_string(id))) return "row " + std::to_string(id) + " is lost";
    }
    if (next <= client.greatest_number) {
      return "number " + std::to_string(next) + " comes again after " +
             std::to_string(client.greatest_number);
    }
    const std::string table = "d" + std::to_string(i);
    const TableShape found = shape_of(db, table);
    if (found != client.acknowledged && found != client.committing) {
      return table + " has " + to_text(found) + ", not " + to_text(client.acknowledged) + " nor " +
             to_text(client.committing);
    }
    client.acknowledged = client.committing = found;
    if (found.columns == 0) continue;
    if (wrong = complaint_of_indexes(db, table, "a"); !wrong.empty()) return wrong;
  }
  for (const auto* table : {"log", "p", "c"}) {
    if (wrong = complaint_of_indexes(db, table, "id"); !wrong.empty()) return wrong;
  }
  if (number(db, "SELECT count(*) FROM c LEFT JOIN p ON p.id = c.p WHERE p.id IS NULL") != 0) {
    return "a child has no parent";
  }
  return {};
}

void create_tables(SimulatedDisk& disk) {
  Simulation simulation{1};
  simulation.run([&] {
    TestDatabase db{disk};
    db.run("CREATE SEQUENCE s");
    db.run("CREATE TABLE log(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, who text)");
    db.run("CREATE TABLE p(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)");
    db.run("CREATE TABLE c(id serial PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE)");
    db.run("CREATE INDEX ON c(p)");
  });
  disk.sync_everything();
}

/// Runs all clients until the power is cut at the `cut`-th change of the disk.
void work_until_cut(SimulatedDisk& disk, std::uint64_t seed, std::uint64_t cut,
                    std::vector<Knowledge>& clients) {
  Simulation simulation{seed};
  simulation.run([&] {
    TestDatabase db{disk, TestDatabase::Existing{kSmallPoolBytes}};
    disk.cut_power_at(DiskOperation::change, cut);
    std::vector<std::unique_ptr<Task>> tasks;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      tasks.push_back(Runtime::current().spawn(
          "client", [&, i] { CutClient{db.connect(), seed * 100 + i, i, clients[i]}.work(40); }));
    }
    for (const auto& task : tasks) task->join();
    disk.cut_power();
  });
}

}  // namespace

TEST_CASE("Definitions, sequences and foreign keys stand after power cuts as acknowledged",
          "[sql][session][simulation][crash]") {
  const auto commits =
      for_seeds_apart<std::uint64_t>(8, 4, [&](std::uint64_t seed, std::uint64_t& all) {
        SimulatedDisk disk{seed};
        create_tables(disk);
        std::vector<Knowledge> clients(4);
        Random random{seed};
        for (std::uint64_t round = 0; round < 4; ++round) {
          work_until_cut(disk, seed * 10 + round, random.between(10, 400), clients);
          disk.crash(seed * 10 + round);
          std::string wrong;
          Simulation simulation{seed};
          simulation.run([&] {
            TestDatabase db{disk, TestDatabase::Existing{kSmallPoolBytes}};
            wrong = complaint(db, clients);
          });
          INFO("seed " << seed << ", round " << round);
          REQUIRE(wrong == std::string{});
        }
        for (const Knowledge& client : clients) all += client.commits;
      });
  // Most of the statements succeed.
  CHECK(commits > 150);
}

#include <catch2/catch.hpp>
#include <pqxx/pqxx>

#include "clients/testing/swizzled_process.h"

namespace swizzle::clients {
namespace {

/// One server for all tests of this file, each of which creates its own tables.
SwizzledProcess& server() {
  static SwizzledProcess process;
  return process;
}

template <class Action>
std::string sqlstate_of(Action&& action) {
  try {
    action();
  } catch (const pqxx::sql_error& error) {
    return error.sqlstate();
  }
  return "none";
}

TEST_CASE("a committed transaction is seen by others, an aborted one by nobody") {
  pqxx::connection writer{server().conninfo()};
  pqxx::connection reader{server().conninfo()};
  pqxx::nontransaction{writer}.exec("CREATE TABLE t_commit (k int PRIMARY KEY, v text)");
  {
    pqxx::work work{writer};
    work.exec("INSERT INTO t_commit VALUES (1, 'one'), (2, NULL)");
    CHECK(pqxx::nontransaction{reader}.exec("SELECT * FROM t_commit").empty());
    work.commit();
  }
  {
    pqxx::work work{writer};
    work.exec("INSERT INTO t_commit VALUES (3, 'three')");
    work.abort();
  }
  pqxx::nontransaction look{reader};
  const pqxx::result rows = look.exec("SELECT k, v FROM t_commit ORDER BY k");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["v"].as<std::string>() == "one");
  CHECK(rows[1]["v"].is_null());
}

TEST_CASE("savepoints undo a part") {
  pqxx::connection connection{server().conninfo()};
  pqxx::work work{connection};
  work.exec("CREATE TEMP TABLE t_save (k int PRIMARY KEY)");
  work.exec("INSERT INTO t_save VALUES (1)");
  {
    pqxx::subtransaction part{work};
    part.exec("INSERT INTO t_save VALUES (2)");
    part.abort();
  }
  CHECK(sqlstate_of([&] {
          pqxx::subtransaction part{work};
          part.exec("INSERT INTO t_save VALUES (1)");
        }) == "23505");
  work.exec("INSERT INTO t_save VALUES (3)");
  CHECK(work.exec("SELECT count(*) FROM t_save")[0][0].as<int>() == 2);
  work.commit();
}

TEST_CASE("prepared statements run again and again, with NULLs and quotes") {
  pqxx::connection connection{server().conninfo()};
  pqxx::nontransaction work{connection};
  work.exec("CREATE TEMP TABLE t_prep (k int PRIMARY KEY, v text)");
  connection.prepare("put", "INSERT INTO t_prep VALUES ($1, $2)");
  connection.prepare("get", "SELECT v FROM t_prep WHERE k = $1");
  for (int k = 0; k < 100; ++k) work.exec_prepared("put", k, "it's " + std::to_string(k));
  work.exec_prepared("put", 100, static_cast<const char*>(nullptr));
  for (int k = 0; k < 100; ++k) {
    CHECK(work.exec_prepared1("get", k)[0].as<std::string>() == "it's " + std::to_string(k));
  }
  CHECK(work.exec_prepared1("get", 100)[0].is_null());
  CHECK(work.exec_params1("SELECT $1::int + $2::int", 40, 2)[0].as<int>() == 42);
}

TEST_CASE("errors carry their SQLSTATE and leave the connection usable") {
  pqxx::connection connection{server().conninfo()};
  pqxx::nontransaction work{connection};
  work.exec("CREATE TEMP TABLE t_err (k int PRIMARY KEY, v int NOT NULL)");
  CHECK(sqlstate_of([&] { work.exec("SELECT * FROM absent"); }) == "42P01");
  CHECK(sqlstate_of([&] { work.exec("SELECT absent FROM t_err"); }) == "42703");
  CHECK(sqlstate_of([&] { work.exec("SELEC 1"); }) == "42601");
  CHECK(sqlstate_of([&] { work.exec("SELECT 1 / 0"); }) == "22012");
  CHECK(sqlstate_of([&] { work.exec("SELECT 'x'::int"); }) == "22P02");
  CHECK(sqlstate_of([&] { work.exec("INSERT INTO t_err VALUES (1, NULL)"); }) == "23502");
  CHECK(work.exec1("SELECT 1")[0].as<int>() == 1);
}

TEST_CASE("several statements in one message are one transaction") {
  pqxx::connection connection{server().conninfo()};
  pqxx::nontransaction work{connection};
  work.exec("CREATE TEMP TABLE t_multi (k int PRIMARY KEY)");
  CHECK(sqlstate_of([&] {
          work.exec("INSERT INTO t_multi VALUES (1); INSERT INTO t_multi VALUES (1)");
        }) == "23505");
  CHECK(work.exec1("SELECT count(*) FROM t_multi")[0].as<int>() == 0);
}

TEST_CASE("a large result arrives whole") {
  pqxx::connection connection{server().conninfo()};
  pqxx::nontransaction work{connection};
  work.exec("CREATE TEMP TABLE t_large (k int PRIMARY KEY, v text)");
  connection.prepare("put", "INSERT INTO t_large VALUES ($1, $2)");
  const std::string filler(1000, 'x');
  work.exec("BEGIN");
  for (int k = 0; k < 3000; ++k) work.exec_prepared("put", k, filler);
  work.exec("COMMIT");
  const pqxx::result rows = work.exec("SELECT k, v FROM t_large ORDER BY k");
  REQUIRE(rows.size() == 3000);
  CHECK(rows[2999][0].as<int>() == 2999);
  CHECK(rows[2999][1].as<std::string>() == filler);
}

TEST_CASE("COPY in and out by streams, and a stream that is given up") {
  pqxx::connection connection{server().conninfo()};
  pqxx::nontransaction{connection}.exec("CREATE TABLE t_copy (k int PRIMARY KEY, v text)");
  {
    pqxx::work work{connection};
    pqxx::stream_to stream{work, "t_copy"};
    for (int k = 0; k < 5000; ++k) {
      stream << std::make_tuple(k, "tab\tand\\" + std::to_string(k));
    }
    stream.complete();
    work.commit();
  }
  pqxx::work work{connection};
  pqxx::stream_from stream{work, "t_copy"};
  std::tuple<int, std::string> row;
  int rows = 0;
  while (stream >> row) {
    CHECK(std::get<1>(row) == "tab\tand\\" + std::to_string(std::get<0>(row)));
    ++rows;
  }
  stream.complete();
  CHECK(rows == 5000);
}

TEST_CASE("a pipeline answers in order") {
  pqxx::connection connection{server().conninfo()};
  pqxx::work work{connection};
  pqxx::pipeline pipeline{work};
  std::vector<pqxx::pipeline::query_id> queries;
  for (int i = 0; i < 20; ++i) queries.push_back(pipeline.insert("SELECT " + std::to_string(i)));
  for (int i = 0; i < 20; ++i) {
    CHECK(pipeline.retrieve(queries[static_cast<std::size_t>(i)])[0][0].as<int>() == i);
  }
}

TEST_CASE("cursors move in both directions") {
  pqxx::connection connection{server().conninfo()};
  pqxx::work work{connection};
  work.exec("CREATE TEMP TABLE t_cursor (k int PRIMARY KEY)");
  for (int k = 0; k < 10; ++k) work.exec("INSERT INTO t_cursor VALUES (" + std::to_string(k) + ")");
  work.exec("DECLARE c SCROLL CURSOR FOR SELECT k FROM t_cursor ORDER BY k");
  CHECK(work.exec("FETCH 3 FROM c").size() == 3);
  CHECK(work.exec("FETCH BACKWARD 1 FROM c")[0][0].as<int>() == 1);
  CHECK(work.exec("FETCH LAST FROM c")[0][0].as<int>() == 9);
  work.exec("CLOSE c");
  CHECK(sqlstate_of([&] { work.exec("FETCH 1 FROM c"); }) == "34000");
}

}  // namespace
}  // namespace swizzle::clients

#include <catch2/catch.hpp>
#include <chrono>
#include <pqxx/pqxx>
#include <thread>

#include "clients/testing/swizzled_process.h"

/// Tests of sessions: stored settings, advisory locks, activity, limits.
namespace swizzle::clients {
namespace {

SwizzledProcess& server() {
  static SwizzledProcess process;
  return process;
}

std::string value_of(pqxx::connection& connection, const std::string& query) {
  const pqxx::row row = pqxx::nontransaction{connection}.exec1(query);
  return row[0].is_null() ? "NULL" : row[0].c_str();
}
void execute(pqxx::connection& connection, const std::string& statement) {
  pqxx::nontransaction{connection}.exec(statement);
}
std::string sqlstate_of(pqxx::connection& connection, const std::string& statement) {
  try {
    execute(connection, statement);
  } catch (const pqxx::deadlock_detected&) {
    return "40P01";  // libpqxx has an exception of its own for it
  } catch (const pqxx::sql_error& error) {
    return error.sqlstate();
  }
  return "none";
}

}  // namespace

TEST_CASE("ALTER ROLE and ALTER DATABASE SET hold from the next login on") {
  pqxx::connection first{server().conninfo()};
  execute(first, "ALTER DATABASE postgres SET work_mem = '8MB'");
  execute(first, "ALTER ROLE current_user SET extra_float_digits = 3");
  CHECK(value_of(first, "SHOW work_mem") == "4MB");
  {
    pqxx::connection second{server().conninfo()};
    CHECK(value_of(second, "SHOW work_mem") == "8MB");
    CHECK(value_of(second, "SHOW extra_float_digits") == "3");
    execute(second, "SET work_mem = '1MB'");
    execute(second, "RESET work_mem");
    CHECK(value_of(second, "SHOW work_mem") == "8MB");
  }
  execute(first, "ALTER DATABASE postgres RESET work_mem");
  execute(first, "ALTER ROLE current_user RESET ALL");
  pqxx::connection third{server().conninfo()};
  CHECK(value_of(third, "SHOW work_mem") == "4MB");
  CHECK(sqlstate_of(first, "ALTER ROLE current_user SET no_such_setting = 1") == "42704");
  CHECK(sqlstate_of(first, "ALTER DATABASE postgres SET work_mem = 'much'") == "22023");
}

TEST_CASE("ALTER SYSTEM holds after a reload") {
  pqxx::connection connection{server().conninfo()};
  execute(connection, "ALTER SYSTEM SET authentication_timeout = '42s'");
  execute(connection, "SELECT pg_reload_conf()");
  const auto shown = [&] { return value_of(connection, "SHOW authentication_timeout"); };
  for (int i = 0; i < 200 && shown() != "42s"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  CHECK(shown() == "42s");
  execute(connection, "ALTER SYSTEM RESET authentication_timeout");
  CHECK(sqlstate_of(connection, "ALTER SYSTEM SET no_such_setting = 1") == "42704");
}

TEST_CASE("advisory locks keep others out until they are given back") {
  pqxx::connection one{server().conninfo()};
  pqxx::connection two{server().conninfo()};
  CHECK(value_of(one, "SELECT pg_try_advisory_lock(1)") == "t");
  CHECK(value_of(one, "SELECT pg_try_advisory_lock(1)") == "t");
  CHECK(value_of(two, "SELECT pg_try_advisory_lock(1)") == "f");
  CHECK(value_of(two, "SELECT pg_try_advisory_lock(0, 1)") == "t");
  CHECK(value_of(two, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "2");
  CHECK(value_of(one, "SELECT pg_advisory_unlock(1)") == "t");
  CHECK(value_of(two, "SELECT pg_try_advisory_lock_shared(1)") == "f");
  CHECK(value_of(one, "SELECT pg_advisory_unlock(1)") == "t");
  CHECK(value_of(one, "SELECT pg_advisory_unlock(1)") == "f");
  CHECK(value_of(two, "SELECT pg_try_advisory_lock_shared(1)") == "t");
  CHECK(value_of(one, "SELECT pg_try_advisory_lock_shared(1)") == "t");
  {
    pqxx::work work{one};
    work.exec("SELECT pg_advisory_xact_lock(7)");
    CHECK(value_of(two, "SELECT pg_try_advisory_lock(7)") == "f");
  }
  CHECK(value_of(two, "SELECT pg_try_advisory_lock(7)") == "t");
}

TEST_CASE("a circle of advisory locks is a deadlock for one of two") {
  pqxx::connection one{server().conninfo()};
  pqxx::connection two{server().conninfo()};
  execute(one, "SELECT pg_advisory_lock(100)");
  execute(two, "SELECT pg_advisory_lock(200)");
  std::string first;
  std::thread waiter{[&] {
    first = sqlstate_of(one, "SELECT pg_advisory_lock(200)");
    if (first == "40P01") execute(one, "SELECT pg_advisory_unlock_all()");
  }};
  const std::string second = sqlstate_of(two, "SELECT pg_advisory_lock(100)");
  if (second == "40P01") execute(two, "SELECT pg_advisory_unlock_all()");
  waiter.join();
  CHECK((first == "40P01") != (second == "40P01"));
}

TEST_CASE("a session that ends gives its advisory locks back") {
  pqxx::connection one{server().conninfo()};
  {
    pqxx::connection two{server().conninfo()};
    execute(two, "SELECT pg_advisory_lock(300)");
    CHECK(value_of(one, "SELECT pg_try_advisory_lock(300)") == "f");
  }
  execute(one, "SET lock_timeout = '5s'");
  CHECK(sqlstate_of(one, "SELECT pg_advisory_lock(300)") == "none");
}

TEST_CASE("pg_stat_activity shows what others do") {
  pqxx::connection one{server().conninfo()};
  pqxx::connection two{server().conninfo() + " application_name=watched"};
  pqxx::work work{two};
  work.exec("SELECT 'seen by others'");
  const pqxx::row row = pqxx::nontransaction{one}.exec1(
      "SELECT state, query, query_start IS NOT NULL FROM pg_stat_activity WHERE application_name = "
      "'watched'");
  CHECK(std::string{row[0].c_str()} == "idle in transaction");
  CHECK(std::string{row[1].c_str()} == "SELECT 'seen by others'");
  CHECK(row[2].as<bool>());
}

TEST_CASE("a statement that keeps more than its session may have ends with 53200") {
  pqxx::connection connection{server().conninfo()};
  execute(connection, "SET session_memory_limit = '4MB'");
  CHECK(sqlstate_of(connection, "SELECT * FROM generate_series(1, 1000000) g ORDER BY -g") ==
        "53200");
  CHECK(value_of(connection,
                 "SELECT count(*) FROM (SELECT g FROM generate_series(1, 1000) g ORDER "
                 "BY -g) s") == "1000");
}

TEST_CASE("the isolation level stays what the client called it") {
  pqxx::connection connection{server().conninfo()};
  pqxx::nontransaction work{connection};
  work.exec("BEGIN ISOLATION LEVEL READ UNCOMMITTED");
  CHECK(work.exec1("SHOW transaction_isolation")[0].as<std::string>() == "read uncommitted");
  CHECK(work.exec1("SELECT current_setting('transaction_isolation')")[0].as<std::string>() ==
        "read uncommitted");
  work.exec("ROLLBACK");
  work.exec("BEGIN; SET transaction_isolation = 'serializable'");
  CHECK(work.exec1("SHOW transaction_isolation")[0].as<std::string>() == "serializable");
  work.exec("ROLLBACK");
}

}  // namespace swizzle::clients

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/asking.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;
using namespace std::chrono_literals;

// Advisory locks among themselves and with other locks.

namespace {

class AdvisoryLocksTest : public TestDatabase {
 public:
  /// Waits until that many sessions wait for locks. Returns false if they do not.
  bool wait_until(int waiting) {
    const std::string wanted = std::to_string(waiting) + " SELECT 1";
    for (int look = 0; look < 4000; ++look) {
      if (run("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == wanted)
        return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }
};

}  // namespace

TEST_CASE_METHOD(AdvisoryLocksTest, "Advisory locks are given in the order of the requests",
                 "[sql][session][locks][advisory]") {
  const auto reader = connect();
  const auto writer = connect();
  const auto later = connect();
  REQUIRE(run(*reader, "SELECT pg_advisory_lock_shared(1)") == " SELECT 1");
  Asking writing{*writer, "SELECT pg_advisory_lock(1)"};
  REQUIRE(wait_until(1));
  // A reader does not overtake the waiting writer, which would starve; a holder may lock again.
  CHECK(run("SELECT pg_try_advisory_lock_shared(1)") == "f SELECT 1");
  CHECK(run(*reader, "SELECT pg_try_advisory_lock_shared(1)") == "t SELECT 1");
  Asking reading{*later, "SELECT pg_advisory_lock_shared(1)"};
  REQUIRE(wait_until(2));
  CHECK(run("SELECT cardinality(pg_blocking_pids(pid)) FROM pg_stat_activity WHERE wait_event_type "
            "= 'Lock' ORDER BY pid") == "1 1 SELECT 2");
  run(*reader, "SELECT pg_advisory_unlock_all()");
  CHECK(writing.answer() == "done");
  CHECK_FALSE(reading.is_done());
  run(*writer, "SELECT pg_advisory_unlock_all()");
  CHECK(reading.answer() == "done");
}

TEST_CASE_METHOD(AdvisoryLocksTest,
                 "A cycle that only the order of advisory requests closes costs nobody",
                 "[sql][session][locks][advisory]") {
  const auto first = connect();
  const auto second = connect();
  const auto writer = connect();
  run(*first, "SELECT pg_advisory_lock_shared(1)");
  run(*second, "SELECT pg_advisory_lock(2)");
  Asking writing{*writer, "SELECT pg_advisory_lock(1)"};
  REQUIRE(wait_until(1));
  Asking reading{*second, "SELECT pg_advisory_lock_shared(1); SELECT pg_advisory_unlock_all()"};
  REQUIRE(wait_until(2));
  CHECK(run(*first, "SELECT pg_advisory_lock(2)") == " SELECT 1");
  CHECK(reading.answer() == "done");
  run(*first, "SELECT pg_advisory_unlock_all()");
  CHECK(writing.answer() == "done");
}

TEST_CASE_METHOD(AdvisoryLocksTest,
                 "A deadlock through advisory locks and rows, relations or definitions is found",
                 "[sql][session][locks][advisory]") {
  struct Case {
    const char* holds;
    const char* wants;
  };
  constexpr Case kCases[] = {{"UPDATE t SET v = 1", "UPDATE t SET v = 2"},
                             {"LOCK TABLE t", "SELECT v FROM t"},
                             {"INSERT INTO t VALUES (7, 7)", "INSERT INTO t VALUES (7, 8)"},
                             {"ALTER TABLE t ADD w int", "INSERT INTO t (id) VALUES (9)"}};
  run("CREATE TABLE t (id int PRIMARY KEY, v int)");
  run("INSERT INTO t VALUES (1, 0)");
  const auto one = connect();
  const auto other = connect();
  for (const auto& [holds, wants] : kCases) {
    for (const bool advisory_first : {true, false}) {
      INFO(holds << " / " << wants << (advisory_first ? ", advisory first" : ""));
      run(*one, std::string{"BEGIN; SET LOCAL lock_timeout = '5s'; "} + holds);
      run(*other, "BEGIN; SET LOCAL lock_timeout = '5s'; SELECT pg_advisory_xact_lock(5)");
      const std::string advisory = "SELECT pg_advisory_xact_lock(5)";
      const auto began = std::chrono::steady_clock::now();
      Asking first{advisory_first ? *one : *other, advisory_first ? advisory : wants};
      CHECK(wait_until(1));
      Asking second{advisory_first ? *other : *one, advisory_first ? wants : advisory};
      // The session that waits for the advisory lock is the victim, and the other one goes on.
      Asking& of_advisory = advisory_first ? first : second;
      Asking& of_other = advisory_first ? second : first;
      REQUIRE(of_advisory.answer() == "40P01");
      CHECK(of_other.answer() == "done");
      CHECK(std::chrono::steady_clock::now() - began < 4s);
      run(*one, "ROLLBACK");
      run(*other, "ROLLBACK");
    }
  }
}

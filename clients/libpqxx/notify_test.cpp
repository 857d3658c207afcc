#include <libpq-fe.h>
#include <poll.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "clients/testing/swizzled_process.h"

/// LISTEN and NOTIFY through libpq.
namespace swizzle::clients {
namespace {

SwizzledProcess& server() {
  static SwizzledProcess process;
  return process;
}

class Client {
 public:
  Client() : connection_(PQconnectdb(server().conninfo().c_str()), PQfinish) {
    REQUIRE(PQstatus(connection_.get()) == CONNECTION_OK);
  }

  /// Returns the SQLSTATE; empty for success. Puts the first column's values into `values`.
  std::string run(const char* sql) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQexec(connection_.get(), sql),
                                                               PQclear};
    values.clear();
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      values.emplace_back(PQgetvalue(result.get(), row, 0));
    }
    const char* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return state == nullptr ? "" : state;
  }
  /// Returns notifications that have arrived, as "channel:payload".
  std::vector<std::string> heard() {
    std::vector<std::string> list;
    PQconsumeInput(connection_.get());
    while (PGnotify* const notify = PQnotifies(connection_.get())) {
      list.push_back(std::string{notify->relname} + ":" + notify->extra);
      last_sender = notify->be_pid;
      PQfreemem(notify);
    }
    return list;
  }
  /// Waits up to five seconds for a notification, without sending a request.
  std::vector<std::string> hears() {
    pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
    ::poll(&socket, 1, 5'000);
    return heard();
  }
  /// Returns true if the server closes the connection within ten seconds. Reads what it sends
  /// before.
  bool is_closed() {
    for (int tries = 0; tries < 100; ++tries) {
      pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
      ::poll(&socket, 1, 100);
      if (PQconsumeInput(connection_.get()) == 0 || PQstatus(connection_.get()) != CONNECTION_OK)
        return true;
    }
    return false;
  }
  int pid() { return PQbackendPID(connection_.get()); }

  std::vector<std::string> values;
  int last_sender = 0;

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("a notification wakes who sleeps, after the commit and not after a rollback") {
  Client listener;
  Client speaker;
  listener.run("LISTEN news");
  speaker.run("BEGIN");
  speaker.run("NOTIFY news, 'never'");
  speaker.run("ROLLBACK");
  speaker.run("BEGIN");
  speaker.run("CREATE TEMP TABLE spoken (id int)");
  speaker.run("NOTIFY news, 'first'");
  speaker.run("SAVEPOINT s");
  speaker.run("NOTIFY news, 'taken back'");
  speaker.run("ROLLBACK TO s");
  speaker.run("SELECT pg_notify('news', 'second')");
  speaker.run("NOTIFY news, 'first'");
  listener.run("SELECT 1");
  CHECK(listener.heard().empty());
  speaker.run("COMMIT");
  CHECK(listener.hears() == Strings{"news:first", "news:second"});
  CHECK(listener.last_sender == speaker.pid());
  CHECK(speaker.heard().empty());
}

TEST_CASE("who is in a transaction hears after it, who speaks hears himself at once") {
  Client listener;
  Client speaker;
  listener.run("LISTEN news");
  listener.run("BEGIN");
  speaker.run("NOTIFY news");
  listener.run("SELECT 1");
  CHECK(listener.heard().empty());
  listener.run("COMMIT");
  CHECK(listener.heard() == Strings{"news:"});
  listener.run("NOTIFY news, 'self'");
  CHECK(listener.heard() == Strings{"news:self"});
  // Notified in the transaction that begins to listen.
  speaker.run("BEGIN; LISTEN own; NOTIFY own, 'x'; COMMIT");
  CHECK(speaker.heard() == Strings{"own:x"});
}

TEST_CASE("LISTEN and UNLISTEN count from the commit on") {
  Client listener;
  listener.run("BEGIN; LISTEN a; ROLLBACK");
  listener.run("SELECT * FROM pg_listening_channels()");
  CHECK(listener.values.empty());
  listener.run("LISTEN a; LISTEN \"B c\"; LISTEN a");
  listener.run("SELECT pg_listening_channels() ORDER BY 1");
  CHECK(listener.values == Strings{"B c", "a"});
  listener.run("BEGIN; UNLISTEN a");
  listener.run("SELECT * FROM pg_listening_channels()");
  CHECK(listener.values.size() == 2);
  listener.run("COMMIT");
  listener.run("SELECT * FROM pg_listening_channels()");
  CHECK(listener.values == Strings{"B c"});
  listener.run("DISCARD ALL");
  listener.run("SELECT * FROM pg_listening_channels()");
  CHECK(listener.values.empty());
}

TEST_CASE("what cannot be said is refused") {
  Client speaker;
  CHECK(speaker.run("SELECT pg_notify('', 'x')") == "22023");
  CHECK(speaker.run("SELECT pg_notify(NULL, 'x')") == "22023");
  CHECK(speaker.run("SELECT pg_notify(repeat('c', 64), 'x')") == "22023");
  CHECK(speaker.run("SELECT pg_notify('c', repeat('p', 8000))") == "22023");
  CHECK(speaker.run("SELECT pg_notify('c', repeat('p', 7999))").empty());
  CHECK(speaker.run("BEGIN READ ONLY; NOTIFY c; COMMIT").empty());
}

TEST_CASE("a thousand transactions of two speakers are heard whole and in their order") {
  Client listener;
  Client speakers[2];
  listener.run("LISTEN news");
  for (int i = 0; i < 500; ++i) {
    for (int who = 0; who < 2; ++who) {
      const std::string payload = std::to_string(who) + " " + std::to_string(i);
      speakers[who].run(("NOTIFY news, '" + payload + "'").c_str());
    }
  }
  Strings all;
  while (all.size() < 1000) {
    const Strings more = listener.hears();
    if (more.empty()) break;
    all.insert(all.end(), more.begin(), more.end());
  }
  REQUIRE(all.size() == 1000);
  for (int i = 0; i < 1000; ++i) {
    CHECK(all[static_cast<std::size_t>(i)] ==
          "news:" + std::to_string(i % 2) + " " + std::to_string(i / 2));
  }
}

TEST_CASE("pg_terminate_backend ends a session that waits for its client") {
  Client victim;
  Client killer;
  SECTION("idle") {}
  SECTION("in a transaction") {
    victim.run("BEGIN");
  }
  killer.run(("SELECT pg_terminate_backend(" + std::to_string(victim.pid()) + ")").c_str());
  CHECK(killer.values == Strings{"t"});
  CHECK(victim.is_closed());
}

}  // namespace swizzle::clients

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "server/session/descriptor.h"
#include "server/subscriptions/testing/publisher_pair.h"

/// Statements on subscriptions that wait end when they are cancelled.
namespace swizzle::server {
namespace {

using testing::ask;
using testing::await_answer;
using testing::Client;
using testing::kAllReady;
using testing::kNothing;
using testing::Pair;

/// Lets clients connect, and never says a word.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_.get(), plain, size) == 0);
    REQUIRE(::listen(socket_.get(), 5) == 0);
    REQUIRE(::getsockname(socket_.get(), plain, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::string conninfo() const {
    return "host=127.0.0.1 port=" + std::to_string(port_) + " user=u dbname=d sslmode=disable";
  }

 private:
  Descriptor socket_;
  int port_ = 0;
};

/// Reads a slot of the publisher until it goes.
class Reader {
 public:
  Reader(const std::string& publisher, const std::string& slot)
      : session_(PQconnectdb((publisher + " replication=database").c_str())) {
    const std::string command = "START_REPLICATION SLOT " + slot +
                                " LOGICAL 0/0 (proto_version '1', publication_names 'p')";
    const std::unique_ptr<PGresult, testing::EndSession> answer{
        PQexec(session_.get(), command.c_str())};
    INFO(PQerrorMessage(session_.get()));
    REQUIRE(PQresultStatus(answer.get()) == PGRES_COPY_BOTH);
  }

 private:
  std::unique_ptr<PGconn, testing::EndSession> session_;
};

/// Checks that the statement ends soon after its timeout.
void check_times_out(const std::string& server, const std::string& statement) {
  INFO(statement);
  Client client{server};
  CHECK(client.ask("SET statement_timeout = '300ms'") == kNothing);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(
      client.ask(statement).starts_with("57014 ERROR:  canceling statement due to statement "
                                        "timeout"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
  CHECK(client.ask("SELECT 1") == "1");
}

}  // namespace

TEST_CASE("a statement does not wait longer for a silent publisher than it may",
          "[subscriptions]") {
  const Pair pair;
  const SilentServer silent;
  check_times_out(pair.subscriber,
                  "CREATE SUBSCRIPTION s CONNECTION '" + silent.conninfo() + "' PUBLICATION p");
  CHECK(ask(pair.subscriber, "SELECT count(*) FROM pg_subscription") == "0");
  CHECK(ask(pair.subscriber, "CREATE SUBSCRIPTION s CONNECTION '" + silent.conninfo() +
                                 "' PUBLICATION p WITH (connect = false)") == kNothing);
  CHECK(ask(pair.subscriber, "ALTER SUBSCRIPTION s ENABLE") == kNothing);
  check_times_out(pair.subscriber, "ALTER SUBSCRIPTION s REFRESH PUBLICATION");
  // Its worker waits as well, and is stopped at once.
  check_times_out(pair.subscriber, "DROP SUBSCRIPTION s");
  CHECK(ask(pair.subscriber,
            "ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = "
            "NONE); DROP SUBSCRIPTION s") == kNothing);
}

TEST_CASE("a subscription is not made while somebody has a table for himself", "[subscriptions]") {
  const Pair pair;
  pair.define("CREATE TABLE t (id int PRIMARY KEY)");
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t") == kNothing);
  Client holder{pair.subscriber};
  CHECK(holder.ask("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE") == kNothing);
  check_times_out(pair.subscriber,
                  "CREATE SUBSCRIPTION s CONNECTION '" + pair.publisher + "' PUBLICATION p");
  CHECK(ask(pair.subscriber, "SELECT count(*) FROM pg_subscription") == "0");
  CHECK(ask(pair.publisher, "SELECT count(*) FROM pg_replication_slots") == "0");
  CHECK(holder.ask("COMMIT") == kNothing);
  CHECK(pair.subscribe() == kNothing);
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
}

TEST_CASE("a server that stops smartly does not wait for those who read its changes",
          "[subscriptions]") {
  Pair pair;
  pair.define("CREATE TABLE t (id int PRIMARY KEY)");
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t") == kNothing);
  CHECK(pair.subscribe() == kNothing);
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  // One of its databases follows another one, too.
  CHECK(ask(pair.publisher, "CREATE DATABASE own") == kNothing);
  const std::string own = pair.publisher + " dbname=own";
  CHECK(ask(own, "CREATE TABLE t (id int PRIMARY KEY)") == kNothing);
  CHECK(ask(pair.publisher,
            "SELECT 1 FROM pg_create_logical_replication_slot('own', 'pgoutput')") == "1");
  CHECK(ask(own, "CREATE SUBSCRIPTION own CONNECTION '" + pair.publisher +
                     "' PUBLICATION p WITH (create_slot = false)") == kNothing);
  CHECK(await_answer(own, kAllReady, "t"));
  std::future<int> stop = std::async(std::launch::async, [&pair] {
    return pair.home.run({"stop", "-D", pair.home.data("publisher"), "--mode", "smart"},
                         "stop.log");
  });
  const bool has_ended = stop.wait_for(std::chrono::seconds{100}) == std::future_status::ready;
  CHECK(has_ended);
  if (!has_ended) pair.home.kill("publisher");
  CHECK(stop.get() == 0);
  if (has_ended) CHECK(pair.home.await_end("publisher") == 0);
  pair.start("publisher");
  CHECK(ask(pair.publisher, "INSERT INTO t VALUES (1)") == kNothing);
  CHECK(pair.agree("SELECT count(*) FROM t"));
  CHECK(await_answer(own, "SELECT count(*) FROM t", "1"));
}

TEST_CASE("a subscription whose slot is read by another is dropped later", "[subscriptions]") {
  const Pair pair;
  pair.define("CREATE TABLE t (id int PRIMARY KEY)");
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t") == kNothing);
  CHECK(pair.subscribe("enabled = false") == kNothing);
  {
    const Reader reader{pair.publisher, "s"};
    check_times_out(pair.subscriber, "DROP SUBSCRIPTION s");
    CHECK(ask(pair.subscriber, "SELECT count(*) FROM pg_subscription") == "1");
    // The publisher does not go on with it.
    CHECK(await_answer(pair.publisher,
                       "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender'",
                       "1"));
  }
  CHECK(await_answer(pair.publisher, "SELECT active FROM pg_replication_slots", "f"));
  CHECK(ask(pair.subscriber, "DROP SUBSCRIPTION s") == kNothing);
  CHECK(ask(pair.publisher, "SELECT count(*) FROM pg_replication_slots") == "0");
}

}  // namespace swizzle::server

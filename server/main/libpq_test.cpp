// The server as libpq sees it: TLS, channel binding, COPY, cancel, pipelines.

#include <libpq-fe.h>

#include <catch2/catch.hpp>
#include <memory>

#include "base/testing/free_port.h"
#include "server/session/testing/fiber_server.h"
#include "server/session/testing/tls_door.h"

namespace swizzle::server::testing {
namespace {

struct Release {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, Release>;
using Answer = std::unique_ptr<PGresult, Release>;

Connection over_tcp(const FiberServer& server, const std::string& more) {
  return Connection{PQconnectdb(("host=127.0.0.1 user=ann dbname=db connect_timeout=10 port=" +
                                 std::to_string(server.port()) + " " + more)
                                    .c_str())};
}

Connection over_unix(const FiberServer& server) {
  return Connection{PQconnectdb(
      ("host=" + server.directory() + " user=ann dbname=db port=" + std::to_string(server.port()))
          .c_str())};
}

TEST_CASE("libpq logs in with SCRAM, in the clear and bound to a TLS channel") {
  const FiberServer server{tls_door(), swizzle::testing::free_port()};
  const auto plain = over_tcp(server, "password=secret sslmode=disable");
  CHECK(PQstatus(plain.get()) == CONNECTION_OK);
  CHECK(PQsslInUse(plain.get()) == 0);
  const auto bound = over_tcp(server, "password=secret sslmode=require channel_binding=require");
  INFO(PQerrorMessage(bound.get()));
  REQUIRE(PQstatus(bound.get()) == CONNECTION_OK);
  CHECK(PQsslInUse(bound.get()) == 1);
  const auto wrong = over_tcp(server, "password=guess sslmode=require");
  CHECK(PQstatus(wrong.get()) == CONNECTION_BAD);

  // Many TLS records in both directions.
  const Answer rows{PQexec(bound.get(), "wide 3000")};
  CHECK(PQntuples(rows.get()) == 3000);
  const Answer start{PQexec(bound.get(), "copy in")};
  REQUIRE(PQresultStatus(start.get()) == PGRES_COPY_IN);
  const std::string piece(100'000, 'x');
  for (int i = 0; i < 20; ++i) {
    CHECK(PQputCopyData(bound.get(), piece.data(), static_cast<int>(piece.size())) == 1);
  }
  CHECK(PQputCopyEnd(bound.get(), nullptr) == 1);
  const Answer copied{PQgetResult(bound.get())};
  CHECK(std::string{PQcmdTuples(copied.get())} == "2000000");
}

TEST_CASE("libpq cancels") {
  const FiberServer server;
  const auto connection = over_unix(server);
  REQUIRE(PQsendQuery(connection.get(), "sleep") == 1);
  PGcancel* cancel = PQgetCancel(connection.get());
  char error[256];
  CHECK(PQcancel(cancel, error, sizeof error) == 1);
  PQfreeCancel(cancel);
  const Answer answer{PQgetResult(connection.get())};
  CHECK(std::string{PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE)} == "57014");
}

TEST_CASE("libpq's pipeline: an error aborts up to the next Sync") {
  const FiberServer server;
  const auto connection = over_unix(server);
  PGconn* raw = connection.get();
  REQUIRE(PQenterPipelineMode(raw) == 1);
  for (const char* sql : {"rows 1", "error", "rows 1"}) {
    CHECK(PQsendQueryParams(raw, sql, 0, nullptr, nullptr, nullptr, nullptr, 0) == 1);
  }
  CHECK(PQpipelineSync(raw) == 1);
  CHECK(PQsendQueryParams(raw, "rows 2", 0, nullptr, nullptr, nullptr, nullptr, 0) == 1);
  CHECK(PQpipelineSync(raw) == 1);
  const auto next = [&] {
    const Answer answer{PQgetResult(raw)};
    const ExecStatusType status = PQresultStatus(answer.get());
    if (status != PGRES_PIPELINE_SYNC) CHECK(PQgetResult(raw) == nullptr);
    return status;
  };
  CHECK(next() == PGRES_TUPLES_OK);
  CHECK(next() == PGRES_FATAL_ERROR);
  CHECK(next() == PGRES_PIPELINE_ABORTED);
  CHECK(next() == PGRES_PIPELINE_SYNC);
  CHECK(next() == PGRES_TUPLES_OK);
  CHECK(next() == PGRES_PIPELINE_SYNC);
}

}  // namespace
}  // namespace swizzle::server::testing

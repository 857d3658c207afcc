#include <libpq-fe.h>
#include <libpq/libpq-fs.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <pqxx/pqxx>
#include <sstream>
#include <string>

#include "clients/testing/swizzled_process.h"

/// Large objects through libpq, which calls their functions by the protocol's FunctionCall, and
/// through libpqxx.
namespace swizzle::clients {
namespace {

SwizzledProcess& server() {
  static SwizzledProcess process;
  return process;
}

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

Connection connect() {
  Connection connection{PQconnectdb(server().conninfo().c_str()), PQfinish};
  REQUIRE(PQstatus(connection.get()) == CONNECTION_OK);
  return connection;
}

/// Returns the SQLSTATE; empty for success.
std::string run(PGconn* connection, const char* sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQexec(connection, sql), PQclear};
  const char* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

std::string contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string many_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24U);
  }
  return bytes;
}

}  // namespace

TEST_CASE("libpq writes, moves in, reads and truncates a large object") {
  const Connection connection = connect();
  PGconn* const c = connection.get();
  run(c, "BEGIN");
  const auto oid = lo_creat(c, INV_READ | INV_WRITE);
  REQUIRE(oid != InvalidOid);
  const int opened = lo_open(c, oid, INV_READ | INV_WRITE);
  REQUIRE(opened == 0);
  const std::string bytes = many_bytes(100'000);
  CHECK(lo_write(c, opened, bytes.data(), bytes.size()) == 100'000);
  CHECK(lo_tell64(c, opened) == 100'000);
  CHECK(lo_lseek(c, opened, -10, SEEK_END) == 99'990);
  std::string piece(20, '?');
  CHECK(lo_read(c, opened, piece.data(), piece.size()) == 10);
  CHECK(piece.substr(0, 10) == bytes.substr(99'990));
  CHECK(lo_truncate64(c, opened, 5'000'000'000) == 0);
  CHECK(lo_lseek64(c, opened, 0, SEEK_END) == 5'000'000'000);
  CHECK(lo_truncate(c, opened, 7) == 0);
  CHECK(lo_lseek64(c, opened, 0, SEEK_SET) == 0);
  CHECK(lo_read(c, opened, piece.data(), piece.size()) == 7);
  CHECK(lo_close(c, opened) == 0);
  CHECK(run(c, "COMMIT").empty());
  CHECK(lo_unlink(c, oid) == 1);
}

TEST_CASE("libpq imports a file and exports it again, beside a kill of the server") {
  const std::string path = server().directory() + "/imported";
  const std::string bytes = many_bytes(3'000'001);
  std::ofstream{path, std::ios::binary} << bytes;
  auto oid = InvalidOid;
  {
    const Connection connection = connect();
    run(connection.get(), "BEGIN");
    oid = lo_import(connection.get(), path.c_str());
    REQUIRE(oid != InvalidOid);
    CHECK(run(connection.get(), "COMMIT").empty());
    run(connection.get(), "BEGIN");
    CHECK(lo_import_with_oid(connection.get(), path.c_str(), 4711) == 4711);
  }
  server().kill();
  server().start();
  const Connection connection = connect();
  run(connection.get(), "BEGIN");
  const std::string out = server().directory() + "/exported";
  CHECK(lo_export(connection.get(), oid, out.c_str()) == 1);
  CHECK(contents(out) == bytes);
  CHECK(lo_export(connection.get(), 4711, out.c_str()) == -1);
  CHECK(std::string{PQerrorMessage(connection.get())}.find("large object 4711 does not exist") !=
        std::string::npos);
  run(connection.get(), "ROLLBACK");
}

TEST_CASE("errors of FunctionCall are the server's, and the session goes on") {
  const Connection connection = connect();
  PGconn* const c = connection.get();
  int result = 0;
  int length = 0;
  const auto call = [&](int function, std::vector<PQArgBlock> arguments) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> done{
        PQfn(c, function, &result, &length, 1, arguments.data(),
             static_cast<int>(arguments.size())),
        PQclear};
    const char* const state = PQresultErrorField(done.get(), PG_DIAG_SQLSTATE);
    return std::string{state == nullptr ? "" : state};
  };
  const auto number = [](int value) {
    PQArgBlock block;
    block.len = 4;
    block.isint = 1;
    block.u.integer = value;
    return block;
  };
  constexpr int kAbsInt4 = 1397;
  constexpr int kCountAll = 2803;
  CHECK(call(kAbsInt4, {number(-5)}).empty());
  CHECK(result == 5);
  CHECK(call(kAbsInt4, {}) == "08P01");
  CHECK(call(kCountAll, {}) == "0A000");
  CHECK(call(1, {number(1)}) == "42883");
  CHECK(call(kAbsInt4, {number(INT32_MIN)}) == "22003");
  CHECK(run(c, "CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT 2 * n'").empty());
  const std::unique_ptr<PGresult, decltype(&PQclear)> found{
      PQexec(c, "SELECT 'twice'::regproc::oid"), PQclear};
  const int twice = std::stoi(PQgetvalue(found.get(), 0, 0));
  CHECK(call(twice, {number(21)}).empty());
  CHECK(result == 42);
  CHECK(run(c,
            "REVOKE EXECUTE ON FUNCTION twice FROM PUBLIC; CREATE ROLE stranger; "
            "SET ROLE stranger")
            .empty());
  CHECK(call(twice, {number(21)}) == "42501");
  CHECK(run(c, "RESET ROLE; BEGIN; SELECT 1 / 0") == "22012");
  CHECK(call(kAbsInt4, {number(-5)}) == "25P02");
  CHECK(run(c, "ROLLBACK").empty());
  CHECK(call(kAbsInt4, {number(-6)}).empty());
  CHECK(result == 6);
}

TEST_CASE("libpqxx streams to and from a large object") {
  pqxx::connection connection{server().conninfo()};
  const std::string text = many_bytes(50'000);
  pqxx::oid oid = 0;
  {
    pqxx::work work{connection};
    pqxx::largeobjectaccess object{work};
    oid = object.id();
    object.write(text.data(), static_cast<pqxx::largeobject::size_type>(text.size()));
    work.commit();
  }
  pqxx::work work{connection};
  pqxx::largeobjectaccess object{work, oid, std::ios::in};
  std::string back(60'000, '?');
  back.resize(static_cast<std::size_t>(
      object.read(back.data(), static_cast<pqxx::largeobject::size_type>(back.size()))));
  CHECK(back == text);
  object.remove(work);
  work.commit();
}

}  // namespace swizzle::clients

#include <catch2/catch.hpp>
#include <memory>
#include <pqxx/pqxx>

#include "clients/testing/swizzled_process.h"

/// Facts about connections, and what roles may see of other sessions and do to them.
namespace swizzle::clients {
namespace {

SwizzledProcess& server() {
  static SwizzledProcess process{SwizzledProcess::Access::password};
  return process;
}

std::string conninfo_of(const std::string& role) {
  return "host=127.0.0.1 port=" + std::to_string(server().port()) +
         " dbname=postgres user=" + role + " password='" + SwizzledProcess::kPassword + "'";
}
std::string value_of(pqxx::connection& connection, const std::string& query) {
  const pqxx::row row = pqxx::nontransaction{connection}.exec1(query);
  return row[0].is_null() ? "NULL" : row[0].c_str();
}
std::string refusal_of(pqxx::connection& connection, const std::string& statement) {
  try {
    pqxx::nontransaction{connection}.exec(statement);
  } catch (const pqxx::insufficient_privilege& error) {
    return error.what();
  }
  return "none";
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Creates two unrelated roles, and one that is a member of the first.
void make_roles(pqxx::connection& superuser) {
  pqxx::nontransaction work{superuser};
  if (!work.exec("SELECT FROM pg_roles WHERE rolname = 'ann'").empty()) return;
  for (const std::string role : {"ann", "bob", "cat"}) {
    work.exec("CREATE ROLE " + role + " LOGIN PASSWORD '" + SwizzledProcess::kPassword + "'");
  }
  work.exec("GRANT ann TO cat");
}

}  // namespace

TEST_CASE("a session over TCP knows both its ends") {
  pqxx::connection tcp{server().tcp_conninfo()};
  CHECK(value_of(tcp, "SELECT inet_client_addr()") == "127.0.0.1");
  CHECK(value_of(tcp, "SELECT inet_client_addr()::text") == "127.0.0.1/32");
  CHECK(value_of(tcp, "SELECT inet_server_addr()") == "127.0.0.1");
  CHECK(value_of(tcp, "SELECT inet_server_port()") == std::to_string(server().port()));
  const std::string port = value_of(tcp, "SELECT inet_client_port()");
  CHECK(std::stoi(port) > 1023);
  CHECK(value_of(tcp,
                 "SELECT client_addr = inet_client_addr() AND client_port = inet_client_port() "
                 "FROM pg_stat_activity WHERE pid = pg_backend_pid()") == "t");
}

TEST_CASE("a session over the unix socket has no addresses") {
  pqxx::connection local{server().conninfo()};
  for (const std::string function :
       {"inet_client_addr", "inet_client_port", "inet_server_addr", "inet_server_port"}) {
    CAPTURE(function);
    CHECK(value_of(local, "SELECT " + function + "()") == "NULL");
  }
  CHECK(value_of(local,
                 "SELECT client_addr IS NULL AND client_port = -1 FROM pg_stat_activity "
                 "WHERE pid = pg_backend_pid()") == "t");
}

TEST_CASE("what a session does is shown to its role and to superusers alone") {
  pqxx::connection superuser{server().conninfo()};
  make_roles(superuser);
  pqxx::connection ann{conninfo_of("ann")};
  pqxx::connection bob{conninfo_of("bob")};
  pqxx::connection cat{conninfo_of("cat")};
  CHECK(value_of(ann, "SELECT 'the secret of ann'") == "the secret of ann");
  const std::string query =
      "SELECT concat_ws('|', usename, query, state, client_addr, backend_type) FROM "
      "pg_stat_activity WHERE pid = " +
      std::to_string(ann.backendpid());
  const std::string all = "ann|SELECT 'the secret of ann'|idle|127.0.0.1|client backend";
  CHECK(value_of(bob, query) == "ann|<insufficient privilege>");
  CHECK(value_of(cat, query) == all);
  CHECK(value_of(superuser, query) == all);
  const std::string shapes =
      "SELECT count(*) FROM pg_stat_statements WHERE query <> '<insufficient privilege>'";
  CHECK(value_of(bob, shapes) == "0");
  CHECK(value_of(superuser, shapes) != "0");
}

TEST_CASE("sessions are cancelled and ended by their role and by superusers alone") {
  pqxx::connection superuser{server().conninfo()};
  make_roles(superuser);
  pqxx::connection ann{conninfo_of("ann")};
  pqxx::connection bob{conninfo_of("bob")};
  pqxx::connection cat{conninfo_of("cat")};
  const std::string of_ann = "(" + std::to_string(ann.backendpid()) + ")";
  const std::string of_superuser = "(" + std::to_string(superuser.backendpid()) + ")";

  CHECK(has(refusal_of(bob, "SELECT pg_cancel_backend" + of_ann),
            "ERROR:  permission denied to cancel query"));
  CHECK(has(refusal_of(bob, "SELECT pg_terminate_backend" + of_ann),
            "ERROR:  permission denied to terminate process"));
  CHECK(has(refusal_of(bob, "SELECT pg_cancel_backend" + of_superuser),
            "Only roles with the SUPERUSER attribute may cancel queries of roles with"));
  CHECK(has(refusal_of(bob, "SELECT pg_terminate_backend" + of_superuser),
            "Only roles with the SUPERUSER attribute may terminate processes of roles"));
  CHECK(has(refusal_of(bob, "SELECT pg_reload_conf()"),
            "ERROR:  permission denied for function pg_reload_conf"));
  CHECK(value_of(bob, "SELECT pg_cancel_backend(1)") == "f");

  CHECK(value_of(cat, "SELECT pg_cancel_backend" + of_ann) == "t");
  CHECK(value_of(superuser, "SELECT pg_terminate_backend" + of_ann) == "t");
  CHECK_THROWS_AS(value_of(ann, "SELECT 1"), pqxx::broken_connection);
}

TEST_CASE("members of predefined roles see and cancel what is not theirs") {
  pqxx::connection superuser{server().conninfo()};
  make_roles(superuser);
  const std::string password = SwizzledProcess::kPassword;
  pqxx::nontransaction{superuser}.exec("CREATE ROLE eve LOGIN PASSWORD '" + password +
                                       "'; GRANT pg_monitor, pg_signal_backend TO eve");
  pqxx::connection ann{conninfo_of("ann")};
  pqxx::connection eve{conninfo_of("eve")};
  CHECK(value_of(ann, "SELECT 'the secret of ann'") == "the secret of ann");
  const std::string pid = std::to_string(ann.backendpid());
  CHECK(value_of(eve, "SELECT query FROM pg_stat_activity WHERE pid = " + pid) ==
        "SELECT 'the secret of ann'");
  CHECK(value_of(eve, "SELECT pg_cancel_backend(" + pid + ")") == "t");
  CHECK(has(
      refusal_of(eve, "SELECT pg_cancel_backend(" + std::to_string(superuser.backendpid()) + ")"),
      "Only roles with the SUPERUSER attribute may cancel queries of roles with"));
  CHECK(has(refusal_of(ann, "CHECKPOINT"), "privileges of pg_checkpoint"));
}

TEST_CASE("a password ends when VALID UNTIL says so") {
  pqxx::connection superuser{server().conninfo()};
  const std::string password = SwizzledProcess::kPassword;
  pqxx::nontransaction work{superuser};
  work.exec("CREATE ROLE guest LOGIN PASSWORD '" + password + "' VALID UNTIL '2020-01-01'");
  CHECK_THROWS_WITH(pqxx::connection{conninfo_of("guest")},
                    Catch::Contains("password authentication failed"));
  work.exec("ALTER ROLE guest VALID UNTIL 'infinity'");
  CHECK(value_of(*std::make_unique<pqxx::connection>(conninfo_of("guest")), "SELECT 1") == "1");
  work.exec("ALTER ROLE guest VALID UNTIL '2100-01-01 00:00:00+02'");
  CHECK(value_of(*std::make_unique<pqxx::connection>(conninfo_of("guest")), "SELECT 1") == "1");
  CHECK_THROWS_AS(work.exec("ALTER ROLE guest VALID UNTIL 'some day'"), pqxx::sql_error);
}

TEST_CASE("DROP DATABASE … WITH (FORCE) ends the sessions that the asking role may end") {
  pqxx::connection superuser{server().tcp_conninfo()};
  make_roles(superuser);
  {
    pqxx::nontransaction work{superuser};
    work.exec("CREATE DATABASE crowded OWNER ann");
  }
  const auto enter = [](const std::string& role) {
    std::string info = conninfo_of(role);
    const std::string usual = "dbname=postgres";
    return std::make_unique<pqxx::connection>(
        info.replace(info.find(usual), usual.size(), "dbname=crowded"));
  };
  const auto idle = enter("ann");
  auto others = enter("bob");
  pqxx::connection ann{conninfo_of("ann")};
  const std::string refused = refusal_of(ann, "DROP DATABASE crowded WITH (FORCE)");
  CHECK(has(refused, "permission denied to terminate process"));
  CHECK(value_of(*idle, "SELECT 1") == "1");
  CHECK(value_of(*others, "SELECT 1") == "1");
  others.reset();
  pqxx::work open{*idle};
  open.exec("CREATE TABLE t (n int)");
  pqxx::nontransaction{ann}.exec("DROP DATABASE crowded WITH (FORCE)");
  CHECK_THROWS_AS(open.exec("SELECT 1"), pqxx::broken_connection);
  CHECK(value_of(superuser, "SELECT count(*) FROM pg_database WHERE datname = 'crowded'") == "0");
}

}  // namespace swizzle::clients

#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

/// Roles have no more rights than they were granted, and revoked rights are gone.
namespace swizzle::sql {
namespace {

std::unique_ptr<Session> log_in(TestDatabase& db, const std::string& role) {
  static std::int32_t pid = 1000;
  SessionOptions options;
  options.user = role;
  options.backend_pid = ++pid;
  auto session = db.database().connect(std::move(options));
  REQUIRE(session);
  return std::move(*session);
}

std::string refusal(TestDatabase& db, const std::string& role) {
  SessionOptions options;
  options.user = role;
  options.backend_pid = 900;
  const auto session = db.database().connect(std::move(options));
  if (session) return "in";
  return std::string{session.error().state.code()} + " " + session.error().message;
}

}  // namespace

TEST_CASE("CREATEROLE makes no superuser", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE boss LOGIN CREATEROLE; CREATE ROLE su2 SUPERUSER LOGIN;"
      "CREATE ROLE rep REPLICATION; CREATE ROLE plain; CREATE ROLE other");
  const auto boss = log_in(db, "boss");
  const auto run = [&](const std::string& sql) { return db.run(*boss, sql); };
  CHECK(run("CREATE ROLE evil LOGIN SUPERUSER") == "42501 must be superuser to create superusers");
  CHECK(run("CREATE USER evil REPLICATION") ==
        "42501 must be superuser to create replication users");
  CHECK(run("CREATE ROLE evil BYPASSRLS") == "42501 must be superuser to create bypassrls users");
  CHECK(run("CREATE ROLE evil LOGIN IN ROLE postgres") ==
        "42501 must be superuser to alter superusers");
  CHECK(run("CREATE ROLE evil LOGIN IN GROUP su2") ==
        "42501 must be superuser to alter superusers");
  CHECK(run("CREATE ROLE evil IN ROLE plain, su2") ==
        "42501 must be superuser to alter superusers");
  CHECK(run("CREATE ROLE evil IN ROLE pg_database_owner") ==
        "XX000 role \"pg_database_owner\" cannot have explicit members");
  CHECK(run("CREATE ROLE evil ROLE pg_database_owner") ==
        "XX000 role \"pg_database_owner\" cannot be a member of any role");
  CHECK(run("GRANT plain TO pg_database_owner") ==
        "XX000 role \"pg_database_owner\" cannot be a member of any role");
  CHECK(run("GRANT su2 TO boss") == "42501 must be superuser to alter superusers");
  CHECK(run("REVOKE su2 FROM boss") == "42501 must be superuser to alter superusers");
  CHECK(run("ALTER GROUP su2 ADD USER boss") ==
        "42501 must be superuser to alter superuser roles or change superuser attribute");
  CHECK(run("ALTER ROLE postgres RENAME TO nobody") ==
        "42501 must be superuser to rename superusers");
  CHECK(run("ALTER ROLE su2 RENAME TO nobody") == "42501 must be superuser to rename superusers");
  CHECK(run("ALTER ROLE su2 PASSWORD ''") ==
        "42501 must be superuser to alter superuser roles or change superuser attribute");
  CHECK(run("ALTER ROLE rep LOGIN") ==
        "42501 must be superuser to alter replication roles or change replication attribute");
  CHECK(run("ALTER ROLE plain REPLICATION") ==
        "42501 must be superuser to alter replication roles or change replication attribute");
  CHECK(run("ALTER ROLE plain BYPASSRLS") ==
        "42501 must be superuser to change bypassrls attribute");
  CHECK(run("ALTER ROLE plain SUPERUSER") ==
        "42501 must be superuser to alter superuser roles or change superuser attribute");
  CHECK(run("DROP ROLE su2") == "42501 must be superuser to drop superusers");
  // The remaining rights still work.
  CHECK(run("CREATE ROLE good IN ROLE plain ROLE other") == "CREATE ROLE");
  CHECK(run("SELECT pg_has_role('good', 'plain', 'member'), pg_has_role('other', 'good', "
            "'member')") == "t|t SELECT 1");
  CHECK(run("ALTER GROUP good DROP USER other") == "ALTER ROLE");
  CHECK(run("SELECT pg_has_role('other', 'good', 'member')") == "f SELECT 1");
  CHECK(run("ALTER GROUP good ADD USER other") == "ALTER ROLE");
  CHECK(run("ALTER ROLE good RENAME TO better") == "ALTER ROLE");
  CHECK(run("ALTER ROLE better RENAME TO other") == "42710 role \"other\" already exists");
}

TEST_CASE("a hash of MD5 does not become a password", "[sql][session][roles]") {
  TestDatabase db;
  CHECK(db.run("CREATE ROLE r PASSWORD 'md50123456789abcdef0123456789abcdef'") ==
        "0A000 passwords hashed with MD5 are not supported");
}

TEST_CASE("an open session loses what its role loses", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE su2 SUPERUSER LOGIN; CREATE ROLE keeper LOGIN CREATEROLE;"
      "CREATE ROLE ann; CREATE SEQUENCE s");
  const auto su2 = log_in(db, "su2");
  const auto keeper = log_in(db, "keeper");
  const auto run = [&](const std::string& sql) { return db.run(*su2, sql); };
  CHECK(run("SET deadlock_timeout = '2s'") == "SET");
  CHECK(run("ALTER ROLE su2 NOSUPERUSER") == "ALTER ROLE");
  CHECK(run("GRANT postgres TO su2") == "42501 must be superuser to alter superusers");
  CHECK(run("GRANT ann TO su2") == "42501 must have admin option on role \"ann\"");
  CHECK(run("ALTER SYSTEM SET work_mem = '8MB'") ==
        "42501 permission denied to set parameter \"work_mem\"");
  CHECK(run("SET deadlock_timeout = '3s'") ==
        "42501 permission denied to set parameter \"deadlock_timeout\"");
  CHECK(run("RESET deadlock_timeout") ==
        "42501 permission denied to set parameter \"deadlock_timeout\"");
  CHECK(run("SELECT set_config('deadlock_timeout', '3s', false)") ==
        "42501 permission denied to set parameter \"deadlock_timeout\"");
  CHECK(run("SELECT nextval('s')") == "42501 permission denied for sequence s");
  CHECK(run("SELECT pg_reload_conf()") == "42501 permission denied for function pg_reload_conf");
  CHECK(run("SELECT pg_stat_reset()") == "42501 permission denied for function pg_stat_reset");
  CHECK(run("SET ROLE postgres") == "42501 permission denied to set role \"postgres\"");
  CHECK(run("SET SESSION AUTHORIZATION postgres") ==
        "42501 permission denied to set session authorization");
  CHECK(run("SHOW is_superuser") == "off SHOW");
  CHECK(db.run(*keeper, "GRANT ann TO keeper") == "GRANT ROLE");
  CHECK(db.run("ALTER ROLE keeper NOCREATEROLE") == "ALTER ROLE");
  CHECK(db.run(*keeper, "REVOKE ann FROM keeper") ==
        "42501 must have admin option on role \"ann\"");
  // The converse: new rights take effect at once.
  CHECK(db.run("ALTER ROLE su2 SUPERUSER") == "ALTER ROLE");
  CHECK(run("SET deadlock_timeout = '3s'") == "SET");
}

TEST_CASE("a session is its role's number, not its name", "[sql][session][roles]") {
  TestDatabase db;
  db.run("CREATE ROLE ann LOGIN; CREATE ROLE bob; GRANT bob TO ann");
  const auto old = log_in(db, "ann");
  const auto run = [&](const std::string& sql) { return db.run(*old, sql); };
  CHECK(run("SET ROLE bob") == "SET");
  CHECK(db.run("DROP ROLE ann; CREATE ROLE ann SUPERUSER LOGIN") == "DROP ROLE CREATE ROLE");
  CHECK(db.run("ALTER ROLE bob RENAME TO bert; CREATE ROLE bob SUPERUSER") ==
        "ALTER ROLE CREATE ROLE");
  // Any SET makes the session determine its user again.
  CHECK(run("SET work_mem = '1MB'") == "SET");
  CHECK(run("SELECT current_user") == "bert SELECT 1");
  CHECK(run("CREATE ROLE evil") == "42501 permission denied to create role");
  CHECK(run("RESET ROLE") == "RESET");
  CHECK(run("SELECT current_user").starts_with("42704 invalid role OID"));
  CHECK(run("CREATE ROLE evil") == "42501 permission denied to create role");
  CHECK(run("SET ROLE bob") == "42501 permission denied to set role \"bob\"");
  CHECK(run("SET SESSION AUTHORIZATION postgres") ==
        "42501 permission denied to set session authorization");
  CHECK(run("SELECT 1") == "1 SELECT 1");
}

TEST_CASE("nothing is given to a role that one is no member of", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE ann LOGIN CREATEDB; CREATE ROLE bob;"
      "GRANT CREATE ON DATABASE postgres TO ann; GRANT CREATE ON SCHEMA public TO ann");
  db.run("CREATE DATABASE d OWNER ann");
  const auto ann = log_in(db, "ann");
  const auto run = [&](const std::string& sql) { return db.run(*ann, sql); };
  const std::string refused = "42501 must be member of role \"bob\"";
  CHECK(run("CREATE SCHEMA s AUTHORIZATION bob") == refused);
  CHECK(run("CREATE SCHEMA s") == "CREATE SCHEMA");
  CHECK(run("ALTER SCHEMA s OWNER TO bob") == refused);
  CHECK(run("ALTER SCHEMA s RENAME TO pg_s") == "42939 unacceptable schema name \"pg_s\"");
  CHECK(run("CREATE DATABASE e OWNER bob") == refused);
  CHECK(run("ALTER DATABASE d OWNER TO bob") == refused);
  CHECK(run("CREATE TABLE t (a int)") == "CREATE TABLE");
  CHECK(run("ALTER TABLE t OWNER TO bob") == refused);
  db.run("GRANT bob TO ann");
  CHECK(run("ALTER TABLE t OWNER TO bob") == "42501 permission denied for schema public");
  db.run("GRANT CREATE ON SCHEMA public TO bob");
  CHECK(run("ALTER TABLE t OWNER TO bob") == "ALTER TABLE");
  CHECK(run("ALTER SCHEMA s OWNER TO bob") == "ALTER SCHEMA");
  CHECK(run("ALTER DATABASE d OWNER TO bob") == "ALTER DATABASE");
}

TEST_CASE("roles and databases have as many connections as they are given",
          "[sql][session][roles]") {
  TestDatabase db;
  db.run("CREATE ROLE ann LOGIN CONNECTION LIMIT 1; CREATE ROLE bob LOGIN");
  auto first = log_in(db, "ann");
  CHECK(refusal(db, "ann") == "53300 too many connections for role \"ann\"");
  first.reset();
  CHECK(refusal(db, "ann") == "in");
  db.run("ALTER DATABASE postgres CONNECTION LIMIT 1");
  CHECK(refusal(db, "bob") == "53300 too many connections for database \"postgres\"");
  CHECK(refusal(db, "postgres") == "in");
  db.run("ALTER DATABASE postgres CONNECTION LIMIT -1");
  CHECK(refusal(db, "bob") == "in");
}

}  // namespace swizzle::sql

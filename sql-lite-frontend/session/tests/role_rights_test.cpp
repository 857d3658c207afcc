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
      "CREATE ROLE rep REPLICATION; CREATE ROLE plain; CREATE ROLE other;"
      "GRANT plain, rep TO boss WITH ADMIN OPTION");
  const auto boss = log_in(db, "boss");
  const auto run = [&](const std::string& sql) { return db.run(*boss, sql); };
  const std::string no_creation = "42501 permission denied to create role";
  const std::string no_change = "42501 permission denied to alter role";
  CHECK(run("CREATE ROLE evil LOGIN SUPERUSER") == no_creation);
  CHECK(run("CREATE USER evil REPLICATION") == no_creation);
  CHECK(run("CREATE ROLE evil BYPASSRLS") == no_creation);
  CHECK(run("CREATE ROLE evil CREATEDB") == no_creation);
  CHECK(run("CREATE ROLE evil LOGIN IN ROLE postgres") ==
        "42501 permission denied to grant role \"postgres\"");
  CHECK(run("CREATE ROLE evil IN ROLE plain, su2") ==
        "42501 permission denied to grant role \"su2\"");
  CHECK(run("CREATE ROLE evil IN ROLE pg_database_owner") ==
        "0A000 role \"pg_database_owner\" cannot have explicit members");
  CHECK(run("CREATE ROLE evil ROLE pg_database_owner") ==
        "0A000 role \"pg_database_owner\" cannot be a member of any role");
  CHECK(run("GRANT su2 TO boss") == "42501 permission denied to grant role \"su2\"");
  CHECK(run("REVOKE su2 FROM boss") == "42501 permission denied to revoke role \"su2\"");
  CHECK(run("ALTER ROLE postgres RENAME TO nobody") == "42501 permission denied to rename role");
  CHECK(run("ALTER ROLE su2 PASSWORD ''") == no_change);
  CHECK(run("ALTER ROLE rep LOGIN") == "ALTER ROLE");
  CHECK(run("ALTER ROLE plain REPLICATION") == no_change);
  CHECK(run("ALTER ROLE plain BYPASSRLS") == no_change);
  CHECK(run("ALTER ROLE plain SUPERUSER") == no_change);
  CHECK(run("DROP ROLE su2") == "42501 permission denied to drop role");
  // Others' roles are none of its business.
  CHECK(run("ALTER ROLE other LOGIN") == no_change);
  CHECK(run("ALTER ROLE other SET work_mem = '1MB'") == no_change);
  CHECK(run("DROP ROLE other") == "42501 permission denied to drop role");
  CHECK(run("ALTER ROLE other RENAME TO another") == "42501 permission denied to rename role");
  CHECK(run("GRANT other TO boss") == "42501 permission denied to grant role \"other\"");
  // The remaining rights still work.
  CHECK(run("CREATE ROLE good IN ROLE plain ROLE other") == "CREATE ROLE");
  CHECK(run("SELECT pg_has_role('good', 'plain', 'member'), pg_has_role('other', 'good', "
            "'member')") == "t|t SELECT 1");
  CHECK(run("ALTER GROUP good DROP USER other") == "ALTER ROLE");
  CHECK(run("SELECT pg_has_role('other', 'good', 'member')") == "f SELECT 1");
  CHECK(run("ALTER GROUP good ADD USER other") == "ALTER ROLE");
  CHECK(run("ALTER ROLE good RENAME TO better") == "ALTER ROLE");
  CHECK(run("ALTER ROLE better RENAME TO other") == "42710 role \"other\" already exists");
  // Its creator administers a role, without having its rights.
  CHECK(run("SELECT pg_has_role('boss', 'better', 'usage'), pg_has_role('boss', 'better', 'set'), "
            "pg_has_role('boss', 'better', 'member with admin option')") == "f|f|t SELECT 1");
  CHECK(run("SET ROLE better") == "42501 permission denied to set role \"better\"");
  CHECK(run("GRANT better TO boss") == "GRANT ROLE");
  CHECK(run("SET ROLE better") == "SET");
}

TEST_CASE("Options of a membership say what it gives", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE reader; CREATE ROLE ann LOGIN; CREATE TABLE t (a int);"
      "GRANT SELECT ON t TO reader; GRANT reader TO ann WITH INHERIT FALSE");
  const auto ann = log_in(db, "ann");
  const auto run = [&](const std::string& sql) { return db.run(*ann, sql); };
  CHECK(run("SELECT * FROM t") == "42501 permission denied for table t");
  CHECK(run("SET ROLE reader; SELECT * FROM t; RESET ROLE") == "SET SELECT 0 RESET");
  CHECK(db.run("GRANT reader TO ann WITH INHERIT TRUE, SET FALSE") == "GRANT ROLE");
  CHECK(run("SELECT * FROM t") == "SELECT 0");
  CHECK(run("SET ROLE reader") == "42501 permission denied to set role \"reader\"");
  CHECK(db.run("REVOKE INHERIT OPTION FOR reader FROM ann") == "REVOKE ROLE");
  CHECK(run("SELECT * FROM t") == "42501 permission denied for table t");
}

TEST_CASE("A membership goes with the ADMIN OPTION of its grantor", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE team; CREATE ROLE lead; CREATE ROLE ann; GRANT team TO lead WITH ADMIN OPTION;"
      "GRANT team TO ann GRANTED BY lead");
  CHECK(db.run("REVOKE ADMIN OPTION FOR team FROM lead").starts_with("2BP01"));
  CHECK(db.run("DROP ROLE lead").starts_with("2BP01"));
  CHECK(db.run("GRANT team TO lead WITH ADMIN FALSE").starts_with("2BP01"));
  CHECK(db.run("GRANT team TO ann; SELECT count(*) FROM pg_auth_members "
               "WHERE member = 'ann'::regrole") == "2 GRANT ROLE SELECT 1");
  CHECK(db.run("REVOKE team FROM lead CASCADE") == "REVOKE ROLE");
  CHECK(db.run("SELECT grantor::regrole FROM pg_auth_members WHERE member = 'ann'::regrole") ==
        "postgres SELECT 1");
  CHECK(db.run("DROP ROLE lead") == "DROP ROLE");
}

TEST_CASE("MAINTAIN lets a role tidy a table and nothing else", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE ann LOGIN; CREATE TABLE t (a int PRIMARY KEY); CREATE INDEX i ON t (a);"
      "CREATE MATERIALIZED VIEW mv AS SELECT 1 AS a");
  const auto ann = log_in(db, "ann");
  const auto run = [&](const std::string& sql) { return db.run(*ann, sql); };
  CHECK(run("REINDEX TABLE t") == "42501 permission denied for table t");
  CHECK(run("REINDEX INDEX i") == "42501 permission denied for index i");
  CHECK(run("REFRESH MATERIALIZED VIEW mv") == "42501 permission denied for materialized view mv");
  const bool by_role = GENERATE(true, false);
  db.run(by_role ? "GRANT pg_maintain TO ann" : "GRANT MAINTAIN ON t, mv TO ann");
  CHECK(run("REINDEX TABLE t") == "REINDEX");
  CHECK(run("REINDEX INDEX i") == "REINDEX");
  CHECK(run("VACUUM t") == "VACUUM");
  CHECK(run("ANALYZE t") == "ANALYZE");
  CHECK(run("REFRESH MATERIALIZED VIEW mv") == "REFRESH MATERIALIZED VIEW");
  CHECK(run("BEGIN; LOCK TABLE t; COMMIT") == "BEGIN LOCK TABLE COMMIT");
  CHECK(run("SELECT * FROM t") == "42501 permission denied for table t");
  CHECK(run("TRUNCATE t") == "42501 permission denied for table t");
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
  CHECK(run("GRANT postgres TO su2") == "42501 permission denied to grant role \"postgres\"");
  CHECK(run("GRANT ann TO su2") == "42501 permission denied to grant role \"ann\"");
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
  CHECK(db.run("GRANT ann TO keeper WITH ADMIN OPTION") == "GRANT ROLE");
  CHECK(db.run(*keeper, "ALTER ROLE ann LOGIN") == "ALTER ROLE");
  CHECK(db.run("ALTER ROLE keeper NOCREATEROLE") == "ALTER ROLE");
  CHECK(db.run(*keeper, "ALTER ROLE ann NOLOGIN") == "42501 permission denied to alter role");
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
  const std::string refused = "42501 must be able to SET ROLE \"bob\"";
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

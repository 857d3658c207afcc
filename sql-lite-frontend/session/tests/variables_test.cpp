#include <string>
#include <utility>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {

TEST_CASE("Each name of SET search_path is one schema, as it is written", "[sql][settings]") {
  TestDatabase db;
  db.run("CREATE SCHEMA \"Upper\"; CREATE SCHEMA \"a, b\"; CREATE SCHEMA \"q\"\"q\"");
  CHECK(db.run("SET search_path TO 'Upper'; SELECT current_schema()") == "Upper SET SELECT 1");
  CHECK(db.run("SHOW search_path") == "\"Upper\" SHOW");
  CHECK(db.run("SET search_path TO \"Upper\", public; SHOW search_path") ==
        "\"Upper\", public SET SHOW");
  CHECK(db.run("SET search_path TO 'a, b'; SELECT current_schema()") == "a, b SET SELECT 1");
  CHECK(db.run("SET search_path TO 'q\"q'; SELECT current_schema()") == "q\"q SET SELECT 1");
  CHECK(db.run("SET search_path TO UPPER; SELECT current_schema() IS NULL") == "t SET SELECT 1");
}

TEST_CASE("DateStyle takes PostgreSQL's words by their beginnings", "[sql][settings]") {
  TestDatabase db;
  CHECK(db.run("SET datestyle TO 'PostgreSQL, European'; SHOW datestyle") ==
        "Postgres, DMY SET SHOW");
  CHECK(db.run("SET datestyle TO 'Postgre'").starts_with("22023"));
}

TEST_CASE("A time zone that is a rule is shown in capitals", "[sql][settings]") {
  TestDatabase db;
  CHECK(db.run("SET timezone TO 'gmt-3'; SHOW timezone") == "GMT-3 SET SHOW");
  CHECK(db.run("SELECT '2005-01-01 12:00:00+00'::timestamptz") ==
        "2005-01-01 15:00:00+03 SELECT 1");
}

TEST_CASE("pg_shadow and pg_group have the roles; pg_shadow is for superusers", "[sql][settings]") {
  TestDatabase db;
  CHECK(db.run("CREATE USER ann; CREATE ROLE crowd; GRANT crowd TO ann") ==
        "CREATE ROLE CREATE ROLE GRANT ROLE");
  CHECK(db.run("SELECT usename, passwd FROM pg_shadow WHERE usename IN ('ann', 'crowd')") ==
        "ann|NULL SELECT 1");
  CHECK(db.run("ALTER ROLE ann PASSWORD 'SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy'") ==
        "ALTER ROLE");
  CHECK(db.run("SELECT passwd FROM pg_shadow WHERE usename = 'ann'") ==
        "SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy SELECT 1");
  CHECK(db.run("SELECT passwd FROM pg_user WHERE usename = 'ann'") == "******** SELECT 1");
  CHECK(db.run("SELECT groname, grolist[1] = 'ann'::regrole::oid FROM pg_group "
               "WHERE groname IN ('ann', 'crowd')") == "crowd|t SELECT 1");
  CHECK(db.run("SET ROLE ann") == "SET");
  CHECK(db.run("SELECT usename FROM pg_shadow").starts_with("42501"));
  CHECK(db.run("SELECT usename FROM pg_user WHERE usename = 'ann'") == "ann SELECT 1");
}

TEST_CASE("A setting without effect takes what is so anyway, and refuses the rest by name",
          "[sql][settings]") {
  TestDatabase db;
  const std::pair<const char*, const char*> settings[] = {
      {"lc_messages = 'C'", "lc_messages = 'de_DE'"},
      {"lc_time = 'POSIX'", "lc_time = 'en_US.utf8'"},
      {"default_tablespace = 'pg_default'", "default_tablespace = 'fast'"},
      {"default_table_access_method = heap", "default_table_access_method = columnar"},
      {"password_encryption = 'scram-sha-256'", "password_encryption = md5"},
      {"plan_cache_mode = force_generic_plan", "plan_cache_mode = force_custom_plan"},
      {"jit = off", "jit = on"},
      {"quote_all_identifiers = off", "quote_all_identifiers = on"}};
  for (const auto& [taken, refused] : settings) {
    INFO(taken << "; " << refused);
    CHECK(db.run(std::string{"SET "} + taken) == "SET");
    CHECK(db.run(std::string{"SET "} + refused).starts_with("0A000 setting \""));
  }
}

}  // namespace swizzle::sql

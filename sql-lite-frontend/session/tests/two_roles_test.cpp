#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/tests/test_database.h"

/// Every cache of permissions, or of plans whose rights were checked, is used as one role and then
/// as another in one session. corpus/scripts/two_roles_in_session.sql has PostgreSQL's answers.
namespace swizzle::sql {
namespace {

struct Pair {
  const char* what;
  const char* setup;     ///< run as alice
  const char* as_alice;  ///< run with her rights, in bob's session
  const char* as_bob;
  const char* refusal;
};

/// A trigger function on a table `w` of its own, into which a SECURITY DEFINER function inserts.
#define TRIGGER_READS(body)                                                   \
  "CREATE TABLE w(n int); GRANT INSERT ON w TO bob;"                          \
  "CREATE FUNCTION on_w() RETURNS trigger LANGUAGE plpgsql AS $$" body        \
  "$$;"                                                                       \
  "CREATE TRIGGER b BEFORE INSERT ON w FOR EACH ROW EXECUTE FUNCTION on_w();" \
  "CREATE FUNCTION put() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO w VALUES (0)'"

#define DEFINER_INSERTS                                                                         \
  "CREATE FUNCTION put() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO w VALUES (" \
  "0)'"

constexpr const char* kTable = "42501 permission denied for table secret";
constexpr const char* kFunction = "42501 permission denied for function hidden";

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> list{
      {"a trigger's statement",
       TRIGGER_READS("BEGIN SELECT count(*) INTO NEW.n FROM secret; RETURN NEW; END"),
       "SELECT put()", "INSERT INTO w VALUES (1)", kTable},
      {"a trigger's expression with a query",
       TRIGGER_READS("BEGIN NEW.n := (SELECT max(x) FROM secret); RETURN NEW; END"), "SELECT put()",
       "INSERT INTO w VALUES (1)", kTable},
      {"a trigger's expression with a function",
       TRIGGER_READS("BEGIN NEW.n := hidden(); RETURN NEW; END"), "SELECT put()",
       "INSERT INTO w VALUES (1)", kFunction},
      {"a trigger's loop",
       TRIGGER_READS("DECLARE r record; BEGIN FOR r IN SELECT x FROM secret LOOP NEW.n := r.x; END "
                     "LOOP; RETURN NEW; END"),
       "SELECT put()", "INSERT INTO w VALUES (1)", kTable},
      {"a trigger's cursor",
       TRIGGER_READS(
           "DECLARE c CURSOR FOR SELECT x FROM secret; BEGIN OPEN c; CLOSE c; RETURN NEW; "
           "END"),
       "SELECT put()", "INSERT INTO w VALUES (1)", kTable},
      {"a trigger's transition table",
       "CREATE TABLE w(n int); GRANT INSERT ON w TO bob;"
       "CREATE FUNCTION on_w() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM count(*) FROM "
       "made, secret; RETURN NULL; END$$;"
       "CREATE TRIGGER a AFTER INSERT ON w REFERENCING NEW TABLE AS made FOR EACH STATEMENT "
       "EXECUTE "
       "FUNCTION on_w();"
       "CREATE FUNCTION put() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO w VALUES "
       "(0)'",
       "SELECT put()", "INSERT INTO w VALUES (1)", kTable},
      {"a trigger of DELETE",
       "CREATE TABLE w(n int); INSERT INTO w VALUES (0), (1), (2), (3);"
       "GRANT SELECT, DELETE ON w TO bob;"
       "CREATE FUNCTION on_w() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN DELETE FROM secret "
       "WHERE "
       "x = -1; RETURN OLD; END$$;"
       "CREATE TRIGGER a AFTER DELETE ON w FOR EACH ROW EXECUTE FUNCTION on_w();"
       "CREATE FUNCTION put() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM w WHERE n "
       "= "
       "(SELECT min(n) FROM w)'",
       "SELECT put()", "DELETE FROM w WHERE n = 3", kTable},
      {"a trigger instead of a view",
       "CREATE VIEW w AS SELECT 1 AS n; GRANT INSERT ON w TO bob;"
       "CREATE FUNCTION on_w() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO secret "
       "VALUES "
       "(9); RETURN NEW; END$$;"
       "CREATE TRIGGER i INSTEAD OF INSERT ON w FOR EACH ROW EXECUTE FUNCTION on_w();"
       "CREATE FUNCTION put() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO w VALUES "
       "(0)'",
       "SELECT put()", "INSERT INTO w VALUES (1)", kTable},
      {"a trigger that a foreign key's action fires",
       "CREATE TABLE p(id int PRIMARY KEY); CREATE TABLE w(p int REFERENCES p ON DELETE CASCADE);"
       "INSERT INTO p VALUES (1), (2), (3); INSERT INTO w SELECT id FROM p;"
       "GRANT SELECT, DELETE ON p, w TO bob;"
       "CREATE FUNCTION on_w() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM * FROM secret; "
       "RETURN OLD; END$$;"
       "CREATE TRIGGER b BEFORE DELETE ON w FOR EACH ROW EXECUTE FUNCTION on_w()",
       "DELETE FROM p WHERE id = (SELECT min(id) FROM p)", "DELETE FROM w WHERE p = 3", kTable},
      {"a plan of a function in SQL",
       "CREATE FUNCTION reads() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM secret';"
       "CREATE FUNCTION put() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN RETURN "
       "reads(); END$$",
       "SELECT put()", "SELECT reads()", kTable},
      {"a plan of PL/pgSQL",
       "CREATE FUNCTION reads() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT count(*) "
       "FROM secret); END$$;"
       "CREATE FUNCTION put() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN RETURN "
       "reads(); END$$",
       "SELECT put()", "SELECT reads()", kTable},
      {"a prepared plan of a table",
       "CREATE FUNCTION put() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN EXECUTE "
       "'EXECUTE p'; END$$",
       "SELECT put()", "EXECUTE p", kTable},
      {"a prepared plan that calls a function",
       "CREATE FUNCTION put() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN EXECUTE "
       "'EXECUTE q'; END$$",
       "SELECT put()", "EXECUTE q", kFunction},
      {"a view of its invoker",
       "CREATE VIEW w WITH (security_invoker) AS SELECT * FROM secret; GRANT SELECT ON w TO bob;"
       "CREATE FUNCTION reads() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT count(*) "
       "FROM w); END$$;"
       "CREATE FUNCTION put() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN RETURN "
       "reads(); END$$",
       "SELECT put()", "SELECT reads()", kTable},
      {"a domain's check",
       "CREATE DOMAIN d AS int CHECK (value <> hidden());"
       "CREATE FUNCTION put() RETURNS d LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN RETURN 1::d; "
       "END$$",
       "SELECT put()", "SELECT 1::d", kFunction},
      {"a check of a table",
       "CREATE TABLE w(n int CHECK (n <> hidden())); GRANT INSERT ON w TO bob;"
       "CREATE FUNCTION put() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO w VALUES "
       "(0)'",
       "SELECT put()", "INSERT INTO w VALUES (1)", kFunction},
      {"a column's default",
       "CREATE TABLE w(n int, m int DEFAULT hidden()); GRANT INSERT ON w TO bob;"
       "CREATE FUNCTION put() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'INSERT INTO w VALUES "
       "(0)'",
       "SELECT put()", "INSERT INTO w VALUES (1)", kFunction},
      {"a trigger's condition",
       "CREATE TABLE w(n int); GRANT INSERT ON w TO bob;"
       "CREATE FUNCTION on_w() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$;"
       "CREATE TRIGGER b BEFORE INSERT ON w FOR EACH ROW WHEN (NEW.n <> hidden()) EXECUTE FUNCTION "
       "on_w();" DEFINER_INSERTS,
       "SELECT put()", "INSERT INTO w VALUES (1)", kFunction},
      {"a generated column",
       "ALTER FUNCTION hidden() IMMUTABLE; CREATE TABLE w(n int, g int GENERATED ALWAYS AS (n + "
       "hidden()) STORED); GRANT INSERT ON w TO bob;" DEFINER_INSERTS,
       "SELECT put()", "INSERT INTO w VALUES (1)", kFunction},
      {"an index's expression",
       "ALTER FUNCTION hidden() IMMUTABLE; CREATE TABLE w(n int); CREATE INDEX ON w((n + "
       "hidden())); GRANT INSERT ON w TO bob;" DEFINER_INSERTS,
       "SELECT put()", "INSERT INTO w VALUES (1)", kFunction},
      {"an index's condition",
       "ALTER FUNCTION hidden() IMMUTABLE; CREATE TABLE w(n int); CREATE INDEX ON w(n) WHERE n > "
       "hidden(); GRANT INSERT ON w TO bob;" DEFINER_INSERTS,
       "SELECT put()", "INSERT INTO w VALUES (1)", kFunction},
      {"a partition's key",
       "ALTER FUNCTION hidden() IMMUTABLE; CREATE TABLE w(n int) PARTITION BY RANGE ((n + "
       "hidden())); CREATE TABLE w1 PARTITION OF w DEFAULT; GRANT INSERT ON w TO "
       "bob;" DEFINER_INSERTS,
       "SELECT put()", "INSERT INTO w VALUES (1)", kFunction},
      {"a policy's condition",
       "CREATE TABLE w(n int); ALTER TABLE w ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
       "CREATE POLICY p ON w USING (n <> hidden()); GRANT SELECT ON w TO bob; CREATE FUNCTION "
       "reads() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT count(*) FROM w); END$$;"
       "CREATE FUNCTION put() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN RETURN "
       "reads(); END$$",
       "SELECT put()", "SELECT reads()", kFunction},
      {"an operator",
       "CREATE FUNCTION less(int, int) RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN $1 - $2; "
       "END$$; REVOKE EXECUTE ON FUNCTION less(int, int) FROM public; CREATE OPERATOR <-@ "
       "(FUNCTION = less, LEFTARG = int, RIGHTARG = int); CREATE FUNCTION reads() RETURNS int "
       "LANGUAGE plpgsql AS $$BEGIN RETURN 3 <-@ 1; END$$; CREATE FUNCTION put() RETURNS int "
       "LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN RETURN reads(); END$$",
       "SELECT put()", "SELECT reads()", "42501 permission denied for function less"},
      {"an aggregate",
       "CREATE AGGREGATE total(int) (SFUNC = int4pl, STYPE = int, INITCOND = '0');"
       "REVOKE EXECUTE ON FUNCTION total(int) FROM public; CREATE FUNCTION reads() RETURNS int "
       "LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT total(i) FROM generate_series(1, 3) i); END$$;"
       "CREATE FUNCTION put() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN RETURN "
       "reads(); END$$",
       "SELECT put()", "SELECT reads()", "42501 permission denied for aggregate total"},
      {"a trigger that MERGE fires",
       "CREATE TABLE w(n int); GRANT SELECT, INSERT ON w TO bob; CREATE FUNCTION on_w() RETURNS "
       "trigger LANGUAGE plpgsql AS $$BEGIN PERFORM * FROM secret; RETURN NEW; END$$; CREATE "
       "TRIGGER b BEFORE INSERT ON w FOR EACH ROW EXECUTE FUNCTION on_w(); CREATE FUNCTION put() "
       "RETURNS void LANGUAGE sql SECURITY DEFINER AS 'MERGE INTO w USING (SELECT 0 AS a) s ON "
       "false WHEN NOT MATCHED THEN INSERT VALUES (a)'",
       "SELECT put()",
       "MERGE INTO w USING (SELECT 0 AS a) s ON false WHEN NOT MATCHED THEN INSERT VALUES (a)",
       kTable},
  };
  return list;
}

#undef TRIGGER_READS
#undef DEFINER_INSERTS

}  // namespace

TEST_CASE("what one role may do says nothing about another in the same session",
          "[sql][session][roles][two_roles]") {
  for (const Pair& pair : pairs()) {
    INFO(pair.what);
    TestDatabase db;
    db.run(
        "CREATE ROLE alice; CREATE ROLE bob; GRANT CREATE ON SCHEMA public TO alice;"
        "SET SESSION AUTHORIZATION alice; CREATE TABLE secret(x int);"
        "INSERT INTO secret VALUES (1), (2);"
        "CREATE FUNCTION hidden() RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN 7; END$$;"
        "REVOKE EXECUTE ON FUNCTION hidden() FROM public");
    const std::string made = db.run(pair.setup);
    CHECK_FALSE((made.size() > 6 && made[5] == ' ' && std::isdigit(made[0]) != 0));
    db.run(
        "SET SESSION AUTHORIZATION bob; PREPARE p AS SELECT * FROM secret;"
        "PREPARE q AS SELECT hidden()");
    for (int round = 0; round < 2; ++round) {
      const std::string allowed = db.run(pair.as_alice);
      INFO(allowed);
      CHECK(allowed.find("42501") == std::string::npos);
      CHECK(db.run(pair.as_bob) == pair.refusal);
    }
  }
}

TEST_CASE("which rows a role sees says nothing about another in the same session",
          "[sql][session][roles][two_roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE alice; CREATE ROLE bob; GRANT CREATE ON SCHEMA public TO alice;"
      "SET SESSION AUTHORIZATION alice; CREATE TABLE notes(owner name);"
      "INSERT INTO notes VALUES ('alice'), ('alice'), ('bob');"
      "ALTER TABLE notes ENABLE ROW LEVEL SECURITY;"
      "CREATE POLICY own ON notes USING (owner = current_user); GRANT SELECT ON notes TO bob;"
      "CREATE FUNCTION counts() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT count(*) "
      "FROM notes); END$$;"
      "CREATE FUNCTION as_alice() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN "
      "RETURN counts(); END$$;"
      "CREATE FUNCTION executes() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN "
      "EXECUTE 'EXECUTE p'; END$$; SET SESSION AUTHORIZATION bob;"
      "PREPARE p AS SELECT count(*) FROM notes");
  for (int round = 0; round < 2; ++round) {
    CHECK(db.run("SELECT counts(), as_alice(), counts()") == "1|3|1 SELECT 1");
    CHECK(db.run("EXECUTE p") == "1 SELECT 1");
    CHECK(db.run("SELECT executes()") == " SELECT 1");
    CHECK(db.run("EXECUTE p") == "1 SELECT 1");
  }
}

}  // namespace swizzle::sql

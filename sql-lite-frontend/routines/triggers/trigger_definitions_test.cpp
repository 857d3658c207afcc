// Errors and tags of CREATE TRIGGER and similar statements, as in PostgreSQL 15, with a trigger
// language of this test.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

class IdleLanguage final : public RoutineLanguage {
 public:
  void check(StatementContext& /*session*/, const CallablePtr& /*callable*/) const override {}
  RoutineCodePtr prepare(StatementContext& /*session*/,
                         const RoutineCall& /*call*/) const override {
    return nullptr;
  }
  TriggerCodePtr prepare_trigger(StatementContext& /*session*/, const CallablePtr& /*callable*/,
                                 const TablePtr& /*table*/) const override {
    return nullptr;
  }
};

struct Definitions : TestDatabase {
  Definitions() {
    static const IdleLanguage language;
    add_language("idle", language);
    run("CREATE TABLE t (a int, b text, g int GENERATED ALWAYS AS (a + 1) STORED)");
    run("CREATE VIEW v AS SELECT a FROM t");
    run("CREATE FUNCTION tf() RETURNS trigger LANGUAGE idle AS ''");
    run("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'");
  }
  void trigger(const std::string& definition) {
    REQUIRE(run("CREATE TRIGGER " + definition) == "CREATE TRIGGER");
  }
};

}  // namespace

TEST_CASE_METHOD(Definitions, "CREATE TRIGGER refuses what PostgreSQL refuses", "[sql][triggers]") {
  trigger("taken BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf()");
  const std::pair<const char*, const char*> refused[] = {
      {"x BEFORE INSERT ON nope", "42P01 relation \"nope\" does not exist"},
      {"x INSTEAD OF INSERT ON t FOR EACH ROW", "42809 \"t\" is a table"},
      {"x BEFORE INSERT ON v FOR EACH ROW", "42809 \"v\" is a view"},
      {"x BEFORE TRUNCATE ON v", "42809 \"v\" is a view"},
      {"x INSTEAD OF INSERT ON v", "0A000 INSTEAD OF triggers must be FOR EACH ROW"},
      {"x INSTEAD OF INSERT ON v FOR EACH ROW WHEN (new.a > 1)",
       "0A000 INSTEAD OF triggers cannot have WHEN conditions"},
      {"x INSTEAD OF UPDATE OF a ON v FOR EACH ROW",
       "0A000 INSTEAD OF triggers cannot have column lists"},
      {"x BEFORE TRUNCATE ON t FOR EACH ROW",
       "0A000 TRUNCATE FOR EACH ROW triggers are not supported"},
      {"x BEFORE UPDATE OF nope ON t", "42703 column \"nope\" of relation \"t\" does not exist"},
      {"x BEFORE UPDATE OF a, a ON t", "42701 column \"a\" specified more than once"},
      {"x BEFORE INSERT ON t FOR EACH ROW WHEN (old.a > 1)",
       "42P17 INSERT trigger's WHEN condition cannot reference OLD values"},
      {"x BEFORE DELETE ON t FOR EACH ROW WHEN (new.a > 1)",
       "42P17 DELETE trigger's WHEN condition cannot reference NEW values"},
      {"x BEFORE DELETE ON t WHEN (old.a > 1)",
       "42P17 statement trigger's WHEN condition cannot reference column values"},
      {"x BEFORE INSERT ON t FOR EACH ROW WHEN (new.g > 1)",
       "42P17 BEFORE trigger's WHEN condition cannot reference NEW generated columns"},
      {"x BEFORE INSERT ON t FOR EACH ROW WHEN (a > 1)",
       "42702 column reference \"a\" is ambiguous"},
      {"x BEFORE INSERT ON t FOR EACH ROW WHEN (new.nope > 1)",
       "42703 column new.nope does not exist"},
      {"x BEFORE INSERT ON t FOR EACH ROW WHEN (new.a)",
       "42804 argument of WHEN must be type boolean, not type integer"},
      {"x BEFORE INSERT ON t FOR EACH ROW WHEN (EXISTS (SELECT 1))",
       "0A000 cannot use subquery in trigger WHEN condition"},
      {"x BEFORE INSERT ON t FOR EACH ROW WHEN (sum(new.a) > 1)",
       "42803 aggregate functions are not allowed in trigger WHEN conditions"},
      {"taken BEFORE INSERT ON t", "42710 trigger \"taken\" for relation \"t\" already exists"},
      {"x BEFORE INSERT ON pg_class", "42501 permission denied: \"pg_class\" is a system catalog"},
      {"x BEFORE INSERT ON t REFERENCING NEW TABLE AS n",
       "42P17 transition table name can only be specified for an AFTER trigger"},
      {"x AFTER INSERT ON t REFERENCING OLD TABLE AS n",
       "42P17 OLD TABLE can only be specified for a DELETE or UPDATE trigger"},
      {"x AFTER INSERT OR UPDATE ON t REFERENCING NEW TABLE AS n",
       "0A000 transition tables cannot be specified for triggers with more than one event"},
      {"x AFTER UPDATE ON t REFERENCING NEW ROW AS n",
       "0A000 ROW variable naming in the REFERENCING clause is not supported"},
  };
  for (const auto& [definition, answer] : refused) {
    INFO(definition);
    CHECK(run(std::string{"CREATE TRIGGER "} + definition + " EXECUTE FUNCTION tf()") == answer);
  }
  CHECK(run("CREATE TRIGGER x BEFORE INSERT ON t EXECUTE FUNCTION nope()") ==
        "42883 function nope() does not exist");
  CHECK(run("CREATE TRIGGER x BEFORE INSERT ON t EXECUTE FUNCTION f()") ==
        "42P17 function f must return type trigger");
  CHECK(run("SELECT tf()") == "0A000 trigger functions can only be called as triggers");
  CHECK(run("SELECT * FROM tf()") ==
        "42804 function \"tf\" in FROM has unsupported return type trigger");
  CHECK(run("CREATE FUNCTION s() RETURNS trigger LANGUAGE sql AS 'SELECT 1'") ==
        "42P13 SQL functions cannot return type trigger");
  CHECK(run("CREATE TABLE p (a trigger)") == "42P16 column \"a\" has pseudo-type trigger");
}

TEST_CASE_METHOD(Definitions, "Triggers are shown as they would be made", "[sql][triggers]") {
  const auto definition = [&](const std::string& name) {
    return run("SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = '" + name + "'");
  };
  trigger("x BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf(1, 'b', c, 2.5)");
  trigger(
      "w AFTER UPDATE ON t FOR EACH ROW WHEN (old.* IS DISTINCT FROM new.*) "
      "EXECUTE FUNCTION tf()");
  trigger(
      "w3 AFTER UPDATE ON t FOR EACH ROW WHEN (old.a <> new.a AND lower(new.b) = 'x') "
      "EXECUTE FUNCTION tf()");
  trigger("u AFTER UPDATE OF b ON t EXECUTE FUNCTION tf()");
  CHECK(run("SELECT tgtype, tgargs, tgattr FROM pg_trigger WHERE tgname = 'x'") ==
        "7|\\x310062006300322e3500| SELECT 1");
  CHECK(definition("x") ==
        "CREATE TRIGGER x BEFORE INSERT ON public.t FOR EACH ROW EXECUTE FUNCTION "
        "tf('1', 'b', 'c', '2.5') SELECT 1");
  CHECK(definition("w") ==
        "CREATE TRIGGER w AFTER UPDATE ON public.t FOR EACH ROW WHEN ((old.* IS DISTINCT FROM "
        "new.*)) EXECUTE FUNCTION tf() SELECT 1");
  CHECK(run("SELECT relhastriggers FROM pg_class WHERE relname = 't'") == "t SELECT 1");
  CHECK(run("SELECT trigger_name, event_manipulation, action_timing FROM "
            "information_schema.triggers WHERE trigger_name = 'x'") == "x|INSERT|BEFORE SELECT 1");
  run("ALTER TABLE t RENAME COLUMN b TO bb");
  CHECK(definition("w3") ==
        "CREATE TRIGGER w3 AFTER UPDATE ON public.t FOR EACH ROW WHEN (((old.a <> new.a) AND "
        "(lower(new.bb) = 'x'::text))) EXECUTE FUNCTION tf() SELECT 1");
  CHECK(definition("u") ==
        "CREATE TRIGGER u AFTER UPDATE OF bb ON public.t FOR EACH STATEMENT EXECUTE FUNCTION "
        "tf() SELECT 1");
}

TEST_CASE_METHOD(Definitions, "Triggers hold what they need, and go with it", "[sql][triggers]") {
  trigger("x BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tf()");
  trigger("w AFTER UPDATE ON t FOR EACH ROW WHEN (new.b = 'x') EXECUTE FUNCTION tf()");
  trigger("u AFTER UPDATE OF b ON t EXECUTE FUNCTION tf()");
  CHECK(run("DROP FUNCTION tf()") ==
        "2BP01 cannot drop function tf() because other objects depend on it");
  CHECK(run("ALTER TABLE t DROP COLUMN b") ==
        "2BP01 cannot drop column b of table t because other objects depend on it");
  CHECK(run("ALTER TABLE t ALTER COLUMN b TYPE varchar") ==
        "0A000 cannot alter type of a column used in a trigger definition");
  CHECK(run("DROP TRIGGER nope ON t") == "42704 trigger \"nope\" for table \"t\" does not exist");
  CHECK(run("DROP TRIGGER IF EXISTS nope ON t") == "DROP TRIGGER");
  CHECK(run("DROP TRIGGER IF EXISTS x ON nope") == "DROP TRIGGER");
  CHECK(run("DROP TRIGGER x ON nope") == "42P01 relation \"nope\" does not exist");
  CHECK(run("ALTER TRIGGER x ON t RENAME TO w") ==
        "42710 trigger \"w\" for relation \"t\" already exists");
  CHECK(run("ALTER TRIGGER x ON t RENAME TO z") == "ALTER TRIGGER");
  CHECK(run("ALTER TABLE t DISABLE TRIGGER x") ==
        "42704 trigger \"x\" for table \"t\" does not exist");
  CHECK(run("ALTER TABLE t ENABLE ALWAYS TRIGGER z") == "ALTER TABLE");
  CHECK(run("SELECT tgname, tgenabled FROM pg_trigger ORDER BY 1") == "u|O w|O z|A SELECT 3");
  CHECK(run("COMMENT ON TRIGGER nope ON t IS 'x'").starts_with("42704"));
  CHECK(run("ALTER TABLE t DROP COLUMN b CASCADE") == "ALTER TABLE");
  CHECK(run("SELECT tgname FROM pg_trigger") == "z SELECT 1");
  CHECK(run("DROP FUNCTION tf() CASCADE") == "DROP FUNCTION");
  CHECK(run("SELECT count(*) FROM pg_trigger") == "0 SELECT 1");
  run("CREATE ROLE somebody");
  run("CREATE FUNCTION tf() RETURNS trigger LANGUAGE idle AS ''");
  run("REVOKE EXECUTE ON FUNCTION tf() FROM PUBLIC");
  run("SET ROLE somebody");
  const char* const made = "CREATE TRIGGER x BEFORE INSERT ON t EXECUTE FUNCTION tf()";
  CHECK(run(made) == "42501 permission denied for table t");
  run("RESET ROLE");
  run("GRANT TRIGGER ON t TO somebody");
  run("SET ROLE somebody");
  CHECK(run(made) == "42501 permission denied for function tf");
  run("RESET ROLE");
  run("GRANT EXECUTE ON FUNCTION tf() TO somebody");
  run("SET ROLE somebody");
  CHECK(run(made) == "CREATE TRIGGER");
  CHECK(run("DROP TRIGGER x ON t") == "42501 must be owner of relation t");
  CHECK(run("COMMENT ON TRIGGER x ON t IS 'x'") == "42501 must be owner of relation t");
  CHECK(run("ALTER TRIGGER x ON t RENAME TO y") == "42501 must be owner of table t");
  run("RESET ROLE");
  CHECK(run("DROP TABLE t CASCADE") == "DROP TABLE");
}

// User-defined text search configurations and dictionaries, for what the corpus cannot test:
// restarts, other sessions, prepared statements, two-phase commit.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;
using Catch::Contains;
using Catch::StartsWith;

namespace {

class TwoPhaseTexts : public TestDatabase {
 public:
  void allow() {
    REQUIRE(database().shared().settings.set_at_start({"max_prepared_transactions", "5", "test"},
                                                      SettingSource::command_line));
  }
};

void make_configuration(TestDatabase& db) {
  CHECK(db.run("CREATE TEXT SEARCH DICTIONARY sparse (TEMPLATE = simple, Accept = false, "
               "StopWords = english)") == "CREATE TEXT SEARCH DICTIONARY");
  CHECK(db.run("CREATE TEXT SEARCH CONFIGURATION mine (COPY = simple)") ==
        "CREATE TEXT SEARCH CONFIGURATION");
  CHECK(db.run("ALTER TEXT SEARCH CONFIGURATION mine ALTER MAPPING FOR asciiword WITH sparse, "
               "english_stem") == "ALTER TEXT SEARCH CONFIGURATION");
}

}  // namespace

TEST_CASE("Text search objects and what is indexed by them are there after a restart",
          "[sql][session][made]") {
  TestDatabase db;
  make_configuration(db);
  db.run("COMMENT ON TEXT SEARCH CONFIGURATION mine IS 'of mine'");
  db.run("ALTER DATABASE postgres SET default_text_search_config = 'mine'");
  db.run(
      "CREATE TABLE t (id int PRIMARY KEY, body text, "
      "words tsvector GENERATED ALWAYS AS (to_tsvector('mine', body)) STORED)");
  db.run("CREATE INDEX t_words ON t USING gin (words)");
  db.run("CREATE INDEX t_body ON t USING gin (to_tsvector('mine', body))");
  db.close();
  db.open();
  CHECK(db.run("INSERT INTO t VALUES (1, 'the cats ran'), (2, 'dogs')") == "INSERT 0 2");
  CHECK(db.run("SELECT words FROM t WHERE id = 1") == "'cat':2 'ran':3 SELECT 1");
  CHECK(db.run("SELECT id FROM t WHERE to_tsvector('mine', body) @@ to_tsquery('mine', 'cats')") ==
        "1 SELECT 1");
  CHECK_THAT(db.run("EXPLAIN SELECT id FROM t WHERE to_tsvector('mine', body) @@ "
                    "to_tsquery('mine', 'cats')"),
             Contains("t_body"));
  CHECK(db.run("SELECT obj_description('mine'::regconfig, 'pg_ts_config')") == "of mine SELECT 1");
  CHECK_THAT(db.run("DROP TEXT SEARCH DICTIONARY sparse"), StartsWith("2BP01"));
  // The generated column's own index is dropped with it.
  CHECK(db.run("DROP TEXT SEARCH DICTIONARY sparse CASCADE") == "DROP TEXT SEARCH DICTIONARY");
  CHECK(db.run("SELECT count(*) FROM pg_index WHERE indrelid = 't'::regclass") == "1 SELECT 1");
  CHECK(db.run("INSERT INTO t VALUES (3, 'x')") == "INSERT 0 1");
  db.close();
  db.open();
  CHECK_THAT(db.run("SELECT 'mine'::regconfig"), StartsWith("42704"));
  CHECK(db.run("SELECT * FROM t WHERE id = 3") == "3|x SELECT 1");
}

TEST_CASE("What was prepared follows a configuration that is changed, renamed and dropped",
          "[sql][session][made]") {
  TestDatabase db;
  const auto other = db.connect();
  make_configuration(db);
  db.run("PREPARE p(text) AS SELECT to_tsvector('mine', $1), to_tsquery('mine', 'cats')");
  CHECK(db.run("EXECUTE p('the cats')") == "'cat':2|'cat' SELECT 1");
  db.run(*other,
         "ALTER TEXT SEARCH CONFIGURATION mine ALTER MAPPING REPLACE english_stem "
         "WITH simple");
  CHECK(db.run("EXECUTE p('the cats')") == "'cats':2|'cats' SELECT 1");
  db.run(*other, "ALTER TEXT SEARCH DICTIONARY sparse (StopWords)");
  CHECK(db.run("EXECUTE p('the cats')") == "'cats':2 'the':1|'cats' SELECT 1");
  db.run(*other, "ALTER TEXT SEARCH CONFIGURATION mine RENAME TO yours");
  CHECK(db.run("EXECUTE p('the cats')") == "'cats':2 'the':1|'cats' SELECT 1");
  db.run(*other, "ALTER TEXT SEARCH CONFIGURATION yours RENAME TO mine");
  CHECK(db.run("EXECUTE p('the cats')") == "'cats':2 'the':1|'cats' SELECT 1");
  db.run("SET default_text_search_config = 'mine'");
  db.run(*other, "DROP TEXT SEARCH CONFIGURATION mine");
  CHECK_THAT(db.run("SELECT to_tsvector('x')"),
             StartsWith("42704 text search configuration \"public.mine\" does not exist"));
  CHECK_THAT(db.run("EXECUTE p('the cats')"), StartsWith("42704"));
}

TEST_CASE("Two sessions change the mappings of one configuration, one after the other",
          "[sql][session][made]") {
  TestDatabase db;
  const auto other = db.connect();
  make_configuration(db);
  db.run("BEGIN");
  db.run("ALTER TEXT SEARCH CONFIGURATION mine DROP MAPPING FOR word");
  CHECK_THAT(db.run(*other, "SET lock_timeout = '20ms'"), StartsWith("SET"));
  CHECK_THAT(db.run(*other, "ALTER TEXT SEARCH CONFIGURATION mine DROP MAPPING FOR int"),
             StartsWith("55P03"));
  CHECK(db.run("COMMIT") == "COMMIT");
  CHECK(db.run(*other, "ALTER TEXT SEARCH CONFIGURATION mine DROP MAPPING FOR int") ==
        "ALTER TEXT SEARCH CONFIGURATION");
  CHECK(db.run("SELECT count(*) FROM pg_ts_config_map WHERE mapcfg = 'mine'::regconfig AND "
               "maptokentype IN (2, 21)") == "0 SELECT 1");
}

TEST_CASE("A configuration made by a prepared transaction is there once that commits",
          "[sql][session][made]") {
  TwoPhaseTexts db;
  db.allow();
  db.run("BEGIN");
  make_configuration(db);
  CHECK(db.run("PREPARE TRANSACTION 'two'") == "PREPARE TRANSACTION");
  CHECK_THAT(db.run("SELECT 'mine'::regconfig"), StartsWith("42704"));
  db.close();
  db.open();
  db.allow();
  CHECK(db.run("COMMIT PREPARED 'two'") == "COMMIT PREPARED");
  CHECK(db.run("SELECT to_tsvector('mine', 'the cats')") == "'cat':2 SELECT 1");
}

TEST_CASE("A view and a body keep the configuration that they named", "[sql][session][made]") {
  TestDatabase db;
  make_configuration(db);
  db.run("CREATE VIEW v AS SELECT to_tsvector('mine', 'the cats') AS words");
  db.run(
      "CREATE FUNCTION f() RETURNS tsvector LANGUAGE sql "
      "BEGIN ATOMIC SELECT to_tsvector('mine', 'the cats'); END");
  db.run("ALTER TEXT SEARCH CONFIGURATION mine RENAME TO yours");
  db.run("CREATE TEXT SEARCH CONFIGURATION mine (COPY = simple)");
  CHECK(db.run("SELECT words, f() FROM v") == "'cat':2|'cat':2 SELECT 1");
  CHECK_THAT(db.run("SELECT pg_get_viewdef('v'::regclass)"),
             Contains("to_tsvector('yours'::regconfig, '"));
  db.run(
      "CREATE VIEW w AS SELECT 'yours' AS yours, to_tsvector('yours'::regconfig, body) AS words "
      "FROM (VALUES ('the cats')) x(body) WHERE to_tsvector('yours', body) @@ 'cat'");
  CHECK(db.run("SET search_path = ''") == "SET");
  CHECK_THAT(db.run("SELECT pg_get_viewdef('public.w'::regclass)"),
             Contains("SELECT 'yours'::text AS yours") && Contains("'public.yours'::regconfig") &&
                 Contains("to_tsvector('public.yours'::regconfig, "));
  CHECK(db.run("RESET search_path") == "RESET");
  CHECK(db.run("DROP VIEW w") == "DROP VIEW");
  CHECK(db.run("DROP TEXT SEARCH CONFIGURATION mine") == "DROP TEXT SEARCH CONFIGURATION");
  CHECK_THAT(db.run("DROP TEXT SEARCH CONFIGURATION yours"), StartsWith("2BP01"));
  CHECK(db.run("SELECT count(*) FROM pg_depend WHERE refobjid = 'yours'::regconfig") ==
        "2 SELECT 1");
  CHECK(db.run("DROP TEXT SEARCH CONFIGURATION yours CASCADE") == "DROP TEXT SEARCH CONFIGURATION");
  CHECK_THAT(db.run("SELECT f()"), StartsWith("42883"));
}

TEST_CASE("Nobody drops what another session's definition has begun to name",
          "[sql][session][made]") {
  const std::vector<std::string> definitions{
      "CREATE INDEX ON t USING gin (to_tsvector('mine', body))",
      "CREATE INDEX ON t (body) WHERE to_tsvector('mine', body) @@ 'cat'",
      "ALTER TABLE t ADD CHECK (to_tsvector('mine', body) @@ 'cat')",
      "ALTER TABLE t ADD words tsvector GENERATED ALWAYS AS (to_tsvector('mine', body)) STORED",
      "ALTER TABLE t ADD words tsvector DEFAULT to_tsvector('mine', 'cats')",
      "CREATE VIEW v AS SELECT to_tsvector('mine', body) FROM t",
      "CREATE MATERIALIZED VIEW v AS SELECT to_tsvector('mine', body) FROM t",
      "CREATE FUNCTION f() RETURNS tsvector LANGUAGE sql BEGIN ATOMIC SELECT to_tsvector('mine', "
      "'cats'); END",
  };
  for (const std::string& definition : definitions) {
    INFO(definition);
    TestDatabase db;
    const auto other = db.connect();
    make_configuration(db);
    db.run("CREATE TABLE t (body text)");
    db.run(*other, "SET lock_timeout = '50ms'");
    CHECK_THAT(db.run("BEGIN; " + definition), StartsWith("BEGIN"));
    CHECK_THAT(db.run(*other, "DROP TEXT SEARCH CONFIGURATION mine"), StartsWith("55P03"));
    db.run("COMMIT");
    CHECK_THAT(db.run(*other, "DROP TEXT SEARCH CONFIGURATION mine"), StartsWith("2BP01"));
  }
}

TEST_CASE("A plan shows what a configuration is called", "[sql][session][made]") {
  TestDatabase db;
  make_configuration(db);
  db.run("CREATE TABLE t (body text)");
  CHECK_THAT(db.run("EXPLAIN SELECT * FROM t WHERE to_tsvector('mine', body) @@ 'cat'"),
             Contains("to_tsvector('mine'::regconfig, body)"));
}

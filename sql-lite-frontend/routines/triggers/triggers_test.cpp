// Firing of triggers, with a language of this test: a function's body is a list of commands.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "sql-lite-frontend/routines/language.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

std::string shown(std::span<const Value> row) {
  if (row.empty()) return "-";
  std::string text;
  for (const Value& value : row) {
    if (!text.empty()) text += ",";
    text += value.is_null() ? "null" : std::to_string(value.as_int8());
  }
  return text;
}

/// Commands: log (a row in table log names the trigger), add N (to the new row's second column),
/// key N (to its first), none (returns NULL), run SQL, fail.
class CommandCode final : public TriggerCode {
 public:
  explicit CommandCode(std::string body) : body_(std::move(body)) {}

  std::optional<std::span<const Value>> run(StatementContext& session, const TriggerCall& call,
                                            Arena& arena) override {
    const auto from = call.new_row.empty() ? call.old_row : call.new_row;
    const std::span<Value> row{arena.allocate_array<Value>(from.size()), from.size()};
    std::ranges::copy(from, row.begin());
    std::istringstream lines{body_};
    for (std::string line; std::getline(lines, line);) {
      if (line == "log") {
        log(session, call, arena);
      } else if (line == "none") {
        return std::nullopt;
      } else if (line == "fail") {
        throw SqlError{SqlState{"P0001"}, "a trigger fails"};
      } else if (line.starts_with("add ")) {
        row[1] = Value::from_int(row[1].as_int8() + std::stol(line.substr(4)));
      } else if (line.starts_with("key ")) {
        row[0] = Value::from_int(row[0].as_int8() + std::stol(line.substr(4)));
      } else {
        session.run_internal(line.substr(4), {}, {});
      }
    }
    return row;
  }

 private:
  static void log(StatementContext& session, const TriggerCall& call, Arena& arena) {
    constexpr std::string_view kTimes[] = {"before", "after", "instead"};
    constexpr std::string_view kEvents[] = {"insert", "update", "delete", "truncate"};
    std::string arguments;
    for (const std::string& argument : call.arguments) arguments += "'" + argument + "'";
    const std::string text = fmt::format(
        "{}{}:{}_{}:{}>{}", call.name, arguments, kTimes[static_cast<std::size_t>(call.time)],
        kEvents[static_cast<std::size_t>(call.event)], shown(call.old_row), shown(call.new_row));
    const TypeId type[] = {TypeId::text};
    const Value value[] = {Value::from_text(text).copy_to(arena)};
    session.run_internal("INSERT INTO public.log VALUES ($1)", type, value);
  }

  std::string body_;
};

class CommandLanguage final : public RoutineLanguage {
 public:
  void check(StatementContext& /*session*/, const CallablePtr& /*callable*/) const override {}
  RoutineCodePtr prepare(StatementContext& /*session*/,
                         const RoutineCall& /*call*/) const override {
    return nullptr;
  }
  TriggerCodePtr prepare_trigger(StatementContext& /*session*/, const CallablePtr& callable,
                                 const TablePtr& /*table*/) const override {
    return std::make_shared<CommandCode>(callable->routine->body);
  }
};

struct FiringTriggers : TestDatabase {
  FiringTriggers() {
    static const CommandLanguage language;
    add_language("commands", language);
    run("CREATE TABLE log (line text)");
    run("CREATE TABLE t (a int8 PRIMARY KEY, b int8)");
    function("logs", "log");
  }
  void function(const std::string& name, const std::string& body) {
    REQUIRE(run("CREATE OR REPLACE FUNCTION " + name + "() RETURNS trigger LANGUAGE commands AS '" +
                body + "'") == "CREATE FUNCTION");
  }
  void trigger(const std::string& definition) {
    REQUIRE(run("CREATE TRIGGER " + definition) == "CREATE TRIGGER");
  }
  /// Returns the log's lines since the last call, and deletes them.
  std::string logged() {
    std::string lines = run("SELECT coalesce(string_agg(line, ' '), '') FROM log");
    run("DELETE FROM log");
    return lines.substr(0, lines.rfind("SELECT") - 1);
  }
};

}  // namespace

TEST_CASE_METHOD(FiringTriggers, "Triggers fire in PostgreSQL's order", "[sql][triggers]") {
  for (const std::string time : {"BEFORE", "AFTER"}) {
    for (const std::string level : {"ROW", "STATEMENT"}) {
      for (const std::string name : {"y", "x"}) {
        trigger(fmt::format(
            "{}{}{} {} INSERT OR UPDATE OR DELETE ON t FOR EACH {} EXECUTE "
            "FUNCTION logs()",
            name, time[0] == 'B' ? 'b' : 'a', level[0] == 'R' ? 'r' : 's', time, level));
      }
    }
  }
  CHECK(run("INSERT INTO t VALUES (1, 10), (2, 20)") == "INSERT 0 2");
  CHECK(logged() ==
        "xbs:before_insert:->- ybs:before_insert:->- "
        "xbr:before_insert:->1,10 ybr:before_insert:->1,10 "
        "xbr:before_insert:->2,20 ybr:before_insert:->2,20 "
        "xar:after_insert:->1,10 yar:after_insert:->1,10 "
        "xar:after_insert:->2,20 yar:after_insert:->2,20 "
        "xas:after_insert:->- yas:after_insert:->-");
  CHECK(run("UPDATE t SET b = b + 1 WHERE a = 2") == "UPDATE 1");
  CHECK(logged() ==
        "xbs:before_update:->- ybs:before_update:->- "
        "xbr:before_update:2,20>2,21 ybr:before_update:2,20>2,21 "
        "xar:after_update:2,20>2,21 yar:after_update:2,20>2,21 "
        "xas:after_update:->- yas:after_update:->-");
  CHECK(run("DELETE FROM t WHERE a > 5") == "DELETE 0");
  CHECK(logged() ==
        "xbs:before_delete:->- ybs:before_delete:->- xas:after_delete:->- yas:after_delete:->-");
  CHECK(run("DELETE FROM t WHERE a = 1") == "DELETE 1");
  CHECK(logged() ==
        "xbs:before_delete:->- ybs:before_delete:->- "
        "xbr:before_delete:1,10>- ybr:before_delete:1,10>- "
        "xar:after_delete:1,10>- yar:after_delete:1,10>- "
        "xas:after_delete:->- yas:after_delete:->-");
}

TEST_CASE_METHOD(FiringTriggers, "A trigger before a row changes it or leaves it out",
                 "[sql][triggers]") {
  run("CREATE TABLE g (a int8 PRIMARY KEY, b int8 NOT NULL CHECK (b < 100), "
      "c int8 GENERATED ALWAYS AS (b * 2) STORED)");
  run("CREATE INDEX ON g (b)");
  function("adds", "add 5");
  function("leaves", "none");
  trigger("adds BEFORE INSERT OR UPDATE ON g FOR EACH ROW EXECUTE FUNCTION adds()");
  trigger(
      "leaves BEFORE INSERT OR UPDATE ON g FOR EACH ROW WHEN (new.b = 55) "
      "EXECUTE FUNCTION leaves()");
  CHECK(run("INSERT INTO g VALUES (1, 1), (2, 50), (3, 3) RETURNING a, b, c") ==
        "1|6|12 3|8|16 INSERT 0 2");
  CHECK(run("INSERT INTO g VALUES (4, 96)").starts_with("23514"));
  CHECK(run("UPDATE g SET a = a RETURNING *") == "1|11|22 3|13|26 UPDATE 2");
  CHECK(run("SELECT a FROM g WHERE b = 13") == "3 SELECT 1");
  CHECK(run("SELECT a FROM g WHERE b = 8") == "SELECT 0");
  CHECK(run("INSERT INTO g VALUES (1, 20) ON CONFLICT (a) DO UPDATE SET b = excluded.b") ==
        "INSERT 0 1");
  CHECK(run("SELECT * FROM g WHERE a = 1") == "1|30|60 SELECT 1");
  function("moves", "key 10");
  trigger("moves BEFORE UPDATE ON g FOR EACH ROW EXECUTE FUNCTION moves()");
  CHECK(run("UPDATE g SET b = 1 WHERE a = 3 RETURNING *") == "13|6|12 UPDATE 1");
  CHECK(run("SELECT a FROM g ORDER BY a") == "1 13 SELECT 2");
  trigger("stays BEFORE DELETE ON g FOR EACH ROW WHEN (old.a = 1) EXECUTE FUNCTION leaves()");
  CHECK(run("DELETE FROM g") == "DELETE 1");
  CHECK(run("SELECT a FROM g") == "1 SELECT 1");
}

TEST_CASE_METHOD(FiringTriggers, "UPDATE OF, WHEN and arguments choose", "[sql][triggers]") {
  run("INSERT INTO t VALUES (1, 1), (2, 2)");
  trigger("o AFTER UPDATE OF b ON t FOR EACH ROW EXECUTE FUNCTION logs(x, 'y', 3)");
  trigger("w AFTER UPDATE ON t FOR EACH ROW WHEN (old.b <> new.b) EXECUTE FUNCTION logs()");
  run("UPDATE t SET a = a + 10 WHERE a = 1");
  CHECK(logged().empty());
  run("UPDATE t SET b = b WHERE a = 2");
  CHECK(logged() == "o'x''y''3':after_update:2,2>2,2");
  run("UPDATE t SET b = 3 WHERE a = 2");
  CHECK(logged() == "o'x''y''3':after_update:2,2>2,3 w:after_update:2,2>2,3");
  run("ALTER TABLE t DISABLE TRIGGER o");
  run("UPDATE t SET b = 4 WHERE a = 2");
  CHECK(logged() == "w:after_update:2,3>2,4");
  run("ALTER TABLE t RENAME COLUMN b TO c");
  run("UPDATE t SET c = 5 WHERE a = 2");
  CHECK(logged() == "w:after_update:2,4>2,5");
  run("ALTER TABLE t DISABLE TRIGGER ALL");
  run("UPDATE t SET c = 6 WHERE a = 2");
  CHECK(logged().empty());
}

TEST_CASE_METHOD(FiringTriggers, "Actions of foreign keys fire triggers after the statement's own",
                 "[sql][triggers]") {
  run("CREATE TABLE c (a int8 PRIMARY KEY, t int8 REFERENCES t ON DELETE CASCADE)");
  run("INSERT INTO t VALUES (1, 1), (2, 2)");
  run("INSERT INTO c VALUES (10, 1), (11, 1), (20, 2)");
  trigger("p AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION logs()");
  trigger("ps AFTER DELETE ON t FOR EACH STATEMENT EXECUTE FUNCTION logs()");
  trigger("c AFTER DELETE ON c FOR EACH ROW EXECUTE FUNCTION logs()");
  trigger("cs AFTER DELETE ON c FOR EACH STATEMENT EXECUTE FUNCTION logs()");
  trigger("cb BEFORE DELETE ON c FOR EACH STATEMENT EXECUTE FUNCTION logs()");
  CHECK(run("DELETE FROM t") == "DELETE 2");
  CHECK(logged() ==
        "cb:before_delete:->- p:after_delete:1,1>- p:after_delete:2,2>- ps:after_delete:->- "
        "c:after_delete:10,1>- c:after_delete:11,1>- c:after_delete:20,2>- cs:after_delete:->-");
}

TEST_CASE_METHOD(FiringTriggers, "What fails in a trigger undoes the statement",
                 "[sql][triggers]") {
  function("fails", "run INSERT INTO log VALUES (1)\nfail");
  trigger("f AFTER INSERT ON t FOR EACH ROW WHEN (new.a = 3) EXECUTE FUNCTION fails()");
  CHECK(run("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)") == "P0001 a trigger fails");
  CHECK(run("SELECT count(*) FROM t") == "0 SELECT 1");
  CHECK(run("SELECT count(*) FROM log") == "0 SELECT 1");
  run("BEGIN");
  CHECK(run("INSERT INTO t VALUES (1, 1)") == "INSERT 0 1");
  run("SAVEPOINT s");
  CHECK(run("INSERT INTO t VALUES (2, 2), (3, 3)") == "P0001 a trigger fails");
  run("ROLLBACK TO s");
  CHECK(run("COMMIT") == "COMMIT");
  CHECK(run("SELECT a FROM t") == "1 SELECT 1");
}

TEST_CASE_METHOD(FiringTriggers, "A trigger writes the table that fires it", "[sql][triggers]") {
  function("again", "run INSERT INTO t SELECT max(a) + 1, 0 FROM t");
  trigger("again AFTER INSERT ON t FOR EACH ROW WHEN (new.a < 5) EXECUTE FUNCTION again()");
  CHECK(run("INSERT INTO t VALUES (1, 1)") == "INSERT 0 1");
  CHECK(run("SELECT count(*), max(a) FROM t") == "5|5 SELECT 1");
  run("DROP TRIGGER again ON t");
  trigger("endless AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION again()");
  CHECK(run("INSERT INTO t VALUES (100, 1)").starts_with("54001"));
  CHECK(run("SELECT count(*) FROM t") == "5 SELECT 1");
  run("DROP TRIGGER endless ON t");
  function("same", "run UPDATE t SET b = b + 1 WHERE a = 1");
  trigger(
      "same BEFORE UPDATE ON t FOR EACH ROW WHEN (pg_trigger_depth() = 0) "
      "EXECUTE FUNCTION same()");
  CHECK(run("SELECT pg_trigger_depth()") == "0 SELECT 1");
  CHECK(run("UPDATE t SET b = 7 WHERE a = 1") ==
        "27000 tuple to be updated was already modified by an operation triggered by the current "
        "command");
  CHECK(run("UPDATE t SET b = 7 WHERE a = 2") == "UPDATE 1");
}

TEST_CASE_METHOD(FiringTriggers, "Before a row a trigger sees the rows before it",
                 "[sql][triggers]") {
  function("counts", "run INSERT INTO log SELECT count(*) FROM t");
  trigger("counts BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION counts()");
  run("INSERT INTO t SELECT i, i FROM generate_series(1, 200) i");
  CHECK(run("SELECT max(line::int), count(*) FROM log") == "199|200 SELECT 1");
}

TEST_CASE_METHOD(FiringTriggers, "TRUNCATE fires its triggers", "[sql][triggers]") {
  run("INSERT INTO t VALUES (1, 1)");
  trigger("b BEFORE TRUNCATE ON t EXECUTE FUNCTION logs()");
  trigger("a AFTER TRUNCATE ON t EXECUTE FUNCTION logs()");
  CHECK(run("TRUNCATE t") == "TRUNCATE TABLE");
  CHECK(logged() == "b:before_truncate:->- a:after_truncate:->-");
}

TEST_CASE_METHOD(FiringTriggers, "Triggers survive a restart", "[sql][triggers]") {
  trigger("w AFTER UPDATE OF b ON t FOR EACH ROW WHEN (old.b <> new.b) EXECUTE FUNCTION logs('q')");
  run("COMMENT ON TRIGGER w ON t IS 'remarkable'");
  const std::string asked =
      "SELECT pg_get_triggerdef(oid), obj_description(oid, 'pg_trigger') FROM pg_trigger";
  const std::string before = run(asked);
  CHECK(before ==
        "CREATE TRIGGER w AFTER UPDATE OF b ON public.t FOR EACH ROW WHEN ((old.b <> new.b)) "
        "EXECUTE FUNCTION logs('q')|remarkable SELECT 1");
  close();
  open();
  CHECK(run(asked) == before);
  run("INSERT INTO t VALUES (1, 1)");
  run("UPDATE t SET b = 2");
  CHECK(logged() == "w'q':after_update:1,1>1,2");
}

TEST_CASE_METHOD(FiringTriggers, "A function in use is replaced by another session",
                 "[sql][triggers]") {
  const auto other = connect();
  trigger("x BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION logs()");
  CHECK(run("INSERT INTO t VALUES (1, 1)") == "INSERT 0 1");
  CHECK(run(*other,
            "CREATE OR REPLACE FUNCTION logs() RETURNS trigger LANGUAGE commands AS 'add 7'") ==
        "CREATE FUNCTION");
  CHECK(run("INSERT INTO t VALUES (2, 1)") == "INSERT 0 1");
  CHECK(run("SELECT b FROM t WHERE a = 2") == "8 SELECT 1");
}

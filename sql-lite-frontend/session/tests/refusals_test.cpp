#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <span>

#include "base/io/posix_file_system.h"
#include "sql-lite-frontend/query/parse/ast.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_sink.h"
#include "sql-lite-frontend/statement/object_types.h"
#include "storage/engine.h"

namespace swizzle::sql {
namespace {

/// Nodes of expressions or of FROM: each is bound, or refused by name (the table below).
constexpr std::string_view kExpressions[] = {
    "A_ArrayExpr",
    "A_Const",
    "A_Expr",
    "A_Indirection",
    "BoolExpr",
    "BooleanTest",
    "CaseExpr",
    "CoalesceExpr",
    "CollateClause",
    "ColumnRef",
    "FuncCall",
    "JoinExpr",
    "MinMaxExpr",
    "NullTest",
    "ParamRef",
    "RangeVar",
    "RowExpr",
    "RangeFunction",
    "RangeSubselect",
    "SQLValueFunction",
    "SetToDefault",
    "SubLink",
    "TypeCast",
    "CurrentOfExpr",
    "GroupingFunc",
    "NamedArgExpr",
    "XmlExpr",
    "XmlSerialize",
    "RangeTableSample",
    "RangeTableFunc",
    "MultiAssignRef",
    "MergeSupportFunc",
    "JsonArrayAgg",
    "JsonArrayConstructor",
    "JsonArrayQueryConstructor",
    "JsonFuncExpr",
    "JsonIsPredicate",
    "JsonObjectAgg",
    "JsonParseExpr",
    "JsonScalarExpr",
    "JsonObjectConstructor",
    "JsonTable",
    "JsonSerializeExpr",
};

/// Nodes that occur only inside others, whose reader checks each of their fields.
constexpr std::string_view kParts[] = {
    "A_Indices",
    "A_Star",
    "ATAlterConstraint",
    "AccessPriv",
    "Alias",
    "AlterTableCmd",
    "BitString",
    "Boolean",
    "CTECycleClause",
    "CTESearchClause",
    "CaseWhen",
    "ColumnDef",
    "CommonTableExpr",
    "Constraint",
    "CreateOpClassItem",
    "DefElem",
    "Float",
    "FunctionParameter",
    "GroupingSet",
    "IndexElem",
    "InferClause",
    "Integer",
    "IntoClause",
    "JsonAggConstructor",
    "JsonArgument",
    "JsonBehavior",
    "JsonFormat",
    "JsonKeyValue",
    "JsonOutput",
    "JsonReturning",
    "JsonTableColumn",
    "JsonTablePathSpec",
    "JsonValueExpr",
    "List",
    "LockingClause",
    "MergeWhenClause",
    "ObjectWithArgs",
    "OnConflictClause",
    "PartitionBoundSpec",
    "PartitionCmd",
    "PartitionElem",
    "PartitionRangeDatum",
    "PartitionSpec",
    "PublicationObjSpec",
    "PublicationTable",
    "RangeTableFuncCol",
    "ResTarget",
    "ReturningClause",
    "ReturningOption",
    "RoleSpec",
    "SortBy",
    "StatsElem",
    "String",
    "TableLikeClause",
    "TriggerTransition",
    "TypeName",
    "VacuumRelation",
    "WindowDef",
    "WithClause",
};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class Fixture {
 public:
  Fixture()
      : directory_(std::filesystem::temp_directory_path() /
                   ("swizzle-refusals-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(directory_);
    EngineOptions options;
    options.pool_bytes = std::uint64_t{64} << 20U;
    options.log_segment_bytes = std::uint64_t{1} << 20U;
    REQUIRE(Engine::create(files_, directory_, options));
    auto engine = Engine::open(files_, directory_, options);
    REQUIRE(engine);
    engine_ = std::move(*engine);
    auto database = Database::open(*engine_);
    REQUIRE(database);
    database_ = std::move(*database);
    auto session = database_->connect({});
    REQUIRE(session);
    session_ = std::move(*session);
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture() {
    session_.reset();
    database_.reset();
    CHECK(engine_->close());
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }
  std::string run(const std::string& sql) {
    TestSink sink;
    const Outcome outcome = session_->simple_query(sql, sink);
    if (outcome) return "done";
    return std::string{outcome.error().state.code()} + " " + outcome.error().message;
  }
  std::string hint(const std::string& sql) {
    TestSink sink;
    const Outcome outcome = session_->simple_query(sql, sink);
    return outcome ? "done" : outcome.error().hint;
  }

 private:
  std::filesystem::path directory_;
  PosixFileSystem files_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
};

}  // namespace

TEST_CASE("every node of the grammar is bound, or a part of another", "[sql][refusals]") {
  std::size_t nodes = 0;
  for (std::uint16_t number = 1; number <= ast::kLastNodeKind; ++number) {
    const auto kind = static_cast<ast::NodeKind>(number);
    const std::string_view name = ast::node_name(kind);
    // Statements: statement/statement_kinds_test.cpp.
    if (!ast::is_parsed(kind) || name.ends_with("Stmt")) continue;
    INFO(name);
    CHECK(contains(kExpressions, name) != contains(kParts, name));
    ++nodes;
  }
  CHECK(nodes > 70);
}

TEST_CASE("every kind of object has a name to be refused by", "[sql][refusals]") {
  const std::string_view nameless = object_type_name(static_cast<ast::ObjectType>(255));
  constexpr auto kLast = static_cast<std::uint8_t>(ast::ObjectType::view);
  for (std::uint8_t number = 1; number <= kLast; ++number) {
    const auto type = static_cast<ast::ObjectType>(number);
    // These occur only in PostgreSQL's catalog, never in a statement.
    if (type == ast::ObjectType::amop || type == ast::ObjectType::amproc ||
        type == ast::ObjectType::publication_namespace ||
        type == ast::ObjectType::publication_rel) {
      continue;
    }
    INFO(int{number});
    CHECK(object_type_name(type) != nameless);
  }
}

TEST_CASE_METHOD(Fixture, "what is not supported is refused by name", "[sql][refusals]") {
  REQUIRE(run("CREATE TABLE t (a int PRIMARY KEY, b text, c int[])") == "done");
  REQUIRE(run("CREATE TABLE named (a text PRIMARY KEY)") == "done");
  REQUIRE(run("CREATE VIEW v AS SELECT a FROM t") == "done");
  REQUIRE(run("CREATE TABLE p (a int PRIMARY KEY) PARTITION BY RANGE (a)") == "done");
  REQUIRE(run("CREATE TABLE p1 PARTITION OF p DEFAULT") == "done");
  const std::pair<std::string_view, std::string_view> refused[] = {
      {"CREATE FUNCTION f() RETURNS int LANGUAGE plperl AS 'x'", "language \"plperl\""},
      {"CREATE FUNCTION f() RETURNS int LANGUAGE sql WINDOW AS 'SELECT 1'", "WINDOW"},
      {"CREATE FUNCTION f(pg_class) RETURNS int LANGUAGE sql AS 'SELECT 1'", "row type"},
      {"CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'CREATE TABLE x (a int)'", "CREATE TABLE"},
      {"CREATE EXTENSION x", "extension \"x\""},
      {"CREATE RULE r AS ON INSERT TO t DO NOTHING", "CREATE RULE"},
      {"CREATE AGGREGATE s (int ORDER BY int) (sfunc = int4pl, stype = int)", "ordered-set"},
      {"CREATE STATISTICS s ON a, b FROM t", "CREATE STATISTICS"},
      {"ALTER EXTENSION plpgsql ADD TABLE t", "ALTER EXTENSION"},
      {"CREATE TABLE r (a int REFERENCES p)", "foreign keys that refer to partitioned tables"},
      {"CREATE TABLE i () INHERITS (pg_class)", "inheritance from a system catalog"},
      {"CREATE TEMP TABLE i () INHERITS (t)", "temporary table that inherits"},
      {"ALTER TABLE t CLUSTER ON i", "CLUSTER ON"},
      {"ALTER SYSTEM SET work_mem = '1MB'", "ALTER SYSTEM"},
      {"LOAD 'x'", "LOAD"},
      {"CLUSTER t", "CLUSTER"},
      {"ALTER FUNCTION lower(text) STABLE", "built-in function"},
      {"SELECT rank(a) WITHIN GROUP (ORDER BY a) FROM t", "direct argument"},
      {"SELECT mode() WITHIN GROUP (ORDER BY a), percentile_disc(a) WITHIN GROUP (ORDER BY b) FROM "
       "t",
       "direct argument"},
      {"SELECT ctid FROM pg_class", "system column \"ctid\""},
      {"DELETE FROM named WHERE ctid = '(0,1)'", "a ctid that this transaction has not read"},
      {"CREATE EXTENSION IF NOT EXISTS earthdistance", "extension \"earthdistance\""},
      {"SELECT sum(a) OVER (ORDER BY a::text RANGE 1 PRECEDING) FROM t", "RANGE with offset"},
      {"CREATE DATABASE x LOCALE 'de_DE.UTF-8'", "de_DE.UTF-8"},
      {"GRANT EXECUTE ON FUNCTION lower(text) TO PUBLIC", "built-in function"},
      {"INSERT INTO v VALUES (1) ON CONFLICT DO NOTHING", "ON CONFLICT on a view"},
      {"DELETE FROM t USING t o WHERE CURRENT OF x", "WHERE CURRENT OF"},
      {"CREATE INDEX ON t USING spgist (c)", "spgist"},
  };
  for (const auto& [sql, name] : refused) {
    const std::string answer = run(std::string{sql});
    INFO(sql);
    CHECK_THAT(answer, Catch::StartsWith("0A000 "));
    CHECK_THAT(answer, Catch::Contains(std::string{name}));
  }
}

TEST_CASE_METHOD(Fixture, "a refusal names the object, and what to do instead", "[sql][refusals]") {
  REQUIRE(run("CREATE TABLE t (a int PRIMARY KEY)") == "done");
  const auto refused = [&](const std::string& sql) {
    const std::string answer = run(sql);
    return answer.starts_with("0A000 ") ? answer.substr(6) : answer;
  };
  CHECK(refused("CREATE RULE r AS ON INSERT TO t DO NOTHING") == "CREATE RULE r is not supported");
  CHECK(refused("CREATE STATISTICS s.pair ON a, b FROM t") ==
        "CREATE STATISTICS s.pair is not supported");
  CHECK(refused("CREATE FOREIGN DATA WRAPPER w") ==
        "CREATE FOREIGN DATA WRAPPER w is not supported");
  CHECK(refused("CREATE SERVER s FOREIGN DATA WRAPPER w") == "CREATE SERVER s is not supported");
  CHECK(refused("CREATE FOREIGN TABLE s.f (a int) SERVER w") ==
        "CREATE FOREIGN TABLE s.f is not supported");
  CHECK(refused("CREATE TABLESPACE fast LOCATION '/fast'") ==
        "CREATE TABLESPACE fast is not supported");
  CHECK(refused("CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p") ==
        "connecting to a publisher needs a server");
  const auto with = [&](const std::string& option) {
    return refused("CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p WITH (" + option + ")");
  };
  CHECK(with("failover") ==
        "subscription parameter \"failover\" with the value \"true\" is not supported");
  for (const std::string option : {"binary", "two_phase", "streaming = parallel", "origin = none"})
    CHECK(with(option) == "connecting to a publisher needs a server");
  CHECK(refused("CREATE ACCESS METHOD m TYPE INDEX HANDLER h") ==
        "CREATE ACCESS METHOD m is not supported");
  CHECK(refused("CREATE OPERATOR CLASS c FOR TYPE int USING btree AS OPERATOR 1 <") ==
        "CREATE OPERATOR CLASS c is not supported");
  CHECK(refused("LOAD 'auto_explain'") == "LOAD auto_explain is not supported");
  CHECK(refused("CLUSTER t") == "CLUSTER t is not supported");
  CHECK(refused("CLUSTER") == "CLUSTER is not supported");

  CHECK(hint("CREATE RULE r AS ON INSERT TO t DO NOTHING") ==
        "Use a trigger; on a view, an INSTEAD OF trigger.");
  CHECK(hint("CLUSTER t") == "A table's rows lie in the order of its primary key already.");
}

TEST_CASE_METHOD(Fixture, "what PostgreSQL 15's grammar does not take is refused by name",
                 "[sql][refusals]") {
  REQUIRE(run("CREATE TABLE t (a int PRIMARY KEY, b text)") == "done");
  const std::pair<std::string_view, std::string_view> refused[] = {
      {"CREATE TABLE n (a int4range, b int4range, "
       "UNIQUE NULLS NOT DISTINCT (a, b WITHOUT OVERLAPS))",
       "NULLS NOT DISTINCT"},
      {"EXPLAIN (MEMORY) SELECT 1", "memory"},
      {"SELECT XMLSERIALIZE(DOCUMENT '<a/>' AS text INDENT)", "INDENT"},
      {"SELECT 0x1FFFFFFFFFFFFFFFFF", "not decimal"},
      {"ANALYZE ONLY t", "ONLY"},
  };
  for (const auto& [sql, name] : refused) {
    INFO(sql);
    const std::string answer = run(std::string{sql});
    CHECK(answer.starts_with("0A000"));
    CHECK(answer.contains(name));
  }
}

TEST_CASE_METHOD(Fixture, "a function that is not there needs no dropping", "[sql][refusals]") {
  CHECK(run("DROP FUNCTION IF EXISTS mine(int, text), mine") == "done");
  CHECK(run("DROP PROCEDURE IF EXISTS s.mine()") == "done");
  CHECK(run("DROP FUNCTION mine()") == "42883 function mine() does not exist");
  CHECK(run("DROP FUNCTION IF EXISTS lower(text)") ==
        "2BP01 cannot drop function lower(text) because it is required by the database system");
  CHECK(run("DROP FUNCTION IF EXISTS mine(), lo_creat(int)") ==
        "2BP01 cannot drop function lo_creat(integer) because it is required by the database "
        "system");
}

TEST_CASE_METHOD(Fixture, "a setting without effect keeps its default", "[sql][refusals]") {
  CHECK(run("SET standard_conforming_strings = off") ==
        "0A000 setting \"standard_conforming_strings\" to \"off\" is not supported");
  CHECK_FALSE(run("SET standard_conforming_strings = on").starts_with("0A000"));
  CHECK_FALSE(run("RESET standard_conforming_strings").starts_with("0A000"));
  CHECK(run("SET transform_null_equals = on").starts_with("0A000"));
  for (const std::string name :
       {"enable_seqscan", "enable_indexscan", "enable_hashjoin", "enable_bitmapscan"}) {
    CHECK_FALSE(run("SET " + name + " = off").starts_with("0A000"));
  }
}

}  // namespace swizzle::sql

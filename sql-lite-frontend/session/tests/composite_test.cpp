// Composite types, for what the corpus cannot test: binary format, restarts and other sessions.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr TypeId kPair{kFirstComposite + 1};

/// Knows one type: (int4, text).
class OneType final : public ObjectNames {
 public:
  std::optional<std::uint32_t> find(TypeId, std::string_view) override { return std::nullopt; }
  std::optional<std::string> name_of(TypeId, std::uint32_t) override { return std::nullopt; }
  const EnumLabels* enum_labels(TypeId) override { return nullptr; }
  std::shared_ptr<const RowShape> row_shape(TypeId type) override {
    return type == kPair
               ? std::make_shared<RowShape>(
                     RowShape{{"a", "b"}, {TypeId::int4, TypeId::text}, {kNoTypmod, kNoTypmod}, {}})
               : nullptr;
  }
};

}  // namespace

TEST_CASE("A composite value's binary form is read back, and cut short anywhere is an error",
          "[sql][session][composites]") {
  Arena arena;
  SessionContext session;
  OneType names;
  session.names = &names;
  FunctionContext context{arena, session, {}};
  const Value pair = input_text(context, kPair, kNoTypmod, "(7,\"a,\"\"b\")");
  std::string bytes;
  send_binary(context, kPair, pair, bytes);
  const Value back = receive_binary(context, kPair, kNoTypmod, as_bytes(bytes));
  CHECK(to_text(context, kPair, back) == "(7,\"a,\"\"b\")");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("bytes: " << size);
    CHECK_THROWS_AS(receive_binary(context, kPair, kNoTypmod, as_bytes(bytes).first(size)),
                    SqlError);
  }
  CHECK_THROWS_AS(receive_binary(context, kPair, kNoTypmod, as_bytes(bytes + "x")), SqlError);
  // A wrong number of columns, and a wrong type.
  std::string wrong = bytes;
  wrong[3] = 3;
  CHECK_THROWS_AS(receive_binary(context, kPair, kNoTypmod, as_bytes(wrong)), SqlError);
  wrong = bytes;
  wrong[7] = 20;
  CHECK_THROWS_AS(receive_binary(context, kPair, kNoTypmod, as_bytes(wrong)), SqlError);
}

TEST_CASE("Composite types, their values and what names them survive a restart",
          "[sql][session][composites]") {
  TestDatabase db;
  db.run("CREATE DOMAIN positive AS int CHECK (VALUE > 0)");
  db.run(
      "CREATE TYPE pair AS (a positive, b varchar(3)); CREATE TYPE outside AS (p pair, l pair[])");
  db.run("CREATE TABLE t(id int PRIMARY KEY, p pair DEFAULT ROW(1, 'def'), o outside, l pair[])");
  db.run(
      "CREATE INDEX ON t(((p).a)); CREATE VIEW v AS SELECT (p).b, ROW(2, 'v')::pair AS w FROM t");
  db.run("INSERT INTO t VALUES (1, ROW(5, 'x'), ROW(ROW(6, 'y'), '{\"(7,z)\"}'), '{\"(8,q)\"}')");
  db.run("INSERT INTO t(id) VALUES (2)");
  db.close();
  db.open();
  CHECK(db.run("SELECT * FROM t ORDER BY id") ==
        "1|(5,x)|(\"(6,y)\",\"{\"\"(7,z)\"\"}\")|{\"(8,q)\"} 2|(1,def)|NULL|NULL SELECT 2");
  CHECK(db.run("SELECT (o).l[1].b, ((o).p).a, l[1] FROM t WHERE (p).a = 5") ==
        "z|6|(8,q) SELECT 1");
  CHECK(db.run("SELECT * FROM v ORDER BY 1") == "def|(2,v) x|(2,v) SELECT 2");
  CHECK(db.run("INSERT INTO t VALUES (3, '(0,x)')").starts_with("23514"));
  CHECK(db.run("INSERT INTO t VALUES (3, '(1,xxxx)')").starts_with("22001"));
  CHECK(db.run("UPDATE t SET p.a = 9 WHERE id = 2 RETURNING p") == "(9,def) UPDATE 1");
}

TEST_CASE("Nobody changes a composite type that another session gives to a column",
          "[sql][session][composites]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TYPE pair AS (a int, b text)");
  db.run("BEGIN; CREATE TABLE t(p pair[])");
  db.run(*other, "SET lock_timeout = '50ms'");
  CHECK(db.run(*other, "ALTER TYPE pair ADD ATTRIBUTE c int").starts_with("55P03"));
  CHECK(db.run(*other, "DROP TYPE pair").starts_with("55P03"));
  db.run("COMMIT");
  CHECK(db.run(*other, "ALTER TYPE pair ADD ATTRIBUTE c int") == "ALTER TYPE");
  CHECK(db.run(*other, "DROP TYPE pair").starts_with("2BP01"));
}

TEST_CASE("What ALTER TYPE says holds for statements that were prepared before",
          "[sql][session][composites]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TYPE pair AS (a int, b text)");
  db.run("PREPARE p AS SELECT (x::pair).b FROM (VALUES ('(1,one)')) v(x)");
  CHECK(db.run("EXECUTE p") == "one SELECT 1");
  db.run(*other, "ALTER TYPE pair RENAME ATTRIBUTE b TO c");
  CHECK(db.run("EXECUTE p").starts_with("42703"));
  db.run(*other, "ALTER TYPE pair RENAME ATTRIBUTE c TO b; ALTER TYPE pair ADD ATTRIBUTE c int");
  CHECK(db.run("EXECUTE p").starts_with("22P02"));
}

#include <catch2/catch.hpp>
#include <memory>
#include <pqxx/pqxx>

#include "clients/testing/swizzled_process.h"

/// Tests of the catalogs from which clients learn about tables: pg_catalog, information_schema and
/// their functions.
namespace swizzle::clients {
namespace {

SwizzledProcess& server() {
  static SwizzledProcess process;
  return process;
}

/// Returns the rows as text: cells separated by |, rows by newlines; NULL is empty.
std::string rows_of(pqxx::connection& connection, const std::string& query) {
  std::string text;
  for (const auto& row : pqxx::nontransaction{connection}.exec(query)) {
    if (!text.empty()) text += '\n';
    for (pqxx::row::size_type i = 0; i < row.size(); ++i) {
      if (i > 0) text += '|';
      text += row[i].is_null() ? "" : row[i].c_str();
    }
  }
  return text;
}

std::string sqlstate_of(pqxx::connection& connection, const std::string& statement) {
  try {
    pqxx::nontransaction{connection}.exec(statement);
  } catch (const pqxx::insufficient_privilege&) {
    return "42501";  // libpqxx has an exception of its own for it, without the code
  } catch (const pqxx::sql_error& error) {
    return error.sqlstate();
  }
  return "none";
}

/// Returns a connection to a database with a parent and a child table, created once.
pqxx::connection& described() {
  static const std::unique_ptr<pqxx::connection> kConnection = [] {
    auto fresh = std::make_unique<pqxx::connection>(server().conninfo());
    pqxx::nontransaction{*fresh}.exec(
        "CREATE TABLE parent (id int PRIMARY KEY, name varchar(10) NOT NULL DEFAULT 'x');"
        "CREATE TABLE child (id int GENERATED ALWAYS AS IDENTITY, p int REFERENCES parent "
        "ON DELETE CASCADE, n int CHECK (n > 0 AND n < 10), PRIMARY KEY (id));"
        "CREATE INDEX child_lower ON child (p DESC, lower(n::text)) WHERE n > 3;"
        "COMMENT ON COLUMN child.n IS 'a number'");
    return fresh;
  }();
  return *kConnection;
}

}  // namespace

TEST_CASE("pg_class and pg_attribute know tables, indexes and themselves") {
  pqxx::connection& connection = described();
  CHECK(rows_of(connection,
                "SELECT relname, relkind FROM pg_class WHERE relname LIKE 'child%' OR relname = "
                "'pg_class' ORDER BY relname") ==
        "child|r\nchild_id_seq|S\nchild_lower|i\nchild_pkey|i\npg_class|r");
  CHECK(rows_of(connection,
                "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute "
                "WHERE attrelid = 'child_lower'::regclass ORDER BY attnum") ==
        "p|integer|f\nlower|text|f");
  CHECK(rows_of(connection,
                "SELECT count(*) FROM pg_attribute WHERE attrelid = 'pg_attribute'::regclass") ==
        "25");
}

TEST_CASE("a session finds its temporary tables by joining with their schema") {
  pqxx::connection connection{server().conninfo()};
  pqxx::nontransaction work{connection};
  work.exec("CREATE TEMP TABLE fleeting (k int)");
  const auto row = work.exec1(
      "SELECT n.nspname LIKE 'pg_temp_%', n.oid = pg_my_temp_schema() FROM pg_class c"
      " JOIN pg_namespace n ON n.oid = c.relnamespace"
      " WHERE c.relname = 'fleeting' AND c.relpersistence = 't' AND pg_table_is_visible(c.oid)");
  CHECK(row[0].as<bool>());
  CHECK(row[1].as<bool>());
}

TEST_CASE("expressions are shown plain and pretty") {
  pqxx::connection& connection = described();
  CHECK(rows_of(connection,
                "SELECT pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM "
                "pg_constraint WHERE conrelid = 'child'::regclass AND contype = 'c'") ==
        "CHECK (((n > 0) AND (n < 10)))|CHECK (n > 0 AND n < 10)");
  CHECK(rows_of(connection,
                "SELECT pg_get_expr(adbin, adrelid, true) FROM pg_attrdef WHERE adrelid = "
                "'parent'::regclass") == "'x'::character varying");
  CHECK(rows_of(connection, "SELECT pg_get_indexdef('child_lower'::regclass, 0, true)") ==
        "CREATE INDEX child_lower ON child USING btree (p DESC, lower(n::text)) WHERE n > 3");
}

TEST_CASE("pg_index counts from zero and names its operator classes") {
  pqxx::connection& connection = described();
  CHECK(rows_of(connection,
                "SELECT indkey, indkey[0], indoption, opcname FROM pg_index JOIN pg_opclass ON "
                "pg_opclass.oid = indclass[1] WHERE indexrelid = 'child_lower'::regclass") ==
        "2 0|2|3 0|text_ops");
}

TEST_CASE("information_schema joins keys to what they refer to") {
  pqxx::connection& connection = described();
  CHECK(rows_of(connection,
                "SELECT constraint_name, constraint_type FROM information_schema.table_constraints "
                "WHERE table_name = 'child' AND constraint_name LIKE 'child%' ORDER BY 1") ==
        "child_id_not_null|CHECK\nchild_n_check|CHECK\nchild_p_fkey|FOREIGN "
        "KEY\nchild_pkey|PRIMARY KEY");
  CHECK(rows_of(connection,
                "SELECT k.column_name, c.table_name, c.column_name, r.delete_rule FROM "
                "information_schema.referential_constraints r JOIN "
                "information_schema.key_column_usage k USING (constraint_name) JOIN "
                "information_schema.constraint_column_usage c USING (constraint_name)") ==
        "p|parent|id|CASCADE");
  CHECK(rows_of(connection,
                "SELECT column_name FROM information_schema.columns WHERE table_name = "
                "'parent' ORDER BY ordinal_position") == "id\nname");
}

// pg_dumpall dumps it like any other database.
TEST_CASE("template1 is a database with schemas") {
  pqxx::connection connection{server().conninfo("dbname=template1")};
  CHECK(rows_of(connection, "SELECT nspname FROM pg_namespace ORDER BY 1") ==
        "information_schema\npg_catalog\npublic");
  CHECK(rows_of(connection, "SELECT count(*) > 0 FROM pg_catalog.pg_roles") == "t");
  rows_of(connection, "CREATE TABLE left_behind(id int PRIMARY KEY)");
  CHECK(sqlstate_of(connection, "CREATE DATABASE of_more_than_nothing") == "0A000");
  rows_of(connection, "DROP TABLE left_behind");
  rows_of(connection, "CREATE DATABASE of_nothing");
  rows_of(connection, "DROP DATABASE of_nothing");
}

TEST_CASE("every column that PostgreSQL has can be asked for") {
  pqxx::connection& connection = described();
  CHECK(rows_of(connection, "SELECT rolvaliduntil FROM pg_roles WHERE rolname = 'nobody'").empty());
  CHECK(rows_of(connection,
                "SELECT typinput = 'array_in'::regproc FROM pg_type WHERE typname = "
                "'_int4'") == "t");
  CHECK(rows_of(connection, "SELECT count(*) FROM pg_policy") == "0");
  CHECK(rows_of(connection, "SELECT boot_val FROM pg_settings WHERE name = 'work_mem'") == "4096");
}

TEST_CASE("system relations are neither dropped nor changed") {
  pqxx::connection& connection = described();
  CHECK(sqlstate_of(connection, "DROP VIEW pg_user") == "42501");
  CHECK(sqlstate_of(connection, "DROP TABLE pg_class") == "42501");
}

}  // namespace swizzle::clients

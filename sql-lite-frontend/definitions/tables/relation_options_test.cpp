#include "sql-lite-frontend/definitions/tables/relation_options.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;

namespace {

/// Options of a table's definition, whose text they live as long as.
struct Options {
  explicit Options(const std::string& options)
      : statements(parse_script(arena, "CREATE TABLE t () WITH (" + options + ")")) {}
  ast::NodeList list() { return ast::as<ast::CreateStmt>(statements[0]->stmt).options; }

  Arena arena;
  ast::Items<ast::RawStmt> statements;
};

std::string stored(const std::string& options, OptionsOf what = OptionsOf::anything) {
  Options given(options);
  try {
    std::string all;
    for (const std::string& one : storage_options(given.list(), what)) all += one + ";";
    return all;
  } catch (const SqlError& error) {
    return std::string{error.state().code()} + " " + error.what();
  }
}

std::string view_stored(const std::string& options) {
  Options given(options);
  try {
    std::string all;
    for (const std::string& one : view_options(given.list())) all += one + ";";
    return all;
  } catch (const SqlError& error) {
    return std::string{error.state().code()} + " " + error.what();
  }
}

}  // namespace

TEST_CASE("Storage parameters are kept as written, and unknown ones are errors",
          "[sql][definitions]") {
  CHECK(stored("fillfactor = 70") == "fillfactor=70;");
  CHECK(stored("autovacuum_enabled = off, parallel_workers = 2") ==
        "autovacuum_enabled=off;parallel_workers=2;");
  CHECK(stored("autovacuum_enabled") == "autovacuum_enabled=true;");
  CHECK(stored("colour = red") == "22023 unrecognized parameter \"colour\"");
  CHECK(stored("fillfactor = 9") == "22023 value 9 out of bounds for option \"fillfactor\"");
  CHECK(stored("fillfactor = 101") == "22023 value 101 out of bounds for option \"fillfactor\"");
}

TEST_CASE("OIDS is taken of a new table alone, and only if it says no", "[sql][definitions]") {
  CHECK(stored("oids = false", OptionsOf::new_table).empty());
  CHECK(stored("oids = true", OptionsOf::new_table) ==
        "0A000 tables declared WITH OIDS are not supported");
  CHECK(stored("oids = false") == "22023 unrecognized parameter \"oids\"");
}

TEST_CASE("A view's options have values of their own kind", "[sql][definitions]") {
  CHECK(view_stored("security_barrier, check_option = local") ==
        "security_barrier=true;check_option=local;");
  CHECK(view_stored("security_invoker = 1") == "security_invoker=1;");
  CHECK(view_stored("check_option = none") ==
        "22023 invalid value for enum option \"check_option\": none");
  CHECK(view_stored("security_barrier = perhaps") ==
        "22023 invalid value for boolean option \"security_barrier\": perhaps");
  CHECK(view_stored("fillfactor = 70") == "22023 unrecognized parameter \"fillfactor\"");
}

TEST_CASE("SET replaces options by name, and RESET removes them", "[sql][definitions]") {
  std::vector<std::string> options{"fillfactor=70", "autovacuum_enabled=off"};
  set_options(options, {"fillfactor=80", "parallel_workers=1"});
  // A replaced option moves behind those that stay, as in PostgreSQL.
  CHECK(options ==
        std::vector<std::string>{"autovacuum_enabled=off", "fillfactor=80", "parallel_workers=1"});
  Options names("fillfactor, toast_tuple_target");
  reset_options(options, names.list());
  CHECK(options == std::vector<std::string>{"autovacuum_enabled=off", "parallel_workers=1"});
}

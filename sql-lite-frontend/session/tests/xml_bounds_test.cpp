#include <catch2/catch.hpp>
#include <string>

#include "sql-lite-frontend/session/tests/test_database.h"

/// Small documents and paths that would need much memory or time.
namespace swizzle::sql {
namespace {

std::string entities(int levels) {
  std::string text = "<!DOCTYPE a [<!ENTITY e0 \"ha\">";
  for (int level = 1; level <= levels; ++level) {
    text += "<!ENTITY e" + std::to_string(level) + " \"";
    for (int i = 0; i < 10; ++i) text += "&e" + std::to_string(level - 1) + ";";
    text += "\">";
  }
  return text + "]><a>&e" + std::to_string(levels) + ";</a>";
}

}  // namespace

TEST_CASE("xml that unfolds is refused, and so is a path of very many steps", "[sql][xml]") {
  TestDatabase db;
  CHECK(db.run("SELECT xmlparse(document '<!DOCTYPE a><a/>') IS DOCUMENT") == "t SELECT 1");
  const std::string unfolded =
      db.run("SELECT xmlparse(document '" + entities(9) + "') IS DOCUMENT");
  INFO(unfolded);
  CHECK((unfolded.starts_with("2200M ") || unfolded.starts_with("53200 ")));
  CHECK(db.run("SELECT xml_is_well_formed('<!DOCTYPE a [<!ENTITY f SYSTEM "
               "\"file:///etc/passwd\">]><a>&f;</a>'), "
               "(SELECT xpath('string(/a)', '<!DOCTYPE a [<!ENTITY f SYSTEM "
               "\"file:///etc/passwd\">]><a>&f;</a>')::text) LIKE '%root%'") == "t|f SELECT 1");
  CHECK(db.run("SELECT xpath('count(//*[count(//*[count(//*) > 0]) > 0])', "
               "xmlelement(name a, (SELECT xmlagg(xmlelement(name b)) FROM "
               "generate_series(1, 3000))))") == "54001 an XPath expression takes too many steps");
  CHECK(db.run("SELECT xml_is_well_formed(repeat('<a>', 1000000))") == "f SELECT 1");
  CHECK(db.run("SELECT xpath('1', '<a/>')") == "{1} SELECT 1");
}

}  // namespace swizzle::sql

#include "clients/swizzle/text_table.h"

#include <catch2/catch.hpp>

namespace swizzle::clients {

TEST_CASE("a table's columns are as wide as their widest cell, in letters") {
  TextTable table{{"n", "name"}};
  table.align(0, TextTable::Align::right);
  table.add({"1", "é"});
  table.add({"100", std::nullopt});
  CHECK(table.print() ==
        "n   | name\n"
        "----+-----\n"
        "  1 | é\n"
        "100 |\n");
}

}  // namespace swizzle::clients

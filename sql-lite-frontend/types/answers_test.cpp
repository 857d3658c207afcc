#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <string>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/test_expression.h"

namespace swizzle::sql {
namespace {

/// Runs a file of questions and PostgreSQL's answers (see testdata/answer).
void check_file(const std::string& name) {
  std::ifstream file{std::string{SWIZZLE_TYPES_TESTDATA} + "/" + name};
  REQUIRE(file);
  Arena arena;
  SessionContext session;
  FunctionContext context{arena, session, {}};
  session.transaction_timestamp = read_timestamp(context, "2024-02-29 12:34:56.789");
  session.statement_timestamp = session.transaction_timestamp;
  session.format.time_zone = TimeZone::find("Europe/Berlin");
  std::string line;
  std::size_t number = 0;
  std::string differences;
  std::size_t count = 0;
  while (std::getline(file, line)) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    const std::string question = line.substr(0, tab);
    const std::string expected = line.substr(tab + 1);
    std::string answer;
    if (question.starts_with("SET ")) {
      answer = answer_set(context, question.substr(4));
    } else if (question.starts_with("AGGREGATE ")) {
      // AGGREGATE name|element type|array
      const std::size_t first = question.find('|');
      const std::size_t second = question.find('|', first + 1);
      answer = answer_aggregate(context, question.substr(10, first - 10),
                                question.substr(first + 1, second - first - 1),
                                question.substr(second + 1));
    } else {
      answer = answer_expression(context, question);
    }
    arena.reset();
    ++count;
    if (answer != expected)
      differences += name + ":" + std::to_string(number) + ": " + question +
                     "\n   PostgreSQL: " + expected + "\n   here:       " + answer + "\n";
  }
  CHECK(count > 0);
  std::cout << differences;  // Catch2 would wrap the lines
  CHECK(differences.empty());
}

}  // namespace

TEST_CASE("text forms agree with PostgreSQL", "[types]") {
  check_file("text_forms.txt");
}
TEST_CASE("dates and times agree with PostgreSQL", "[types]") {
  check_file("dates.txt");
}
TEST_CASE("numbers agree with PostgreSQL", "[types]") {
  check_file("numbers.txt");
}
TEST_CASE("strings agree with PostgreSQL", "[types]") {
  check_file("strings.txt");
}
TEST_CASE("JSON agrees with PostgreSQL", "[types]") {
  check_file("json.txt");
}

TEST_CASE("network addresses agree with PostgreSQL", "[types]") {
  check_file("network.txt");
}
TEST_CASE("positions in the log agree with PostgreSQL", "[types]") {
  check_file("lsn.txt");
}
TEST_CASE("arrays agree with PostgreSQL", "[types]") {
  check_file("arrays.txt");
}
TEST_CASE("formatting agrees with PostgreSQL", "[types]") {
  check_file("formatting.txt");
}
TEST_CASE("casts and resolution agree with PostgreSQL", "[types]") {
  check_file("resolution.txt");
}
TEST_CASE("generated expressions agree with PostgreSQL", "[types]") {
  for (const char* name : {"generated_numbers.txt", "generated_dates.txt", "generated_strings.txt",
                           "generated_mixed.txt"})
    check_file(name);
}
TEST_CASE("regular expressions agree with PostgreSQL", "[types]") {
  for (const char* name : {"regexes.txt", "generated_regexes.txt"}) check_file(name);
}
TEST_CASE("normal forms agree with PostgreSQL", "[types]") {
  check_file("normal_forms.txt");
}
TEST_CASE("what exceeds every limit is refused or cut, not computed beyond it", "[types]") {
  Arena arena;
  SessionContext session;
  session.format.time_zone = TimeZone::find("Europe/Berlin");
  FunctionContext context{arena, session, {}};
  // A template may ask for more decimals than the number has.
  CHECK(answer_expression(context, "length(to_char(1.5, ('FM9.' || repeat('9', 20000))))") ==
        "integer\t3");
  CHECK(answer_expression(context, "to_timestamp('999999999', 'YYYY')") ==
        "!22008 timestamp out of range");
  CHECK(answer_expression(context, "array_fill(1, array[2], array[2147483647])") ==
        "!54000 array lower bound is too large: 2147483647");
}
TEST_CASE("functions newer than 15 agree with PostgreSQL 18", "[types]") {
  check_file("since_15.txt");
}
TEST_CASE("aggregates agree with PostgreSQL", "[types]") {
  check_file("aggregates.txt");
}

}  // namespace swizzle::sql

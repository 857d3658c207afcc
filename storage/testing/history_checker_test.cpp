// Tests the checker itself: a small history for each anomaly, and correct histories without a
// finding.
#include "storage/testing/history_checker.h"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace swizzle::testing {
namespace {

/// Returns the names of the anomalies found, joined by spaces.
std::string anomalies(std::string_view text) {
  std::string names;
  for (const Finding& finding : check(from_text(text))) {
    if (!names.empty()) names += ' ';
    names += name(finding.anomaly);
  }
  return names;
}

}  // namespace

TEST_CASE("a history without fault", "[storage][checker]") {
  CHECK(anomalies("c +1:1 +2:2\n"
                  "c 1=1 +1:3 1=1,3\n"
                  "a +1:9\n"
                  "c 1..5{1=1,3;2=2;}\n"
                  "c 1=1,3 2=2\n")
            .empty());
}

TEST_CASE("what nobody can have read", "[storage][checker]") {
  CHECK(anomalies("c +1:1\nc 1=7\nc 1=1\n").starts_with("wrong read"));
  CHECK(anomalies("c +1:1\nc +1:2\nc 1=2,1\nc 1=1,2\n").starts_with("wrong read"));
  CHECK(anomalies("c +1:1 1!\nc 1=1\n") == "wrong read");
  CHECK(anomalies("c +1:1\nc +1:2\nc 1=2\n") == "lost append");
}

TEST_CASE("each anomaly is found in its example", "[storage][checker]") {
  // Two writers of two keys, in opposite orders.
  CHECK(anomalies("c +1:1 +2:2\nc +1:3 +2:4\nc 1=1,3 2=4,2\n") == "G0");
  CHECK(anomalies("a +1:1\nc 1=1\nc 1=\n").find("G1a") != std::string::npos);
  CHECK(anomalies("c +1:1 +1:2\nc 1=1\nc 1=1,2\n").find("G1b") != std::string::npos);
  // Each reads the other's write.
  CHECK(anomalies("c +1:1 2=2\nc +2:2 1=1\nc 1=1 2=2\n") == "G1c");
  // A read between the two writes of one transaction.
  CHECK(anomalies("c +1:1 +2:2\nc +1:3 +2:4\nc 1=1,3 2=2\nc 1=1,3 2=2,4\n") == "G-single G2-item");
  // Write skew.
  CHECK(anomalies("c +1:1 +2:2\nc 2=2 +1:3\nc 1=1 +2:4\nc 1=1,3 2=2,4\n") == "G2-item");
  CHECK(anomalies("c 2! +1:3\nc 1! +2:4\nc 1=3 2=4\n") == "G2");
  CHECK(anomalies("c 1..9{} +1:3\nc 1..9{} +2:4\nc 1=3 2=4\n") == "G2");
}

TEST_CASE("who was told nothing is judged by what others saw", "[storage][checker]") {
  CHECK(anomalies("? +1:1\nc 1=1\n").empty());
  CHECK(anomalies("? +1:1\nc 1!\n").empty());
  CHECK(anomalies("? +1:1 +2:2\nc 1=1 2!\n") == "lost append");
}

TEST_CASE("histories go through text and back", "[storage][checker]") {
  const std::string text = "c +1:1 2! 3=4,5 3= 1..9{1=1;2=;}\na\n? -1=2\n";
  CHECK(to_text(from_text(text)) == text);
  CHECK_THROWS_AS(from_text("c 1=1\nc 1~2\n"), std::runtime_error);
}

}  // namespace swizzle::testing

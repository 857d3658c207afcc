#include "sql-lite-frontend/types/text/phonetics.h"

#include <catch2/catch.hpp>

namespace swizzle::sql {
namespace {

TEST_CASE("words have codes of their sound", "[sql][types]") {
  CHECK(soundex("Ashcraft") == "A226");
  CHECK(soundex("12") == "");
  CHECK(metaphone("Knightsbridge", 20) == "NFTSBRJ");
  CHECK(metaphone("Knightsbridge", 3) == "NFT");
  CHECK(double_metaphone("Schmidt").primary == "XMT");
  CHECK(double_metaphone("Schmidt").secondary == "SMT");
  CHECK(double_metaphone("").primary == "");
}

TEST_CASE("a letter with two sounds gives two codes, also for the one before it", "[sql][types]") {
  CHECK(daitch_mokotoff("Peters") == std::vector<std::string>{"739400", "734000"});
  // J as a vowel: EI before one. J as a consonant: EI is silent.
  CHECK(daitch_mokotoff("Leij") == std::vector<std::string>{"810000", "840000"});
  CHECK(daitch_mokotoff("-").empty());
}

}  // namespace
}  // namespace swizzle::sql

#include "sql-lite-frontend/types/statement_invariant.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle;
using namespace swizzle::sql;
using Catch::Contains;
using Catch::StartsWith;

namespace {

struct Thing {
  int number = 7;
};

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const SqlError& error) {
    return std::string{error.state().code()} + " " + error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("A violated invariant of a statement is an error with its place", "[sql][types]") {
  CHECK(error_of([] { STATEMENT_INVARIANT(1 + 1 == 2); }).empty());
  CHECK_THAT(error_of([] { STATEMENT_INVARIANT(1 + 1 == 3); }),
             StartsWith("XX000 invariant violated at "
                        "sql-lite-frontend/types/statement_invariant_test.cpp:") &&
                 Contains(": 1 + 1 == 3"));
}

TEST_CASE("A pointer that holds nothing is an error where it is followed", "[sql][types]") {
  constexpr auto kMissing = "XX000 a Thing is missing, at address 0x";
  Thing thing;
  CheckedUnique<Thing> unique = std::make_unique<Thing>();
  CheckedShared<const Thing> shared = std::make_shared<Thing>();
  CheckedPointer<Thing> plain = &thing;
  CHECK(unique->number + shared->number + plain->number + (*plain).number == 28);
  unique = nullptr;
  shared = nullptr;
  plain = nullptr;
  CHECK_THAT(error_of([&] { unique->number = 1; }), StartsWith(kMissing));
  CHECK_THAT(error_of([&] { static_cast<void>((*unique).number); }), StartsWith(kMissing));
  CHECK_THAT(error_of([&] { static_cast<void>(shared->number); }), StartsWith(kMissing));
  CHECK_THAT(error_of([&] { plain->number = 1; }), StartsWith(kMissing));
}

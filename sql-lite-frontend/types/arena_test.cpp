#include "sql-lite-frontend/types/arena.h"

#include <catch2/catch.hpp>

namespace swizzle::sql {

TEST_CASE("What takes no bytes has an address all the same", "[types][arena]") {
  Arena arena;
  CHECK(arena.allocate(0) != nullptr);
  CHECK(arena.copy(std::string_view{}).data() != nullptr);
  CHECK(arena.allocate_array<int>(0) != nullptr);
  const Arena::Mark mark = arena.mark();
  CHECK(arena.copy("text") == "text");
  arena.rewind(mark);
  CHECK(arena.allocate(0, 16) != nullptr);
  arena.reset();
  CHECK(arena.allocate(0) != nullptr);
}

}  // namespace swizzle::sql

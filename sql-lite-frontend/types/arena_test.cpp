#include "sql-lite-frontend/types/arena.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/types/sql_error.h"

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

TEST_CASE("An arena counts what it holds, and gives it back", "[types][arena]") {
  MemoryTotal total;
  {
    MemoryAccount account{total};
    account.set_limit(std::size_t{8} << 20U);
    Arena arena;
    arena.count_in(&account);
    CHECK(account.used_bytes() == 0);
    arena.allocate(100);
    CHECK(account.used_bytes() == arena.reserved_bytes());
    CHECK(total.used_bytes() == 0);
    // Memory of earlier rows does not accumulate, however their values grow.
    for (std::size_t row = 1; row <= 100; ++row) {
      const Arena::Mark mark = arena.mark();
      arena.allocate(row * 50'000);
      arena.allocate(100);
      arena.rewind(mark);
      REQUIRE(account.used_bytes() == arena.reserved_bytes());
    }
    CHECK(total.used_bytes() >= 5'000'000);
    CHECK_THROWS_AS(arena.allocate(std::size_t{8} << 20U), SqlError);
    CHECK(account.used_bytes() == arena.reserved_bytes());
    Arena other = std::move(arena);
    CHECK(arena.reserved_bytes() == 0);
    CHECK(account.used_bytes() == other.reserved_bytes());
    other.release();
    CHECK(account.used_bytes() == 0);
    CHECK(total.used_bytes() < 1'000'000);
  }
  CHECK(total.used_bytes() == 0);
}

TEST_CASE("Who asks for more than the total has is refused, others are not", "[types][arena]") {
  MemoryTotal total;
  total.set_limit(std::size_t{1} << 20U);
  MemoryAccount greedy{total};
  MemoryAccount modest{total};
  greedy.take(900'000);
  CHECK_THROWS_AS(modest.take(500'000), SqlError);
  CHECK(modest.used_bytes() == 0);
  modest.take(MemoryAccount::kFreeBytes);
  greedy.give_back(900'000);
  modest.take(500'000);
  CHECK(modest.used_bytes() == 500'000 + MemoryAccount::kFreeBytes);
  modest.give_back(modest.used_bytes());
  {
    CountedVector<int> list{CountedAllocator<int>{&modest}};
    list.resize(100'000);
    CHECK(modest.used_bytes() == 100'000 * sizeof(int));
    CHECK_THROWS_AS(list.resize(300'000), SqlError);
    CHECK(modest.used_bytes() == 100'000 * sizeof(int));
    const CountedVector<int> moved = std::move(list);
    CHECK(modest.used_bytes() == 100'000 * sizeof(int));
  }
  CHECK(modest.used_bytes() == 0);
}

}  // namespace swizzle::sql

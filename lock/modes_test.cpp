#include "lock/modes.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "lock/internal/mode_code.h"
#include "lock/relation_modes.h"

namespace swizzle::lock {
namespace {

std::vector<TableMode> table_modes() {
  std::vector<TableMode> modes;
  for (std::uint8_t i = 0; i < kTableModes; ++i) modes.push_back(TableMode{i});
  return modes;
}

std::vector<KeyMode> key_modes() {
  std::vector<KeyMode> modes;
  for (std::uint8_t key = 0; key < kAccesses; ++key) {
    for (std::uint8_t gap = 0; gap < kAccesses; ++gap) {
      modes.push_back({Access{key}, Access{gap}});
    }
  }
  return modes;
}

template <class Mode>
void check_lattice(const std::vector<Mode>& modes) {
  for (const Mode a : modes) {
    CHECK(combine(a, a) == a);
    CHECK(implies(a, Mode{}));
    CHECK(compatible(a, Mode{}));
    for (const Mode b : modes) {
      CHECK(combine(a, b) == combine(b, a));
      CHECK(implies(combine(a, b), a));
      CHECK(implies(a, b) == (combine(a, b) == a));
      CHECK(compatible(a, b) == compatible(b, a));
      for (const Mode c : modes) {
        CHECK(combine(combine(a, b), c) == combine(a, combine(b, c)));
        // A stronger lock excludes at least as much as a weaker one; a combination excludes exactly
        // as much as its parts.
        CHECK(compatible(combine(a, b), c) == (compatible(a, c) && compatible(b, c)));
        if (implies(a, c) && implies(b, c)) CHECK(implies(combine(a, b), c));
        if (implies(c, a) && implies(c, b)) CHECK(implies(c, combine(a, b)));
      }
    }
  }
}

}  // namespace

TEST_CASE("P5 modes of tables form a lattice", "[lock]") {
  check_lattice(table_modes());
}
TEST_CASE("P5 modes of keys form a lattice", "[lock]") {
  check_lattice(key_modes());
}

TEST_CASE("P5 compatibility of tables is the textbook's", "[lock]") {
  // Rows and columns: N IS IX S SIX X.
  constexpr std::array<std::array<int, kTableModes>, kTableModes> expected{{
      {1, 1, 1, 1, 1, 1},
      {1, 1, 1, 1, 1, 0},
      {1, 1, 1, 0, 0, 0},
      {1, 1, 0, 1, 0, 0},
      {1, 1, 0, 0, 0, 0},
      {1, 0, 0, 0, 0, 0},
  }};
  for (std::uint8_t a = 0; a < kTableModes; ++a) {
    for (std::uint8_t b = 0; b < kTableModes; ++b) {
      CHECK(compatible(TableMode{a}, TableMode{b}) == (expected[a][b] == 1));
    }
  }
  CHECK(combine(TableMode::shared, TableMode::intent_exclusive) ==
        TableMode::shared_intent_exclusive);
  CHECK(combine(TableMode::shared_intent_exclusive, TableMode::exclusive) == TableMode::exclusive);
}

TEST_CASE("P5 key and gap are independent", "[lock]") {
  for (const KeyMode a : key_modes()) {
    for (const KeyMode b : key_modes()) {
      CHECK(compatible(a, b) == (compatible(a.key, b.key) && compatible(a.gap, b.gap)));
      CHECK(implies(a, b) == (a.key >= b.key && a.gap >= b.gap));
    }
  }
  CHECK(compatible(kWriteKey, kReadGap));
  CHECK_FALSE(compatible(kReadGap, kInsertIntoGap));
}

// PostgreSQL 15's table of conflicts ("Row-Level Locks"): FOR KEY SHARE, FOR SHARE, FOR NO KEY
// UPDATE, FOR UPDATE, weakest first.
TEST_CASE("P5 locks on keys exclude each other as PostgreSQL's on rows do", "[lock]") {
  // Rows and columns: N KS S CX X.
  constexpr std::array<std::array<int, kAccesses>, kAccesses> expected{{
      {1, 1, 1, 1, 1},
      {1, 1, 1, 1, 0},
      {1, 1, 1, 0, 0},
      {1, 1, 0, 0, 0},
      {1, 0, 0, 0, 0},
  }};
  for (std::uint8_t a = 0; a < kAccesses; ++a) {
    for (std::uint8_t b = 0; b < kAccesses; ++b) {
      INFO(name(Access{a}) << " against " << name(Access{b}));
      CHECK(compatible(Access{a}, Access{b}) == (expected[a][b] == 1));
    }
  }
}

TEST_CASE("P5 combining k requests loses none, for k = 1, 8, 13, 127", "[lock]") {
  std::minstd_rand random{20261120};
  const std::vector<KeyMode> modes = key_modes();
  for (const int k : {1, 8, 13, 127}) {
    for (int round = 0; round < 200; ++round) {
      KeyMode all;
      ModeCode all_codes = ModeCode::none;
      std::vector<KeyMode> requests;
      for (int i = 0; i < k; ++i) {
        // Use mostly equal ones too, so that a combination in which equals cancel out is found.
        const std::size_t which = round % 2 == 0 ? random() : static_cast<std::size_t>(round);
        requests.push_back(modes[1 + which % (modes.size() - 1)]);
        all = combine(all, requests.back());
        all_codes = combine(all_codes, code(requests.back()));
      }
      CHECK(std::ranges::all_of(requests, [&](KeyMode mode) { return implies(all, mode); }));
      CHECK(all_codes == code(all));
    }
  }
}

TEST_CASE("codes of modes say what the modes say", "[lock]") {
  for (const KeyMode a : key_modes()) {
    CHECK(key_mode(code(a)) == a);
    CHECK_FALSE(is_strong(code(a)));
    CHECK(may_write(code(a)) == (std::max(a.key, a.gap) >= Access::content_exclusive));
    for (const KeyMode b : key_modes()) {
      CHECK(conflict(code(a), code(b)) == !compatible(a, b));
      CHECK(combine(code(a), code(b)) == code(combine(a, b)));
      CHECK(implies(code(a), code(b)) == implies(a, b));
    }
  }
  for (const TableMode a : table_modes()) {
    CHECK(table_mode(code(a)) == a);
    CHECK(is_strong(code(a)) == (a >= TableMode::shared));
    for (const TableMode b : table_modes()) {
      CHECK(conflict(code(a), code(b)) == !compatible(a, b));
      CHECK(combine(code(a), code(b)) == code(combine(a, b)));
      CHECK(implies(code(a), code(b)) == implies(a, b));
    }
  }
}

TEST_CASE("a table lock covers what it says", "[lock]") {
  for (const KeyMode key : key_modes()) {
    CHECK(covers(TableMode::exclusive, key));
    CHECK(covers(TableMode::shared, key) == implies(kReadKeyAndGap, key));
    CHECK(covers(TableMode::shared_intent_exclusive, key) == implies(kReadKeyAndGap, key));
    CHECK(covers(TableMode::intent_exclusive, key) == (key == KeyMode{}));
  }
}

// PostgreSQL 15's table of conflicts ("Explicit Locking"), one row per mode, weakest first.
TEST_CASE("P5 locks on relations exclude each other as PostgreSQL's do", "[lock]") {
  constexpr std::array<std::string_view, kRelationModes> conflicts{
      ".......X", "......XX", "....XXXX", "...XXXXX",
      "..XX.XXX", "..XXXXXX", ".XXXXXXX", "XXXXXXXX"};
  for (std::size_t a = 0; a < kRelationModes; ++a) {
    for (std::size_t b = 0; b < kRelationModes; ++b) {
      const RelationMode one{static_cast<std::uint8_t>(a + 1)};
      const RelationMode other{static_cast<std::uint8_t>(b + 1)};
      INFO(name(one) << " and " << name(other));
      CHECK(compatible(one, other) == (conflicts[a][b] == '.'));
    }
    // Every mode is recognised by the lock that no weaker one takes.
    const RelationMode mode{static_cast<std::uint8_t>(a + 1)};
    const RelationParts parts = parts_of(mode);
    CHECK((relation_mode_of_content(parts.content) == mode ||
           relation_mode_of_rows(parts.rows) == mode));
  }
}

// An owner that holds two modes excludes exactly what each of them excludes.
TEST_CASE("P5 two modes on a relation held together are their union", "[lock]") {
  const auto each = [](auto body) {
    for (std::uint8_t raw = 1; raw <= kRelationModes; ++raw) body(RelationMode{raw});
  };
  each([&](RelationMode a) {
    each([&](RelationMode b) {
      const RelationParts both{combine(parts_of(a).content, parts_of(b).content),
                               combine(parts_of(a).rows, parts_of(b).rows)};
      each([&](RelationMode other) {
        const bool fits = compatible(both.content, parts_of(other).content) &&
                          compatible(both.rows, parts_of(other).rows);
        INFO(name(a) << " with " << name(b) << " against " << name(other));
        CHECK(fits == (compatible(a, other) && compatible(b, other)));
      });
    });
  });
}

}  // namespace swizzle::lock

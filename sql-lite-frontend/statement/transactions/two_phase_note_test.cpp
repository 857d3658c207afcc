#include "sql-lite-frontend/statement/transactions/two_phase_note.h"

#include <catch2/catch.hpp>

#include "base/random.h"

namespace swizzle::sql {

TEST_CASE("What is kept of a prepared transaction reads back as it was written",
          "[sql][two-phase]") {
  PreparedNote note;
  note.owner = 16'384;
  note.database = 5;
  note.has_definitions = true;
  note.left_by_commit = {20'000};
  note.left_by_rollback = {20'001, 20'002};
  note.locks = {{{5, 0x1234'5678'9ABC'DEF0, false}, AdvisoryMode::exclusive},
                {{5, 7, true}, AdvisoryMode::shared}};
  note.number = 1'795'786'836'659'839;
  const std::vector<std::byte> bytes = encode(note);
  const auto read = decode_note(bytes);
  REQUIRE(read);
  CHECK(read->owner == note.owner);
  CHECK(read->database == note.database);
  CHECK(read->has_definitions);
  CHECK(read->left_by_commit == note.left_by_commit);
  CHECK(read->left_by_rollback == note.left_by_rollback);
  CHECK(read->number == note.number);
  REQUIRE(read->locks.size() == 2);
  CHECK(read->locks[0].key == note.locks[0].key);
  CHECK(read->locks[0].mode == AdvisoryMode::exclusive);
  CHECK(read->locks[1].key == note.locks[1].key);
  CHECK(read->locks[1].mode == AdvisoryMode::shared);
  // The bytes come from a disk: none may be trusted.
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(decode_note(Bytes{bytes}.first(size)));
  }
  Random random{7};
  for (int i = 0; i < 10'000; ++i) {
    std::vector<std::byte> damaged = bytes;
    damaged[random.below(damaged.size())] = std::byte{static_cast<std::uint8_t>(random.below(256))};
    static_cast<void>(decode_note(damaged));
  }
}

}  // namespace swizzle::sql

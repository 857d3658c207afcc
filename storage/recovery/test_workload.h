#pragma once

#include <catch2/catch.hpp>
#include <map>

#include "storage/recovery/test_engine.h"

namespace swizzle::test {

/// Expected contents: everything of committed transactions, and all or nothing of the transaction
/// whose commit was in progress.
struct Oracle {
  Content committed;
  std::optional<Content> in_doubt;
  /// Contents at the end of each commit record.
  std::map<Lsn, Content> history;
  // Work of the restarts, so that a test can check that it had any.
  std::uint64_t changes_redone = 0;
  std::uint64_t losers_undone = 0;
  std::uint64_t pages_repaired = 0;

  [[nodiscard]] bool allows(const Content& found) const {
    return found == committed || (in_doubt && found == *in_doubt);
  }
};

inline std::string random_key(Random& random) {
  std::string key = "key/" + std::to_string(random.below(400));
  if (random.one_in(10)) key += std::string(random.below(200), 'k');
  return key;
}

inline std::string random_value(Random& random) {
  const std::uint64_t length = random.one_in(8) ? random.below(900) : random.below(80);
  std::string value(length, static_cast<char>('a' + random.below(26)));
  // Updates that change only a part of the value.
  for (std::uint64_t i = 0; i < length / 40; ++i)
    value[random.below(length)] = static_cast<char>('A' + random.below(26));
  return value;
}

inline void run_transaction(TestEngine& engine, Random& random, Oracle& oracle) {
  using Action = LeafChange::Action;
  Content after = oracle.committed;
  engine.begin();
  for (std::uint64_t i = random.between(1, 8); i > 0; --i) {
    const std::string key = random_key(random);
    const std::string value = random_value(random);
    switch (random.below(4)) {
      case 0:
      case 1:
        if (engine.apply(Action::insert, key, value)) after[key] = value;
        break;
      case 2:
        if (engine.apply(Action::update, key, value)) after[key] = value;
        break;
      default:
        if (engine.apply(Action::remove, key)) after.erase(key);
    }
  }
  // Flushes now and then, so that a crash leaves losers.
  if (random.one_in(5)) engine.log->flush_to(engine.log->tail());
  if (random.one_in(5)) {
    engine.rollback();
    return;
  }
  oracle.in_doubt = after;
  const Lsn end = engine.commit();
  if (end != Lsn::none) oracle.history.emplace(end, after);
  oracle.committed = std::move(after);
  oracle.in_doubt.reset();
  // Removes ghosts; underfull nodes are merged or rebalanced with their neighbours.
  for (std::uint64_t i = random.below(4); i > 0; --i)
    REQUIRE(engine.tree->tidy(as_bytes(random_key(random))));
}

inline void require_whole(TestEngine& engine, const Oracle& oracle) {
  const Content found = engine.content();
  REQUIRE(oracle.allows(found));
  REQUIRE(engine.tree->verify().value() == std::vector<std::string>{});
  // S1: no page is leaked, none is used without being allocated.
  const std::vector<PageId> pages = engine.tree->pages().value();
  REQUIRE(engine.space->allocated_pages() == pages.size());
  for (const PageId page : pages) REQUIRE(engine.space->is_allocated(page));
}

}  // namespace swizzle::test
